/* SPDX-License-Identifier: Apache-2.0 */
/* What a run covers; see coverage.h. */
#include "runtime/core/coverage.h"

#include "runtime/core/calls.h"

/* The thread's own cache is asked but not filled: the slow path is in the middle of something. */
static struct tms_rt_function *function_at(const struct tms_rt_thread *t, uintptr_t address)
{
    struct tms_rt_function *cached = t->called.function[tms_rt_call_hash(address)];

    return cached->address == address ? cached : tms_rt_function(address);
}

struct tms_rt_function *tms_rt_cover_function(const struct tms_rt_thread *t)
{
    for (const struct tms_rt_frame *frame = t->top; frame > t->frames; frame--) {
        struct tms_rt_function *function = function_at(t, frame->address);
        if (!function->plumbing) {
            return function;
        }
    }
    return NULL;
}

/* A block that is over when the other thread is asked can't have been cut here. */
void tms_rt_cover_meeting(const struct tms_rt_thread *t, uint32_t slot, uint64_t event)
{
    const struct tms_rt_thread *u = tms_rt_of_slot(slot);
    uint64_t begin = u == NULL ? 0 : atomic_load_explicit(&u->running, memory_order_relaxed);

    if (begin != 0 && begin <= event) {
        tms_rt_cover_met(t);
    } else {
        tms_rt_cover_shared(t);
    }
}

void tms_rt_cover_count(struct tms_spool_live *live)
{
    live->functions_shared = tms_rt_functions_covered(TMS_RT_COVER_SHARED);
    live->functions_met = tms_rt_functions_covered(TMS_RT_COVER_MET);
    live->covers = TMS_RT_SEES_MEMORY && tms_rt_mode.memory;
}
