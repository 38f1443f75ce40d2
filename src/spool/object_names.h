/* SPDX-License-Identifier: Apache-2.0 */
/* Names for locks, variables and threads in the findings of a running program, by address. */
#ifndef TMS_SPOOL_OBJECT_NAMES_H
#define TMS_SPOOL_OBJECT_NAMES_H

#include "spool/spool_names.h"

/*
 * The style of a name: for people, with the number of a heap block and the line where a lock was
 * declared; as in recordings, without that line; or as an alias without either, which is the same
 * in every run.
 */
enum tms_name_style { TMS_NAME_FOR_PEOPLE, TMS_NAME_AS_RECORDED, TMS_NAME_AS_ALIAS };

/*
 * "account.balance", "m (bank.c:9)", "heap:…", "stack:worker#2+120", "memory+0x7f…": what was at
 * the address when the record of that sequence number was written. 0 if out of memory, and `failed`
 * of the names is set.
 */
uint32_t tms_spool_name_near(struct tms_spool_names *names, uint32_t sequence, enum tms_class cls,
                             uint64_t address, enum tms_name_style style);

#endif
