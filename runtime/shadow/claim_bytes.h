/* SPDX-License-Identifier: Apache-2.0 */
/* How an access changes the words of a cell. */
#ifndef TMS_RUNTIME_CLAIM_BYTES_H
#define TMS_RUNTIME_CLAIM_BYTES_H

#include "runtime/shadow/access.h"

/* The access takes its bytes from the words of the locked cell, and gets a word of its own. */
void tms_rt_claim(struct tms_rt_thread *thread, struct tms_rt_unpacked *cell,
                  struct tms_rt_word_access *access, uint64_t event);

/* A race was seen here: from now on no access to the cell is filtered by epoch. */
void tms_rt_mark_raced(struct tms_rt_unpacked *cell, struct tms_rt_word_access *access);

#endif
