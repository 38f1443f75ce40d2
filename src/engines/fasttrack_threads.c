/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector clocks of threads and of synchronisation objects.
 *
 * The slot of a joined thread is reused for a thread whose creator knows of that join: all that the
 * old thread did happened before all that the new one does, so the two are one sequence of events
 * and can't be confused. Reusing a slot sooner would invent an order between unrelated threads.
 */
#include <assert.h>
#include <string.h>

#include "engines/fasttrack.h"

#define LEAST_THREADS 16
#define KNOWN_MOST    (UINT64_C(1) << 27) /* words; better no answer than no machine */

static bool fail(struct tms_fasttrack *f, int code)
{
    tms_host_fail(f->host, code);
    return false;
}

/* ---- slots ------------------------------------------------------------------------------ */

static uint32_t reuse_slot(struct tms_fasttrack *f, const struct tms_fasttrack_thread *parent)
{
    for (size_t i = f->retired_count; i-- > 0 && parent != NULL;) {
        struct tms_fasttrack_retired *retired = &f->retired[i];
        if (retired->joined <= parent->known[retired->slot]) {
            assert(epoch_slot(retired->joined) == retired->slot);
            uint32_t slot = retired->slot;
            *retired = f->retired[--f->retired_count];
            return slot;
        }
    }
    return NO_SLOT;
}

/* Everything that has a column for each slot gets wider; the rows of `known` may move. */
static bool widen(struct tms_fasttrack *f, size_t slots)
{
    assert(slots > f->slot_count);
    if (!tms_grid_reserve(f->memory, &f->known, slots, slots) ||
        !tms_clocks_widen(&f->syncs, slots) || !tms_clocks_widen(&f->reads, 2 * slots) ||
        !TMS_RESERVE(f->memory, &f->threads, &f->thread_capacity, slots, LEAST_THREADS)) {
        return false;
    }
    for (uint32_t slot = 1; slot < f->slot_count; slot++) {
        f->threads[slot]->known = tms_grid_row(&f->known, slot);
    }
    return true;
}

static uint32_t new_slot(struct tms_fasttrack *f)
{
    uint32_t slot = f->slot_count;
    size_t slots = (size_t)slot + 1;

    if (slot > SLOT_MOST || slots * slots > KNOWN_MOST) {
        fail(f, TMS_ERR_LIMIT);
        return NO_SLOT;
    }
    struct tms_fasttrack_thread *t =
        widen(f, slots) ? tms_resize(f->memory, NULL, 0, 1, sizeof(*t)) : NULL;
    if (t == NULL) {
        fail(f, TMS_ERR_MEMORY);
        return NO_SLOT;
    }
    t->slot = slot;
    t->known = tms_grid_row(&f->known, slot);
    f->threads[slot] = t;
    assert(slot > NO_SLOT && t->past_count == 0);
    f->slot_count++;
    return slot;
}

bool tms_fasttrack_start(struct tms_fasttrack *f, uint32_t id,
                         const struct tms_fasttrack_thread *parent, uint64_t event)
{
    uint32_t slot = reuse_slot(f, parent);

    assert(f->by_id[id] == NULL);
    slot = slot == NO_SLOT ? new_slot(f) : slot;
    if (slot == NO_SLOT) {
        return false;
    }
    struct tms_fasttrack_thread *t = f->threads[slot];
    if (parent != NULL) {
        memcpy(t->known, parent->known, f->slot_count * sizeof(*t->known));
        t->known[parent->slot] = epoch_of(parent->slot, event);
    }
    t->known[slot] = epoch_of(slot + 1, 0) - 1;
    tms_clocks_drop(&f->syncs, t->fence); /* of the thread before it in the slot */
    tms_clocks_drop(&f->syncs, t->pending);
    t->fence = t->pending = 0;
    t->id = id;
    t->heard = event;
    tms_fasttrack_publish(t, event);
    f->by_id[id] = t;
    return tms_fasttrack_leave(f, t, event);
}

/* ---- clocks ----------------------------------------------------------------------------- */

void tms_fasttrack_learn(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                         const uint64_t *row, uint64_t event)
{
    uint64_t *restrict known = t->known;

    assert(row != t->known && t->heard <= event);
    for (uint32_t slot = 0; slot < f->slot_count; slot++) {
        known[slot] = known[slot] > row[slot] ? known[slot] : row[slot];
    }
    t->heard = event;
    f->learnt++;
}

/* A thread without events comes between its fork and its join all the same. */
void tms_fasttrack_join(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                        const struct tms_fasttrack_thread *child, uint64_t event)
{
    uint64_t joined = epoch_of(child->slot, event);

    assert(t != child && f->by_id[child->id] == child);
    tms_fasttrack_learn(f, t, child->known, event);
    assert(child->slot != t->slot);
    t->known[child->slot] = joined; /* and not all that may ever happen there */
    if (!TMS_RESERVE(f->memory, &f->retired, &f->retired_capacity, f->retired_count + 1,
                     LEAST_THREADS)) {
        fail(f, TMS_ERR_MEMORY);
        return;
    }
    f->retired[f->retired_count++] = (struct tms_fasttrack_retired){joined, child->slot};
}

/* A thread that the release happened before already has everything the release passed on. */
void tms_fasttrack_acquire_shared(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                                  const struct tms_fasttrack_sync *sync, uint64_t event)
{
    if (!happened_before(t, sync->release)) {
        tms_fasttrack_learn(f, t, tms_clocks_at(&f->syncs, sync->clock), event);
        t->known[epoch_slot(sync->release)] = sync->release;
    }
}

void tms_fasttrack_acquire(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                           const struct tms_fasttrack_sync *sync, uint64_t event)
{
    tms_fasttrack_acquire_shared(f, t, sync, event);
    if (sync->shared != 0) {
        tms_fasttrack_learn(f, t, tms_clocks_at(&f->syncs, sync->shared), event);
    }
}

bool tms_fasttrack_make_clock(struct tms_fasttrack *f, uint32_t *clock)
{
    if (*clock == 0) {
        *clock = tms_clocks_make(&f->syncs);
    }
    return *clock != 0 || fail(f, TMS_ERR_MEMORY);
}

/* If the thread learnt nothing since it last released this, the clock is good as it is. */
bool tms_fasttrack_release(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                           struct tms_fasttrack_sync *sync, uint64_t event)
{
    uint64_t last = sync->release;
    bool fresh = epoch_slot(last) == t->slot && epoch_event(last) >= t->heard;

    if (!tms_fasttrack_make_clock(f, &sync->clock)) {
        return false;
    }
    sync->release = epoch_of(t->slot, event);
    if (!fresh) {
        uint64_t *row = tms_clocks_at(&f->syncs, sync->clock);
        memcpy(row, t->known, f->slot_count * sizeof(*row));
        row[t->slot] = sync->release;
    }
    tms_clocks_drop(&f->syncs, sync->shared); /* the acquire has taken it in */
    sync->shared = 0;
    tms_fasttrack_publish(t, event);
    return true;
}

bool tms_fasttrack_release_shared(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                                  struct tms_fasttrack_sync *sync, uint64_t event)
{
    if (!tms_fasttrack_make_clock(f, &sync->shared)) {
        return false;
    }
    uint64_t *row = tms_clocks_at(&f->syncs, sync->shared);
    for (uint32_t slot = 0; slot < f->slot_count; slot++) {
        row[slot] = row[slot] > t->known[slot] ? row[slot] : t->known[slot];
    }
    row[t->slot] = epoch_of(t->slot, event);
    tms_fasttrack_publish(t, event);
    return true;
}
