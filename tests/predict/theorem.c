/* SPDX-License-Identifier: Apache-2.0 */
/* Exhaustive search; see theorem.h. */
#include "theorem.h"

#include <string.h>

#include "differential/trace.h"

#define TRANSACTIONS_MOST 64 /* a bit each */

/* ---- random sets ------------------------------------------------------------------------ */

struct draft {
    struct theorem_set *set;
    unsigned thread;
    unsigned held[4], held_count;
    bool shared[4];
};

static void put(struct draft *d, enum tms_event_kind kind, unsigned target, unsigned transaction)
{
    size_t at = d->set->count[d->thread]++;

    d->set->event[d->thread][at] =
        (struct small_event){(uint8_t)kind, (uint8_t)d->thread, (uint8_t)target};
    d->set->transaction[d->thread][at] = transaction;
}

static bool holds(const struct draft *d, unsigned lock)
{
    for (unsigned i = 0; i < d->held_count; i++) {
        if (d->held[i] == lock) {
            return true;
        }
    }
    return false;
}

static void put_access(struct draft *d, uint64_t *random, unsigned variables, unsigned transaction)
{
    static const enum tms_event_kind kinds[] = {TMS_EVENT_READ, TMS_EVENT_READ, TMS_EVENT_WRITE,
                                                TMS_EVENT_WRITE, TMS_EVENT_UPDATE};

    put(d, kinds[tms_random_below(random, 5)], tms_random_below(random, variables), transaction);
}

/* Mostly the last that was taken, but not always. */
static void put_release(struct draft *d, uint64_t *random, unsigned transaction)
{
    unsigned at = tms_random_below(random, 4) == 0 ? tms_random_below(random, d->held_count)
                                                   : d->held_count - 1;

    put(d, d->shared[at] ? TMS_EVENT_SHARED_RELEASE : TMS_EVENT_RELEASE, d->held[at], transaction);
    d->held_count--;
    d->held[at] = d->held[d->held_count];
    d->shared[at] = d->shared[d->held_count];
}

static void put_acquire(struct draft *d, uint64_t *random, unsigned locks, unsigned transaction)
{
    unsigned lock = tms_random_below(random, locks);
    bool shared = tms_random_below(random, 5) == 0;

    if (!holds(d, lock)) {
        put(d, shared ? TMS_EVENT_SHARED_ACQUIRE : TMS_EVENT_ACQUIRE, lock, transaction);
        d->held[d->held_count] = lock;
        d->shared[d->held_count++] = shared;
    }
}

static void make_transaction(struct draft *d, uint64_t *random, unsigned variables, unsigned locks,
                             unsigned actions)
{
    unsigned transaction = ++d->set->transactions;

    put(d, TMS_EVENT_BEGIN, 0, transaction);
    for (unsigned i = 0; i < actions; i++) {
        unsigned choice = tms_random_below(random, 100);
        if (choice < 45) {
            put_access(d, random, variables, transaction);
        } else if (choice < 80 && d->held_count < 2) {
            put_acquire(d, random, locks, transaction);
        } else if (d->held_count > 0) {
            put_release(d, random, transaction);
        }
    }
    while (d->held_count > 0) {
        put_release(d, random, transaction);
    }
    put(d, TMS_EVENT_END, 0, transaction);
}

/* Two threads of up to seven actions, or three of four. */
void theorem_make(uint64_t *random, struct theorem_set *set)
{
    unsigned threads = 2 + tms_random_below(random, 2);
    unsigned variables = 1 + tms_random_below(random, 2);
    unsigned locks = 1 + tms_random_below(random, 3);

    memset(set, 0, sizeof(*set));
    for (unsigned thread = 0; thread < threads; thread++) {
        struct draft d = {.set = set, .thread = thread};
        unsigned most = threads == 2 ? 6 : 3;
        make_transaction(&d, random, variables, locks, 1 + tms_random_below(random, most));
        if (tms_random_below(random, 4) == 0 && threads == 2) {
            make_transaction(&d, random, variables, locks, 2);
        } else if (tms_random_below(random, 4) == 0) {
            put_access(&d, random, variables, 0);
        }
    }
}

/* ---- one step --------------------------------------------------------------------------- */

struct world {
    size_t at[THEOREM_THREADS];
    int owner[SMALL_TARGETS]; /* -1: free */
    unsigned sharers[SMALL_TARGETS];
};

static void start(struct world *world)
{
    memset(world, 0, sizeof(*world));
    memset(world->owner, -1, sizeof(world->owner));
}

static bool can_go(const struct theorem_set *set, const struct world *world, unsigned thread)
{
    if (world->at[thread] == set->count[thread]) {
        return false;
    }
    const struct small_event *event = &set->event[thread][world->at[thread]];
    if (!small_is_lock(event) || !small_takes(event)) {
        return true;
    }
    bool free = world->owner[event->target] == -1;
    return free && (event->kind == TMS_EVENT_SHARED_ACQUIRE || world->sharers[event->target] == 0);
}

static const struct small_event *go(const struct theorem_set *set, struct world *world,
                                    unsigned thread)
{
    const struct small_event *event = &set->event[thread][world->at[thread]++];
    bool exclusive = event->kind == TMS_EVENT_ACQUIRE || event->kind == TMS_EVENT_RELEASE;

    if (small_is_lock(event) && exclusive) {
        world->owner[event->target] = small_takes(event) ? (int)thread : -1;
    } else if (small_is_lock(event)) {
        world->sharers[event->target] += small_takes(event) ? 1u : -1u;
    }
    return event;
}

