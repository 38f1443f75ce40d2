/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path of acquire and release: the lock is not shared, the thread could not interleave
 * with any window of it and knows its last release, the transaction acquires it for the first time,
 * and the thread does not wait inside the section. Inlined into the caller, so that the operation
 * stays in registers; the slow path is in lock_windows.c. (A lock and unlock through
 * tms_predict_acquire and tms_predict_release alone takes 40 ns instead of 15.)
 */
#ifndef TMS_PREDICT_LOCK_WINDOWS_TAKE_H
#define TMS_PREDICT_LOCK_WINDOWS_TAKE_H

#include "base/hash_mix.h"
#include "predict/lock_windows.h"

/* Where the search for a lock in `taken` begins. */
static inline size_t tms_predict_taken_at(const struct tms_predict_lock *lock, size_t size)
{
    return (tms_hash((uintptr_t)lock >> 6) >> 32) & (size - 1);
}

static inline bool tms_predict_knows(const struct tms_predict_thread *t,
                                     const struct tms_predict_acquire *acquire)
{
    return tms_order_knows(&t->order, acquire->slot, acquire->place.number) ||
           (t->seen != NULL && acquire->seen_slot != 0 &&
            acquire->place.number <= t->seen[acquire->seen_slot]) ||
           (acquire->seen_slot != 0 && acquire->seen_slot < t->wider_count &&
            acquire->place.number <= t->wider[acquire->seen_slot]);
}

static inline struct tms_predict_place tms_predict_place_of(const struct tms_predict_op *op)
{
    return (struct tms_predict_place){op->number, op->activation, op->site, op->kind};
}

/* A, V or a hold: the clock of the thread before it learns from the lock. */
static inline void tms_predict_write_acquire(const struct tms_predict_thread *t,
                                             const struct tms_predict_op *op,
                                             struct tms_predict_acquire *acquire)
{
    bool unary = op->block.begin == 0;

    acquire->place = tms_predict_place_of(op);
    acquire->block.begin = unary ? op->number : op->block.begin;
    acquire->block.label = unary ? 0 : op->block.label;
    acquire->block.site = unary ? op->site : op->block.site;
    acquire->slot = t->order.slot;
    acquire->thread = t->order.thread;
    acquire->seen_slot = t->seen_slot;
    acquire->section = 0;
    acquire->unary = unary;
    acquire->fixed = false;
}

/* Records the section that the acquire begins. */
static inline void tms_predict_remember(struct tms_predict_thread *t, uint32_t lock,
                                        const struct tms_predict_acquire *acquire)
{
    bool again = t->recent[t->recent_at].lock == lock;

    t->recent_at = (t->recent_at + !again) % TMS_PREDICT_RECENT;
    struct tms_predict_recent *recent = &t->recent[t->recent_at];
    recent->place = acquire->place;
    recent->block = acquire->block;
    recent->lock = lock;
    recent->unary = acquire->unary;
}

/* A section ends: can it form windows with later sections of its transaction? */
static inline void tms_predict_complete(struct tms_predict_thread *t,
                                        const struct tms_predict_hold *hold,
                                        const struct tms_predict_op *op)
{
    t->completed = hold->acquire.block.begin == op->block.begin ? op->block.begin : t->completed;
}

/* Is there no window of the lock that the thread could interleave with? */
static inline bool tms_predict_cuts_none(const struct tms_predict_thread *t,
                                         const struct tms_predict_acquire *second)
{
    return second->slot == 0 || tms_predict_knows(t, second);
}

/* Is it an acquire for the fast path, apart from what the transaction has acquired? */
static inline bool tms_predict_is_plain(const struct tms_predict_thread *t,
                                        const struct tms_predict_lock *lock,
                                        const struct tms_predict_op *op)
{
    return op->kind == TMS_TAKE_EXCLUSIVE && !lock->shared && !t->woken &&
           t->held_count < t->held_capacity &&
           (t->held_count == 0 || t->held[t->held_count - 1].inner) &&
           tms_order_knows(&t->order, lock->releaser, lock->released_at) &&
           tms_predict_cuts_none(t, &lock->window[TMS_TAKE_SHARED].second) &&
           (lock->pair == NULL || tms_predict_cuts_none(t, &lock->pair->window.second));
}

