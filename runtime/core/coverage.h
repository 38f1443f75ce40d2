/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run covers: which functions touched memory that another thread had touched, and which of
 * them did so while that thread was still in the block in which it had. A run without findings says
 * little about functions that no other thread ever came near. docs/runtime.md has the definition.
 *
 * Two sticky bits per function, set by the slow path where it finds another thread in a cell; they
 * are read before they are written, so that a hot function does not share a line for nothing.
 */
#ifndef TMS_RUNTIME_COVERAGE_H
#define TMS_RUNTIME_COVERAGE_H

#include "runtime/core/thread.h"

enum tms_rt_cover { TMS_RT_COVER_SHARED = 1, TMS_RT_COVER_MET = 2 };

/* The function that the thread is in: the innermost that is not plumbing; NULL: none is known. */
struct tms_rt_function *tms_rt_cover_function(const struct tms_rt_thread *thread);

static inline void tms_rt_cover(const struct tms_rt_thread *thread, uint8_t bits)
{
    struct tms_rt_function *function = tms_rt_cover_function(thread);

    if (function != NULL &&
        (~atomic_load_explicit(&function->cover, memory_order_relaxed) & bits) != 0) {
        atomic_fetch_or_explicit(&function->cover, bits, memory_order_relaxed);
    }
}

/*
 * For the slow path: the thread accesses memory that the thread in another slot accessed at this
 * event. Sets one bit or both.
 */
void tms_rt_cover_meeting(const struct tms_rt_thread *thread, uint32_t slot, uint64_t event);

/* The thread accesses memory that another thread has accessed. */
static inline void tms_rt_cover_shared(const struct tms_rt_thread *thread)
{
    tms_rt_cover(thread, TMS_RT_COVER_SHARED);
}

/* And the other thread is still in the block in which it did. */
static inline void tms_rt_cover_met(const struct tms_rt_thread *thread)
{
    tms_rt_cover(thread, TMS_RT_COVER_SHARED | TMS_RT_COVER_MET);
}

/* Counts the functions, for the report. */
void tms_rt_cover_count(struct tms_spool_live *live);

#endif
