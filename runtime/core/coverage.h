/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage of a run: which functions accessed memory that another thread had accessed, and which of
 * them did so while that thread was still in the same block. A run without findings says little
 * about functions that never shared memory with another thread. docs/user/runtime.md has the
 * definition.
 *
 * Two sticky bits per function, set by the slow path when it finds another thread's access in a
 * cell. The check costs more than the access, so it is made for all of a thread's first accesses
 * (TMS_RT_COVERAGE_ALWAYS), and for one in TMS_RT_COVERAGE_EVERY of the others.
 */
#ifndef TMS_RUNTIME_COVERAGE_H
#define TMS_RUNTIME_COVERAGE_H

#include "runtime/core/thread.h"

#define TMS_RT_COVERAGE_ALWAYS (1u << 15)
#define TMS_RT_COVERAGE_EVERY  32u

enum tms_rt_coverage { TMS_RT_COVERAGE_SHARED = 1, TMS_RT_COVERAGE_MET = 2 };

/*
 * The thread accesses memory that the thread in `slot` accessed at `event`. Sets one or both bits
 * of the function that it is in.
 */
void tms_rt_coverage_note(struct tms_rt_thread *thread, uint32_t slot, uint64_t event);

/* Should this access of the slow path be checked for coverage? */
static inline bool tms_rt_coverage_is_due(struct tms_rt_thread *thread)
{
    uint32_t seen = ++thread->coverage_candidates;

    return __builtin_expect(seen < TMS_RT_COVERAGE_ALWAYS || seen % TMS_RT_COVERAGE_EVERY == 0, 0);
}

/* Counts the covered functions, for the report. */
void tms_rt_coverage_count(struct tms_spool_live *live);

#endif
