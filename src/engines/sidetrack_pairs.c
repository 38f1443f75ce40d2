/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows between two locks, for sidetrack with TMS_PREDICT_PAIR.
 *
 * A block has a section of m, a1, and later one of n, a2. Another thread takes m after a1, b1, and
 * then n, b2. If b2 comes before a2, the block is before the other by m, and after it by n. Here b2
 * was seen after a2, and what holds for after-errors of one lock holds for a2 and b2: unless b2
 * comes after a2 by anything but the order of n, there is a run in which it comes first. That run
 * has everything else in the order that was seen, so in it a1 comes before b1 as well.
 *
 * At a2 its lock keeps the window, with the last sections of other locks in the block; a thread
 * that takes the lock later compares these with its own last sections. A section that still goes on
 * at a2 is no first one: whatever comes after it comes after a2.
 */
#include <assert.h>
#include <string.h>

#include "engines/sidetrack.h"

/* The section `back` places before the last; NULL: it is not known any more. */
static const struct tms_sidetrack_recent *recent_at(const struct tms_sidetrack_thread *t,
                                                    uint32_t back)
{
    const struct tms_sidetrack_recent *recent =
        &t->recent[(t->recent_at + SIDETRACK_RECENT - back) % SIDETRACK_RECENT];

    return back < SIDETRACK_RECENT && recent->place.event != 0 ? recent : NULL;
}

/* Is it in the block that the thread is in? */
static bool is_in_block(const struct tms_sidetrack_thread *t,
                        const struct tms_sidetrack_recent *recent)
{
    return !recent->in.unary && recent->in.begin_event == t->name.begin_event;
}

static bool conflict(uint8_t a, uint8_t b)
{
    return a != TMS_EVENT_SHARED_ACQUIRE || b != TMS_EVENT_SHARED_ACQUIRE;
}

/* ---- the window --------------------------------------------------------------------------- */

static bool is_held(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                    const struct tms_sidetrack_recent *recent)
{
    const struct tms_sidetrack_hold *hold = sidetrack_find_hold(t, s->locks[recent->lock]);

    return hold != NULL && hold->event == recent->place.event;
}

static bool has_lock(const struct tms_sidetrack_recent *first, size_t count, uint32_t lock)
{
    for (size_t i = 0; i < count; i++) {
        if (first[i].lock == lock) {
            return true;
        }
    }
    return false;
}

/* The last sections of other locks in the block, which are over. How many. */
static size_t find_firsts(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking,
                          struct tms_sidetrack_recent *first)
{
    struct tms_sidetrack_thread *t = taking->t;
    const struct tms_sidetrack_recent *recent = recent_at(t, 0);
    size_t count = 0;

    for (uint32_t i = 1; recent != NULL && is_in_block(t, recent) && count < SIDETRACK_FIRSTS;
         i++) {
        if (recent->lock != taking->op->target && !has_lock(first, count, recent->lock) &&
            !is_held(s, t, recent)) {
            first[count++] = *recent;
        }
        recent = recent_at(t, i);
    }
    assert(count <= SIDETRACK_FIRSTS);
    return count;
}

static struct tms_sidetrack_pair *pair_of(struct tms_sidetrack *s, struct tms_sidetrack_lock *lock)
{
    if (!lock->paired) {
        lock->pair = tms_arena_take_line(&s->arena, s->memory, sizeof(*lock->pair));
        lock->paired = lock->pair != NULL;
        if (!lock->paired) {
            sidetrack_out_of_memory(s);
        }
    }
    return lock->pair;
}

void tms_sidetrack_set_pair(struct tms_sidetrack *s, const struct tms_sidetrack_taking *taking)
{
    struct tms_sidetrack_recent first[SIDETRACK_FIRSTS];
    size_t count = find_firsts(s, taking, first);
    struct tms_sidetrack_pair *pair = count > 0 ? pair_of(s, taking->lock) : NULL;

    if (pair == NULL ||
        !tms_sidetrack_refute(s, taking->t, taking->op->event, &pair->window.refuted)) {
        return;
    }
    s->windows++;
    assert(count > 0 && first[0].place.event < taking->op->event);
    memcpy(pair->first, first, count * sizeof(*first));
    pair->first_count = count;
    sidetrack_write_acquire(taking->t, taking->op, &pair->window.second);
}

/* ---- who could cut it --------------------------------------------------------------------- */

/* The thread's last section of the lock, if it came after the first one of the window. */
static const struct tms_sidetrack_recent *find_through(const struct tms_sidetrack_thread *t,
                                                       const struct tms_sidetrack_recent *first)
{
    const struct tms_sidetrack_recent *recent;
    uint32_t back = 0;

    while ((recent = recent_at(t, back)) != NULL && recent->lock != first->lock) {
        back++;
    }
    bool after = recent != NULL && recent->place.event > first->place.event &&
                 conflict(recent->place.kind, first->place.kind);
    return after ? recent : NULL;
}

/* Rather in the block that the thread is in, and else the last ones. */
static bool find_way(const struct tms_sidetrack_taking *taking,
                     const struct tms_sidetrack_pair *pair, struct tms_sidetrack_cut *cut)
{
    bool in_block = (taking->op->flags & TMS_OP_IN_BLOCK) != 0, found = false, best = false;

    for (size_t i = 0; i < pair->first_count && !best; i++) {
        const struct tms_sidetrack_recent *through = find_through(taking->t, &pair->first[i]);
        best = through != NULL && in_block && is_in_block(taking->t, through);
        if (through != NULL && (best || !found)) {
            cut->first = pair->first[i];
            cut->through = *through;
            found = true;
        }
    }
    return found;
}

/* If a block of the culprit has both acquires, the innermost of these is the culprit. */
static void find_culprit(const struct tms_sidetrack_taking *taking, struct tms_sidetrack_cut *cut)
{
    const struct tms_sidetrack_thread *t = taking->t;

    assert(cut->through.place.event < taking->op->event);
    if ((taking->op->flags & TMS_OP_IN_BLOCK) == 0 || !is_in_block(t, &cut->through)) {
        return;
    }
    for (size_t i = t->nesting.depth; i > 0; i--) {
        const struct tms_transaction *block = &t->nesting.open[i - 1].block;
        if (block->begin_event <= cut->through.place.event) {
            cut->culprit.in = cut->through.in = *block;
            return;
        }
    }
}

uint32_t tms_sidetrack_put_pair_off(struct tms_sidetrack *s,
                                    const struct tms_sidetrack_taking *taking)
{
    struct tms_sidetrack_pair *pair = taking->lock->pair;
    struct tms_sidetrack_thread *t = taking->t;
    struct tms_sidetrack_cut found = {0};

    assert(taking->lock->paired);
    if (sidetrack_is_spent(&pair->window) || sidetrack_knows(t, &pair->window.second) ||
        !conflict(pair->window.second.place.kind, taking->op->event_kind) ||
        !find_way(taking, pair, &found)) {
        return 0;
    }
    uint32_t number = tms_sidetrack_take_cut(s, t);
    if (number == 0) {
        return 0;
    }
    found.window = pair->window;
    sidetrack_write_acquire(t, taking->op, &found.culprit);
    find_culprit(taking, &found);
    t->cuts[number - 1] = found;
    pair->window = (struct tms_sidetrack_window){0};
    return number;
}
