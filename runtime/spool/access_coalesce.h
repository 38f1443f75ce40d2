/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded accesses, with neighbouring ones coalesced (access_coalesce.c). */
#ifndef TMS_RUNTIME_ACCESS_COALESCE_H
#define TMS_RUNTIME_ACCESS_COALESCE_H

#include "runtime/core/thread.h"

/* Records an access that is not redundant, coalesced with an earlier one if possible. */
void tms_rt_spool_access(struct tms_rt_thread *thread, struct tms_spool_event *access);

#endif
