/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic accesses and fences by their memory order, as C11 has it (and C++20, as to release
 * sequences): which clocks a variable passes on.
 *
 * A variable holds what an acquiring load of its value learns. A releasing store puts the clock of
 * its thread there; a relaxed one leaves nothing, or, after a release fence of its thread, the
 * clock at that fence. A read-modify-write continues the release sequence: what is there stays, and
 * its own is added. What a relaxed load would have learnt waits for an acquire fence. Values are
 * those of the last store in the trace.
 */
#include <assert.h>
#include <string.h>

#include "engines/fasttrack.h"

#define ORDER(name) (1u << TMS_ORDER_##name)

static bool acquires(unsigned order)
{
    assert(order <= TMS_ORDER_SEQ_CST);
    return ((ORDER(ACQUIRE) | ORDER(ACQ_REL) | ORDER(SEQ_CST)) >> order & 1) != 0;
}

static bool releases(unsigned order)
{
    return ((ORDER(RELEASE) | ORDER(ACQ_REL) | ORDER(SEQ_CST)) >> order & 1) != 0;
}

/* into := into ⊔ from, and of one slot at least this epoch. */
static void join(const struct tms_fasttrack *f, uint32_t into, uint32_t from, uint64_t epoch)
{
    assert(into != 0 && into != from);
    tms_clocks_join(&f->syncs, into, from);
    uint64_t *own = &tms_clocks_at(&f->syncs, into)[epoch_slot(epoch)];
    *own = *own > epoch ? *own : epoch;
}

/* For an acquire fence to come. What the thread knows already it need not learn then. */
static void put_off(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                    const struct tms_fasttrack_sync *sync)
{
    bool released = !happened_before(t, sync->release);

    if ((!released && sync->shared == 0) || !tms_fasttrack_make_clock(f, &t->pending)) {
        return;
    }
    assert(t->pending != 0 && (!released || sync->clock != 0));
    if (released) {
        join(f, t->pending, sync->clock, sync->release);
    }
    if (sync->shared != 0) {
        join(f, t->pending, sync->shared, 0);
    }
}

void tms_fasttrack_load(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                        const struct tms_fasttrack_sync *sync, unsigned order, uint64_t event)
{
    if (acquires(order)) {
        tms_fasttrack_acquire(f, t, sync, event);
    } else {
        put_off(f, t, sync);
    }
}

static void drop_shared(struct tms_fasttrack *f, struct tms_fasttrack_sync *sync)
{
    tms_clocks_drop(&f->syncs, sync->shared);
    sync->shared = 0;
}

void tms_fasttrack_store(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                         struct tms_fasttrack_sync *sync, unsigned order, uint64_t event)
{
    if (releases(order)) {
        tms_fasttrack_release(f, t, sync, event);
        return;
    }
    drop_shared(f, sync);
    sync->release = 0;
    if (t->fence != 0 && tms_fasttrack_make_clock(f, &sync->clock)) {
        memcpy(tms_clocks_at(&f->syncs, sync->clock), tms_clocks_at(&f->syncs, t->fence),
               f->slot_count * sizeof(uint64_t));
        sync->release = t->fenced;
    }
}

/* If it has acquired, its clock has all that was there. */
void tms_fasttrack_modify(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                          struct tms_fasttrack_sync *sync, unsigned order, uint64_t event)
{
    if (releases(order)) {
        (acquires(order) ? tms_fasttrack_release : tms_fasttrack_release_shared)(f, t, sync, event);
    } else if (t->fence != 0 && tms_fasttrack_make_clock(f, &sync->shared)) {
        join(f, sync->shared, t->fence, t->fenced);
    }
}

/* What the thread did before a release fence is passed on by stores that come later. */
void tms_fasttrack_fence(struct tms_fasttrack *f, struct tms_fasttrack_thread *t, unsigned order,
                         uint64_t event)
{
    assert(t->fence == 0 || epoch_slot(t->fenced) == t->slot);
    if (acquires(order) && t->pending != 0) {
        tms_fasttrack_learn(f, t, tms_clocks_at(&f->syncs, t->pending), event);
        tms_clocks_drop(&f->syncs, t->pending);
        t->pending = 0;
    }
    if (releases(order) && tms_fasttrack_make_clock(f, &t->fence)) {
        uint64_t *row = tms_clocks_at(&f->syncs, t->fence);
        memcpy(row, t->known, f->slot_count * sizeof(*row));
        t->fenced = epoch_of(t->slot, event);
        row[t->slot] = t->fenced;
        tms_fasttrack_publish(t, event);
    }
}
