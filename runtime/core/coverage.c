/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage of a run; see coverage.h. */
#include "runtime/core/coverage.h"

#include "runtime/core/call_stack.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/functions.h"

/* The innermost function of the thread that is not plumbing; NULL: none is known. */
static struct tms_rt_function *innermost(struct tms_rt_thread *t)
{
    for (const struct tms_rt_frame *frame = t->top; frame > t->frames; frame--) {
        struct tms_rt_function *function = tms_rt_function_of(t, frame->address);
        if (!function->plumbing) {
            return function;
        }
    }
    return NULL;
}

/* Is a thread still in the outermost block in which it made an access? */
static bool is_in_block(uint32_t slot, uint64_t event)
{
    const struct tms_rt_thread *u = tms_rt_thread_of_slot(slot);
    uint64_t begin = u == NULL ? 0 : atomic_load_explicit(&u->running, memory_order_relaxed);

    return begin != 0 && begin <= event;
}

/* Reads the bits before it writes them: all threads share the row. */
void tms_rt_coverage_note(struct tms_rt_thread *t, uint32_t slot, uint64_t event)
{
    struct tms_rt_function *function = innermost(t);

    if (function == NULL) {
        return;
    }
    uint8_t bits = atomic_load_explicit(&function->coverage, memory_order_relaxed);
    if ((bits & TMS_RT_COVERAGE_MET) == 0) {
        uint8_t now = TMS_RT_COVERAGE_SHARED | (is_in_block(slot, event) ? TMS_RT_COVERAGE_MET : 0);
        if ((now & ~bits) != 0) {
            atomic_fetch_or_explicit(&function->coverage, now, memory_order_relaxed);
        }
    }
}

void tms_rt_coverage_count(struct tms_spool_live *live)
{
    live->functions_shared = tms_rt_functions_covered(TMS_RT_COVERAGE_SHARED);
    live->functions_met = tms_rt_functions_covered(TMS_RT_COVERAGE_MET);
    live->has_coverage = TMS_RT_SEES_MEMORY && tms_rt_mode.memory;
}
