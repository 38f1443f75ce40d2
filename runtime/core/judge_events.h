/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are recorded for `judge` only (judge_events.c). */
#ifndef TMS_RUNTIME_JUDGE_EVENTS_H
#define TMS_RUNTIME_JUDGE_EVENTS_H

#include "runtime/core/functions.h"
#include "runtime/core/thread.h"

/* Opens a call of a function that is not a block by default. False if memory is short. */
bool tms_rt_open_call(struct tms_rt_thread *thread, const struct tms_rt_function *function);
/* The innermost call returns. */
void tms_rt_close_call(struct tms_rt_thread *thread);
/*
 * Turns a block that has ended early, and whose begin is in the spool, into a call of its function.
 */
bool tms_rt_block_becomes_call(struct tms_rt_thread *thread, const struct tms_rt_open *block);
/* Is the thread inside something that `judge` may report? */
static inline bool tms_rt_is_judged(const struct tms_rt_thread *thread)
{
    return thread->open_count > 0 || thread->call_count > 0;
}
/* A schedule has delayed the thread. */
void tms_rt_was_delayed(struct tms_rt_thread *thread);

#endif
