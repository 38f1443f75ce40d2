/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of a thread's descriptor; see thread_invariants.h. */
#include "runtime/core/thread_invariants.h"
#include "runtime/core/engine_online.h"

#include <assert.h>

#ifndef NDEBUG

/* Begins are in ascending order and not in the future. */
static void check_open(const struct tms_rt_thread *t, const struct tms_rt_open *list,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        assert(i == 0 || list[i - 1].number <= list[i].number);
        assert(list[i].number <= t->number || !tms_rt_mode.checks);
        assert((list[i].source == TMS_RT_CALL) == (list == t->calls));
    }
}

static void check_stacks(const struct tms_rt_thread *t)
{
    assert(t->frames <= t->top && t->top < t->frames_end);
    assert(t->open_count <= t->open_capacity);
    assert(t->deferred_begins <= t->open_count && t->judged_blocks <= t->open_count);
    assert(t->call_count <= t->call_capacity);
    assert(t->deferred_calls <= t->call_count && t->judged_calls <= t->call_count);
    check_open(t, t->open, t->open_count);
    check_open(t, t->calls, t->call_count);
}

/* A lock is in the list once, however often the thread has taken it. */
static void check_held(const struct tms_rt_thread *t)
{
    assert(t->held_count <= t->held_capacity);
    for (uint32_t i = 0; i < t->held_count; i++) {
        assert(t->held[i].depth > 0);
        assert(t->held[i].since <= t->number || t->held[i].inherited);
        for (uint32_t j = 0; j < i; j++) {
            assert(t->held[i].lock != t->held[j].lock);
        }
    }
}

/* Others may open the transaction at any time, so `unopened` is read once. */
static void check_transaction(const struct tms_rt_thread *t)
{
    uint64_t unopened = atomic_load(&t->unopened);

    assert(t->running_from == atomic_load(&t->running));
    assert(unopened == 0 || unopened == t->running_from);
    assert(t->running_from <= t->number);
    /* A loss may happen between the two. */
    assert((t->open_count > 0) == (t->running_from != 0) || !tms_rt_mode.checks);
}

/* Fields that depend on the slot; event numbers fit into words unless there was a loss. */
static void check_slot(const struct tms_rt_thread *t)
{
    uint32_t slot = t->engine->slot;

    assert(slot >= FIRST_SLOT && slot <= TMS_RT_SLOTS_MOST);
    assert(t->word_base == (uint64_t)slot << WORD_SLOT);
    assert(t->seen != NULL && t->seen[slot] == 0);
    assert(t->number <= WORD_EVENT_MOST || !tms_rt_mode.checks);
    assert((t->epoch - t->word_base) >> WORD_EVENT <= t->number + 1);
    assert((t->stretch - t->word_base) >> WORD_EVENT <= t->number + 1);
    assert(tms_rt_thread_of_slot(slot) == t);
}

void tms_rt_check_thread(const struct tms_rt_thread *t)
{
    assert(t->inside == 1);
    assert(t->index > 0 && t->parent < t->index);
    assert(atomic_load(&t->uses) > 0);
    assert(t->stack_low <= t->stack_high);
    assert(t->waiting_count <= sizeof(t->waiting) / sizeof(t->waiting[0]));
    check_stacks(t);
    check_held(t);
    if (t->engine != NULL) {
        check_transaction(t);
        check_slot(t);
    }
}

#endif
