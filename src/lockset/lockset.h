/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned sets of locks for the lockset engines: each distinct set is kept once and is a number,
 * so that two sets are equal iff their numbers are, and a set costs four bytes where it is used.
 *
 * Representation: the locks of a set are stored sorted in one pool; a table finds a set by its
 * content. A small cache of results answers nearly all operations: programs hold few distinct sets,
 * again and again. Number 0 is the empty set. Sets are never freed; there are as many as the
 * program has different ways to hold locks.
 *
 * When memory is short the host is notified, and the result is the empty set.
 */
#ifndef TMS_LOCKSET_LOCKSET_H
#define TMS_LOCKSET_LOCKSET_H

#include "base/hashtable.h"
#include "engine_api/engine.h"

#define TMS_LOCKSET_EMPTY 0u

struct tms_lockset {
    size_t start; /* in the pool */
    uint32_t count;
};

struct tms_lockset_answer {
    uint32_t a, b;
    uint32_t question; /* 0: none */
    uint32_t answer;
};

struct tms_locksets {
    struct tms_host *host;
    struct tms_lockset *sets; /* by number */
    size_t set_count, set_capacity;
    uint32_t *pool;
    size_t pool_count, pool_capacity;
    struct tms_hashtable index; /* of sets, by content */
    uint32_t *scratch;          /* the set that is being made */
    size_t scratch_capacity;
    struct tms_lockset_answer *cache;
};

/* TMS_OK or TMS_ERR_MEMORY; clear it in both cases. All zero is cleared. */
int tms_locksets_init(struct tms_locksets *sets, struct tms_host *host);
void tms_locksets_clear(struct tms_locksets *sets);

/* The set of these, which may come in any order, and more than once. */
uint32_t tms_lockset_make(struct tms_locksets *sets, const uint32_t *locks, size_t count);

uint32_t tms_lockset_add(struct tms_locksets *sets, uint32_t set, uint32_t lock);
uint32_t tms_lockset_remove(struct tms_locksets *sets, uint32_t set, uint32_t lock);
uint32_t tms_lockset_union(struct tms_locksets *sets, uint32_t a, uint32_t b);
uint32_t tms_lockset_intersection(struct tms_locksets *sets, uint32_t a, uint32_t b);

/* a ⊆ b */
bool tms_lockset_within(struct tms_locksets *sets, uint32_t a, uint32_t b);
bool tms_lockset_has(const struct tms_locksets *sets, uint32_t set, uint32_t lock);

static inline bool tms_lockset_disjoint(struct tms_locksets *sets, uint32_t a, uint32_t b)
{
    return tms_lockset_intersection(sets, a, b) == TMS_LOCKSET_EMPTY;
}

/* The locks of a set in the order of their ids. Lives until the next set is made. */
static inline const uint32_t *tms_lockset_locks(const struct tms_locksets *sets, uint32_t set,
                                                size_t *count)
{
    *count = sets->sets[set].count;
    return &sets->pool[sets->sets[set].start];
}

/*
 * What a thread holds. A lock held shared keeps exclusive holders out, but not other shared ones,
 * so one set does not do: `any` has all locks, `exclusive` those held exclusively. What protects a
 * read is `any`, what protects a write `exclusive`. All zero: nothing.
 *
 * A thread that takes n locks one inside the other has n sets of up to n locks, and where they are
 * protectors of each other (lock_roles.h) as many for each lock. So no more than TMS_HELD_MOST of
 * its locks are followed; it takes the others as if they were not there, and the host has a loss.
 */
struct tms_held {
    uint32_t any, exclusive;
};
#define TMS_HELD_MOST 512

/* Is another lock too many? If so, it is stated as a loss. */
bool tms_held_full(struct tms_locksets *sets, struct tms_held held);

/*
 * At ACQUIRE, RELEASE, SHARED_ACQUIRE and SHARED_RELEASE. False if nothing changes, because the
 * lock is one too many, or was when it was taken.
 */
bool tms_held_follow(struct tms_locksets *sets, struct tms_held *held, const struct tms_op *op);

/* Can no two threads hold these at the same time? */
static inline bool tms_held_exclude(struct tms_locksets *sets, struct tms_held a, struct tms_held b)
{
    return !tms_lockset_disjoint(sets, a.any, b.exclusive) ||
           !tms_lockset_disjoint(sets, a.exclusive, b.any);
}

/* What is in both. */
static inline struct tms_held tms_held_both(struct tms_locksets *sets, struct tms_held a,
                                            struct tms_held b)
{
    return (struct tms_held){
        .any = tms_lockset_intersection(sets, a.any, b.any),
        .exclusive = tms_lockset_intersection(sets, a.exclusive, b.exclusive),
    };
}

#endif
