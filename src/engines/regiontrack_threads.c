/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the RegionTrack engines: the slots by which clocks know them, given out at the first
 * event and used again after the join, so that clocks are as long as threads live at a time.
 */
#include <assert.h>

#include "engines/regiontrack.h"

#define LEAST_THREADS 16

static void fail_memory(struct tms_regiontrack *rt)
{
    tms_host_fail(rt->host, TMS_ERR_MEMORY);
}

bool tms_regiontrack_need_id(struct tms_regiontrack *rt, uint32_t id)
{
    size_t wanted = (size_t)id + 1;

    if (TMS_RESERVE(rt->memory, &rt->slots, &rt->slot_capacity, wanted, LEAST_THREADS) &&
        TMS_RESERVE(rt->memory, &rt->forks, &rt->fork_capacity, wanted, LEAST_THREADS)) {
        return true;
    }
    fail_memory(rt);
    return false;
}

/* Does no running transaction come before anything that the thread in the slot did? */
static bool is_unreached(const struct tms_regiontrack *rt, uint32_t slot)
{
    assert(slot < rt->thread_count);
    for (uint32_t i = 0; i < rt->thread_count; i++) {
        const struct tms_regiontrack_thread *p = &rt->threads[i];
        bool in_graph = p->is_source && first_sink(p, slot) != NEVER;
        bool in_order =
            p->begin != 0 && tms_vector_get(&rt->threads[slot].clock, p->slot) >= p->begin;
        if (in_graph || in_order) {
            return false;
        }
    }
    return true;
}

/*
 * The slot of a joined thread may serve another only when no running transaction reaches it:
 * then none ever will, and what is recorded of the old thread leads nowhere. Reused earlier it
 * would invent an order between strangers. The list is looked through again only when it has
 * doubled since that was last in vain.
 */
static bool reuse_slot(struct tms_regiontrack *rt, uint32_t *slot)
{
    if (rt->retired_count < rt->retired_tried * 2) {
        return false;
    }
    for (uint32_t i = 0; i < rt->retired_count; i++) {
        *slot = rt->retired[i];
        if (is_unreached(rt, *slot)) {
            assert(rt->threads[*slot].begin == 0 && !rt->threads[*slot].is_source);
            rt->retired[i] = rt->retired[--rt->retired_count];
            rt->retired_tried = 0;
            return true;
        }
    }
    rt->retired_tried = rt->retired_count;
    return false;
}

static bool new_slot(struct tms_regiontrack *rt, uint32_t *slot)
{
    if (!TMS_RESERVE(rt->memory, &rt->threads, &rt->thread_capacity, rt->thread_count + (size_t)1,
                     LEAST_THREADS)) {
        return false;
    }
    *slot = rt->thread_count++;
    return true;
}

struct tms_regiontrack_thread *tms_regiontrack_settle_in(struct tms_regiontrack *rt,
                                                         const struct tms_op *op)
{
    uint32_t slot;

    if (!tms_regiontrack_need_id(rt, op->thread)) {
        return NULL;
    }
    if (!reuse_slot(rt, &slot) && !new_slot(rt, &slot)) {
        fail_memory(rt);
        return NULL;
    }
    assert(slot < rt->thread_count && rt->slots[op->thread] == 0);
    struct tms_regiontrack_thread *t = &rt->threads[slot];
    t->id = op->thread;
    t->slot = slot;
    forget_clock(&t->clock); /* what the slot learnt before belongs to its predecessor there, … */
    forget_clock(&t->in);
    tms_nesting_restart(&t->nesting);
    tms_regiontrack_advance(rt, t, op->event); /* … whose numbers are not used again */
    rt->slots[op->thread] = slot + 1;
    return t;
}

void tms_regiontrack_retire(struct tms_regiontrack *rt, uint32_t slot)
{
    assert(slot < rt->thread_count);
    if (!TMS_RESERVE(rt->memory, &rt->retired, &rt->retired_capacity, rt->retired_count + (size_t)1,
                     LEAST_THREADS)) {
        fail_memory(rt);
        return;
    }
    rt->retired[rt->retired_count++] = slot;
}

void tms_regiontrack_tick(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                          uint64_t event)
{
    assert(tms_vector_get(&t->clock, t->slot) <= event);
    t->moved = true;
    if (rt->order && !tms_vector_set(rt->memory, &t->clock, t->slot, event)) {
        fail_memory(rt);
    }
}

void tms_regiontrack_advance(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                             uint64_t event)
{
    assert(t->number <= event);
    t->number = event;
    tms_regiontrack_tick(rt, t, event);
}

void tms_regiontrack_clear_threads(struct tms_regiontrack *rt)
{
    for (uint32_t i = 0; i < rt->thread_count; i++) {
        tms_vector_clear(rt->memory, &rt->threads[i].clock);
        tms_vector_clear(rt->memory, &rt->threads[i].sinks);
        tms_vector_clear(rt->memory, &rt->threads[i].in);
        tms_nesting_clear(&rt->threads[i].nesting, rt->memory);
        tms_refuted_clear(&rt->threads[i].refuted, rt->memory);
    }
    tms_release(rt->memory, rt->threads, rt->thread_capacity, sizeof(*rt->threads));
    tms_release(rt->memory, rt->retired, rt->retired_capacity, sizeof(*rt->retired));
    tms_release(rt->memory, rt->slots, rt->slot_capacity, sizeof(*rt->slots));
    tms_release(rt->memory, rt->forks, rt->fork_capacity, sizeof(*rt->forks));
}
