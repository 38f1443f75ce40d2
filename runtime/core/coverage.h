/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage of a run: which functions accessed memory that another thread had accessed, and which of
 * them did so while that thread was still in the same block. A run without findings says little
 * about functions that never shared memory with another thread. docs/user/runtime.md has the
 * definition.
 *
 * Two sticky bits per function, set by the slow path when it finds another thread's access in a
 * cell. The check costs more than the access, so it is made for all of a thread's first accesses
 * (TMS_RT_COVER_ALWAYS), and for one in TMS_RT_COVER_EVERY of the others.
 */
#ifndef TMS_RUNTIME_COVERAGE_H
#define TMS_RUNTIME_COVERAGE_H

#include "runtime/core/thread.h"

#define TMS_RT_COVER_ALWAYS (1u << 15)
#define TMS_RT_COVER_EVERY  32u

enum tms_rt_cover { TMS_RT_COVER_SHARED = 1, TMS_RT_COVER_MET = 2 };

/*
 * The thread accesses memory that the thread in `slot` accessed at `event`. Sets one or both bits
 * of the function that it is in.
 */
void tms_rt_cover_conflict(struct tms_rt_thread *thread, uint32_t slot, uint64_t event);

/* Should this access of the slow path be checked for coverage? */
static inline bool tms_rt_cover_is_due(struct tms_rt_thread *thread)
{
    uint32_t looks = ++thread->cover_looks;

    return __builtin_expect(looks < TMS_RT_COVER_ALWAYS || looks % TMS_RT_COVER_EVERY == 0, 0);
}

/* Counts the covered functions, for the report. */
void tms_rt_cover_count(struct tms_spool_live *live);

#endif
