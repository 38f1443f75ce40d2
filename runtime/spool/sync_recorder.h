/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation recorded alongside a check (sync_recorder.c). */
#ifndef TMS_RUNTIME_SYNC_RECORDER_H
#define TMS_RUNTIME_SYNC_RECORDER_H

#include "runtime/core/thread.h"

/* Records an event or defers it (see sync_recorder.c); _flush writes the deferred ones. */
void tms_rt_record_sync(struct tms_rt_thread *thread, const struct tms_spool_event *event);
void tms_rt_record_sync_flush(struct tms_rt_thread *thread);

#endif
