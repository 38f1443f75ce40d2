/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run covers: which functions touched memory that another thread had touched, and which of
 * them did so while that thread was still in the block in which it had. A run without findings says
 * little about functions that no other thread ever came near. docs/user/runtime.md has
 * the definition.
 *
 * Two sticky bits per function, set by the slow path where it finds another thread in a cell. To
 * look costs more than the access: so the first accesses of a thread are all looked at
 * (TMS_RT_COVER_ALWAYS), and of the others one in TMS_RT_COVER_EVERY.
 */
#ifndef TMS_RUNTIME_COVERAGE_H
#define TMS_RUNTIME_COVERAGE_H

#include "runtime/core/thread.h"

#define TMS_RT_COVER_ALWAYS (1u << 15)
#define TMS_RT_COVER_EVERY  32u

enum tms_rt_cover { TMS_RT_COVER_SHARED = 1, TMS_RT_COVER_MET = 2 };

/*
 * The thread accesses memory that the thread in another slot accessed at this event. Sets one bit
 * of the function that it is in, or both.
 */
void tms_rt_cover_conflict(struct tms_rt_thread *thread, uint32_t slot, uint64_t event);

/* Is this access of the slow path to be looked at? */
static inline bool tms_rt_cover_is_due(struct tms_rt_thread *thread)
{
    uint32_t looks = ++thread->cover_looks;

    return __builtin_expect(looks < TMS_RT_COVER_ALWAYS || looks % TMS_RT_COVER_EVERY == 0, 0);
}

/* Counts the functions, for the report. */
void tms_rt_cover_count(struct tms_spool_live *live);

#endif
