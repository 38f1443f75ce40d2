/* SPDX-License-Identifier: Apache-2.0 */
/* Open blocks: begin, end, splits, and functions as blocks (open_blocks.c). */
#ifndef TMS_RUNTIME_OPEN_BLOCKS_H
#define TMS_RUNTIME_OPEN_BLOCKS_H

#include "runtime/core/thread.h"

void tms_rt_blocks_start(const char *sources, const char *split);
/* Ends the transaction and begins another one inside the same blocks. */
void tms_rt_split(struct tms_rt_thread *thread, unsigned what, uintptr_t pc);
bool tms_rt_splits_at(unsigned what); /* enum tms_split: do such events split blocks? */
void tms_rt_section_begins(struct tms_rt_thread *thread, const void *lock, uintptr_t pc);
void tms_rt_section_ends(struct tms_rt_thread *thread, uintptr_t pc);
/* Splits the transaction of a thread that has forked; called with its next event. */
void tms_rt_split_due(struct tms_rt_thread *thread, uint32_t site);
/* The thread waits inside the functions on its stack, which makes them non-atomic by default. */
void tms_rt_functions_wait(struct tms_rt_thread *thread);
/* The thread ends: closes all its blocks. */
void tms_rt_close_all(struct tms_rt_thread *thread);
/* Records the deferred begins and calls with a number below `before`. */
void tms_rt_record_begins(struct tms_rt_thread *thread, uint64_t before);
static inline bool tms_rt_in_block(const struct tms_rt_thread *thread)
{
    return thread->open_count > 0;
}
/* The innermost function of the thread has made an access that raced. */
void tms_rt_function_raced(struct tms_rt_thread *thread);
/*
 * The thread releases what it acquired at this event, 0: never; and so do the functions that it has
 * entered since.
 */
void tms_rt_function_releases(struct tms_rt_thread *thread, uint64_t acquired);

#endif
