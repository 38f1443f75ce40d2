/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locks that a thread holds, in the order in which it took them.
 *
 * A list sorted by the event of the acquire, from which a hold can be removed anywhere: that leaves
 * a gap, and the list is compacted when half of it is gaps. Most releases are of the lock taken
 * last. For any other, the lock knows the event of its last acquire, by which the hold is found
 * with a binary search. Only a lock that other threads have shared since is searched for one by
 * one.
 */
#include "engines/sidetrack.h"

/* The hold that began with this event, or the first after it. */
static struct tms_sidetrack_hold *hold_since(struct tms_sidetrack_thread *t, uint64_t event)
{
    size_t low = 0, high = t->held_count - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->held[middle].event < event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return &t->held[low];
}

static struct tms_sidetrack_hold *search_each(struct tms_sidetrack_thread *t,
                                              const struct tms_sidetrack_lock *lock)
{
    for (size_t i = t->held_count; i > 0; i--) {
        if (t->held[i - 1].lock == lock) {
            return &t->held[i - 1];
        }
    }
    return NULL;
}

struct tms_sidetrack_hold *tms_sidetrack_search_hold(struct tms_sidetrack_thread *t,
                                                     struct tms_sidetrack_lock *lock)
{
    for (int kind = 0; kind < KINDS; kind++) {
        const struct tms_sidetrack_acquire *last = sidetrack_last(lock, kind);
        struct tms_sidetrack_hold *hold = hold_since(t, last->place.event);
        if (hold->lock == lock) {
            return hold;
        }
    }
    return lock->shared ? search_each(t, lock) : NULL;
}

static void close_gaps(struct tms_sidetrack_thread *t)
{
    size_t count = 0;

    for (size_t i = 0; i < t->held_count; i++) {
        if (t->held[i].lock != NULL) {
            t->held[count++] = t->held[i];
        }
    }
    t->held_count = count;
    t->gap_count = 0;
}

void tms_sidetrack_leave_gap(struct tms_sidetrack_thread *t, struct tms_sidetrack_hold *hold)
{
    hold->lock = NULL;
    t->gap_count++;
    while (t->held_count > 0 && t->held[t->held_count - 1].lock == NULL) {
        t->held_count--;
        t->gap_count--;
    }
    if (2 * t->gap_count > t->held_count) {
        close_gaps(t);
    }
}
