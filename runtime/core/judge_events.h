/* SPDX-License-Identifier: Apache-2.0 */
/* Events that recordings have for `judge` alone (judge_events.c). */
#ifndef TMS_RUNTIME_JUDGE_EVENTS_H
#define TMS_RUNTIME_JUDGE_EVENTS_H

#include "runtime/core/functions.h"
#include "runtime/core/thread.h"

/* A function begins that is no block by default. False when there is no memory for it. */
bool tms_rt_open_call(struct tms_rt_thread *thread, const struct tms_rt_function *function);
/* The innermost call returns. */
void tms_rt_close_call(struct tms_rt_thread *thread);
/* A block has ended, with a begin that is in the spool, and its function goes on. */
bool tms_rt_block_becomes_call(struct tms_rt_thread *thread, const struct tms_rt_open *block);
/* The thread is in something that `judge` may report. */
static inline bool tms_rt_is_judged(const struct tms_rt_thread *thread)
{
    return thread->open_count > 0 || thread->call_count > 0;
}
/* The tool has delayed the thread. */
void tms_rt_was_delayed(struct tms_rt_thread *thread);

#endif