static bool all_done(const struct theorem_set *set, const struct world *world)
{
    return memcmp(world->at, set->count, sizeof(world->at)) == 0;
}

bool theorem_schedule(const struct theorem_set *set, uint64_t *random, struct small_trace *trace)
{
    struct world world;
    bool moved = true;

    start(&world);
    trace->count = 0;
    while (moved) {
        unsigned first = tms_random_below(random, THEOREM_THREADS);
        moved = false;
        for (unsigned i = 0; i < THEOREM_THREADS && !moved; i++) {
            unsigned thread = (first + i) % THEOREM_THREADS;
            if (can_go(set, &world, thread)) {
                trace->event[trace->count++] = *go(set, &world, thread);
                moved = true;
            }
        }
    }
    return all_done(set, &world);
}

static bool gets_stuck(const struct theorem_set *set, const struct world *world, bool *seen)
{
    size_t state = 0;
    bool moved = false;

    for (unsigned i = 0; i < THEOREM_THREADS; i++) {
        state = state * (THEOREM_EVENTS + 1) + world->at[i];
    }
    if (seen[state]) {
        return false;
    }
    seen[state] = true;
    for (unsigned i = 0; i < THEOREM_THREADS; i++) {
        if (can_go(set, world, i)) {
            struct world next = *world;
            go(set, &next, i);
            moved = true;
            if (gets_stuck(set, &next, seen)) {
                return true;
            }
        }
    }
    return !moved && !all_done(set, world);
}

bool theorem_deadlocks(const struct theorem_set *set)
{
    static bool seen[(THEOREM_EVENTS + 1) * (THEOREM_EVENTS + 1) * (THEOREM_EVENTS + 1)];
    struct world world;

    memset(seen, 0, sizeof(seen));
    start(&world);
    return gets_stuck(set, &world, seen);
}

/* ---- all traces ------------------------------------------------------------------------- */

/* The accesses so far, and which transactions have to come before which: reach[a] has bit b. */
struct course {
    struct world world;
    const struct small_event *access[TRANSACTIONS_MOST];
    unsigned of[TRANSACTIONS_MOST];
    size_t count;
    uint64_t reach[TRANSACTIONS_MOST];
};

/* An access outside blocks is a transaction of its own, known by its place. */
static unsigned transaction_of(const struct theorem_set *set, unsigned thread, size_t at)
{
    unsigned transaction = set->transaction[thread][at];

    return transaction != 0 ? transaction
                            : set->transactions + 1 + thread * THEOREM_EVENTS + (unsigned)at;
}

/* Adds a → b to the order; false if it closes a cycle. */
static bool comes_before(struct course *course, unsigned a, unsigned b)
{
    if (a == b || (course->reach[a] >> b & 1) != 0) {
        return true;
    }
    if ((course->reach[b] >> a & 1) != 0) {
        return false;
    }
    uint64_t gained = course->reach[b] | UINT64_C(1) << b;
    for (unsigned i = 0; i < TRANSACTIONS_MOST; i++) {
        if (i == a || (course->reach[i] >> a & 1) != 0) {
            course->reach[i] |= gained;
        }
    }
    return true;
}

static bool take_access(const struct theorem_set *set, struct course *course, unsigned thread)
{
    size_t at = course->world.at[thread];
    const struct small_event *event = &set->event[thread][at];
    unsigned transaction = transaction_of(set, thread, at);

    for (size_t i = 0; i < course->count; i++) {
        const struct small_event *other = course->access[i];
        bool conflict = other->thread == thread ||
                        (other->target == event->target &&
                         (other->kind != TMS_EVENT_READ || event->kind != TMS_EVENT_READ));
        if (conflict && !comes_before(course, course->of[i], transaction)) {
            return false;
        }
    }
    course->of[course->count] = transaction;
    course->access[course->count++] = event;
    return true;
}

/*
 * A thread that can begin, end or release does so at once: any order of accesses that is possible
 * if it waits is also possible if it does not.
 */
static int find_eager(const struct theorem_set *set, const struct world *world)
{
    for (unsigned i = 0; i < THEOREM_THREADS; i++) {
        if (can_go(set, world, i)) {
            const struct small_event *event = &set->event[i][world->at[i]];
            if (!small_is_access(event) && !small_takes(event)) {
                return (int)i;
            }
        }
    }
    return -1;
}

static bool all_serial(const struct theorem_set *set, const struct course *from);

static bool serial_by(const struct theorem_set *set, const struct course *from, unsigned thread)
{
    struct course next = *from;
    bool access = small_is_access(&set->event[thread][from->world.at[thread]]);

    if (access && !take_access(set, &next, thread)) {
        return false;
    }
    go(set, &next.world, thread);
    return all_serial(set, &next);
}

static bool all_serial(const struct theorem_set *set, const struct course *from)
{
    int eager = find_eager(set, &from->world);

    if (eager >= 0) {
        return serial_by(set, from, (unsigned)eager);
    }
    for (unsigned i = 0; i < THEOREM_THREADS; i++) {
        if (can_go(set, &from->world, i) && !serial_by(set, from, i)) {
            return false;
        }
    }
    return true;
}

bool theorem_atomic(const struct theorem_set *set)
{
    static struct course course;

    memset(&course, 0, sizeof(course));
    start(&course.world);
    return all_serial(set, &course);
}
