/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded accesses, neighbouring ones joined (access_coalesce.c). */
#ifndef TMS_RUNTIME_ACCESS_COALESCE_H
#define TMS_RUNTIME_ACCESS_COALESCE_H

#include "runtime/core/thread.h"

/* Records an access that is not redundant, joined to an earlier one where possible. */
void tms_rt_spool_access(struct tms_rt_thread *thread, struct tms_spool_event *access);

#endif