/*
 * The entry for a lock that the transaction acquires for the first time; NULL: use the slow path.
 */
static inline struct tms_predict_taken *
tms_predict_first(struct tms_predict_thread *t, const struct tms_predict_lock *lock, uint64_t block)
{
    size_t count = t->block == block ? t->taken_count : 0;

    if (2 * (count + 1) > t->taken_size) {
        return NULL;
    }
    struct tms_predict_taken *taken = &t->taken[tms_predict_taken_at(lock, t->taken_size)];
    return taken->block != block ? taken : NULL;
}

static inline void tms_predict_take_first(struct tms_predict_thread *t,
                                          const struct tms_predict_lock *lock,
                                          const struct tms_predict_op *op,
                                          struct tms_predict_taken *taken)
{
    const struct tms_predict_acquire *last =
        &lock->last[TMS_TAKE_EXCLUSIVE][lock->newest[TMS_TAKE_EXCLUSIVE]];
    bool before = last->slot != 0 && !last->fixed && !tms_predict_knows(t, last);

    t->taken_count = t->block == op->block.begin ? t->taken_count + 1 : 1;
    t->block = taken->block = op->block.begin;
    taken->lock = lock;
    taken->section = 0;
    for (int form = 0; form < TMS_TAKE_KINDS; form++) {
        taken->last[form] = tms_predict_place_of(op);
        taken->since[form] = op->number;
    }
    taken->before[TMS_TAKE_SHARED] = before ? last->place.number : 0;
    taken->before[TMS_TAKE_EXCLUSIVE] = 0;
}

static inline void tms_predict_take(struct tms_predictor *p, struct tms_predict_thread *t,
                                    struct tms_predict_lock *lock, const struct tms_predict_op *op)
{
    bool in_block = op->block.begin != 0;
    bool follows = in_block && t->completed == op->block.begin && p->pairs;
    struct tms_predict_taken *taken =
        in_block && !follows ? tms_predict_first(t, lock, op->block.begin) : NULL;

    if (__builtin_expect(!tms_predict_is_plain(t, lock, op) || (in_block && taken == NULL), 0)) {
        tms_predict_acquire(p, t, lock, op);
        return;
    }
    if (t->held_count > 0) { /* and all are known to be held during waits */
        uint64_t newest = t->held[t->held_count - 1].acquire.place.number;
        t->cramped = newest > t->cramped ? newest : t->cramped;
        t->nested =
            atomic_load_explicit(&lock->inner, memory_order_relaxed) ? op->number : t->nested;
    }
    if (in_block) {
        tms_predict_take_first(t, lock, op, taken);
    }
    t->acquires++;
    uint8_t newest = lock->newest[TMS_TAKE_EXCLUSIVE] ^= 1;
    tms_predict_write_acquire(t, op, &lock->last[TMS_TAKE_EXCLUSIVE][newest]);
    struct tms_predict_hold *hold = &t->held[t->held_count++];
    hold->lock = lock;
    tms_predict_write_acquire(t, op, &hold->acquire);
    hold->cut = hold->pair = 0;
    hold->inner = false;
    if (p->pairs) {
        tms_predict_remember(t, lock->id, &hold->acquire);
    }
}

static inline void tms_predict_give(struct tms_predictor *p, struct tms_predict_thread *t,
                                    struct tms_predict_lock *lock, const struct tms_predict_op *op)
{
    const struct tms_predict_hold *hold = t->held_count > 0 ? &t->held[t->held_count - 1] : NULL;

    if (__builtin_expect(hold == NULL || hold->lock != lock || (hold->cut | hold->pair) != 0 ||
                             hold->acquire.place.kind != TMS_TAKE_EXCLUSIVE ||
                             t->nested > hold->acquire.place.number ||
                             t->stuck > hold->acquire.place.number ||
                             lock->released_age != t->order.age,
                         0)) {
        tms_predict_release(p, t, lock, op);
        return;
    }
    tms_predict_complete(t, hold, op);
    t->held_count--;
    lock->released.at[t->order.slot] = op->number;
    lock->released_at = op->number;
}

#endif
