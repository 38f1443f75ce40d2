/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random short traces: threads that are there from the start or are forked, blocks in blocks,
 * locks taken and released in any order, shared or not, accesses with a liking for a lock that goes
 * with the variable, a barrier for two, allocations and escapes. See small_make.h.
 */
#include "small_make.h"

#include "differential/trace.h"

#define ROOM_LEFT 2 /* events that one step may make */

enum { ABSENT, ALIVE, WAITING, FREED, JOINED };

struct actor {
    int state; /* WAITING at the barrier, FREED to depart */
    unsigned depth;
};

struct maker {
    uint64_t random;
    struct small_trace *trace;
    struct actor actor[SMALL_THREADS];
    int owner[SMALL_TARGETS]; /* of a lock; -1: free; -2: shared */
    unsigned sharers[SMALL_TARGETS];
    unsigned threads, variables, locks; /* how many there may be */
    unsigned discipline; /* of 100 accesses, those that mind the lock of the variable */
};

static bool chance(struct maker *m, unsigned percent)
{
    return tms_random_below(&m->random, 100) < percent;
}

static void put(struct maker *m, unsigned thread, enum tms_event_kind kind, unsigned target)
{
    m->trace->event[m->trace->count++] =
        (struct small_event){(uint8_t)kind, (uint8_t)thread, (uint8_t)target};
}

static bool holds(const struct maker *m, unsigned thread, unsigned lock)
{
    return m->owner[lock] == (int)thread || (m->sharers[lock] >> thread & 1) != 0;
}

static bool holds_any(const struct maker *m, unsigned thread)
{
    for (unsigned lock = 0; lock < m->locks; lock++) {
        if (holds(m, thread, lock)) {
            return true;
        }
    }
    return false;
}

/* ---- what a thread can do ---------------------------------------------------------------- */

static void use_lock(struct maker *m, unsigned thread)
{
    unsigned lock = tms_random_below(&m->random, m->locks);

    if (m->owner[lock] == (int)thread) {
        m->owner[lock] = -1;
        put(m, thread, TMS_EVENT_RELEASE, lock);
    } else if (holds(m, thread, lock)) {
        m->sharers[lock] &= ~(1u << thread);
        put(m, thread, TMS_EVENT_SHARED_RELEASE, lock);
    } else if (m->owner[lock] == -1 && chance(m, 15)) {
        m->sharers[lock] |= 1u << thread;
        put(m, thread, TMS_EVENT_SHARED_ACQUIRE, lock);
    } else if (m->owner[lock] == -1 && m->sharers[lock] == 0) {
        m->owner[lock] = (int)thread;
        put(m, thread, TMS_EVENT_ACQUIRE, lock);
    }
}

static void use_variable(struct maker *m, unsigned thread)
{
    unsigned variable = tms_random_below(&m->random, m->variables);
    unsigned kind = tms_random_below(&m->random, 8);

    if (chance(m, m->discipline) && !holds(m, thread, variable % m->locks)) {
        return;
    }
    put(m, thread,
        kind < 4   ? TMS_EVENT_READ
        : kind < 7 ? TMS_EVENT_WRITE
                   : TMS_EVENT_UPDATE,
        variable);
}

static void use_block(struct maker *m, unsigned thread)
{
    struct actor *actor = &m->actor[thread];

    if (actor->depth > 0 && chance(m, 50)) {
        actor->depth--;
        put(m, thread, TMS_EVENT_END, 0);
    } else if (actor->depth < 3) {
        actor->depth++;
        put(m, thread, TMS_EVENT_BEGIN, 0);
    }
}

static void use_thread(struct maker *m, unsigned thread)
{
    unsigned other = tms_random_below(&m->random, m->threads);

    if (other == thread) {
        return;
    }
    if (m->actor[other].state == ABSENT) {
        m->actor[other].state = ALIVE;
        put(m, thread, TMS_EVENT_FORK, other);
    } else if (m->actor[other].state == ALIVE && !holds_any(m, other) && chance(m, 30)) {
        m->actor[other].state = JOINED;
        put(m, thread, TMS_EVENT_JOIN, other);
    }
}

/* The second to wait frees both. */
static void use_barrier(struct maker *m, unsigned thread)
{
    put(m, thread, TMS_EVENT_ARRIVE, 0);
    m->actor[thread].state = WAITING;
    for (unsigned i = 0; i < m->threads; i++) {
        if (i != thread && m->actor[i].state == WAITING) {
            m->actor[i].state = m->actor[thread].state = FREED;
        }
    }
}

static void use_object(struct maker *m, unsigned thread)
{
    static const enum tms_event_kind kinds[] = {TMS_EVENT_ESCAPE, TMS_EVENT_ESCAPE, TMS_EVENT_ALLOC,
                                                TMS_EVENT_FREE};

    put(m, thread, kinds[tms_random_below(&m->random, 4)],
        tms_random_below(&m->random, m->variables));
}

static void act(struct maker *m, unsigned thread)
{
    static const struct {
        unsigned share; /* of 100 */
        void (*act)(struct maker *m, unsigned thread);
    } acts[] = {{40, use_variable}, {35, use_lock},   {14, use_block},
                {5, use_thread},    {3, use_barrier}, {3, use_object}};
    unsigned choice = tms_random_below(&m->random, 100);
    size_t i = 0;

    if (m->actor[thread].state == FREED) {
        m->actor[thread].state = ALIVE;
        put(m, thread, TMS_EVENT_DEPART, 0);
        return;
    }
    while (choice >= acts[i].share) {
        choice -= acts[i++].share;
    }
    acts[i].act(m, thread);
}

void small_make(uint64_t seed, struct small_trace *trace)
{
    struct maker m = {.random = seed, .trace = trace};
    size_t length = 20 + tms_random_below(&m.random, SMALL_EVENTS - ROOM_LEFT - 20);

    trace->count = 0;
    m.threads = 2 + tms_random_below(&m.random, SMALL_THREADS - 1);
    m.variables = 1 + tms_random_below(&m.random, SMALL_TARGETS);
    m.locks = 1 + tms_random_below(&m.random, 4);
    m.discipline = 30 * tms_random_below(&m.random, 4);
    for (unsigned i = 0; i < SMALL_TARGETS; i++) {
        m.owner[i] = -1;
    }
    for (unsigned i = 0; i < m.threads; i++) {
        m.actor[i].state = i == 0 || chance(&m, 50) ? ALIVE : ABSENT;
    }
    for (unsigned tries = 0; trace->count < length && tries < 4 * SMALL_EVENTS; tries++) {
        unsigned thread = tms_random_below(&m.random, m.threads);
        if (m.actor[thread].state == ALIVE || m.actor[thread].state == FREED) {
            act(&m, thread);
        }
    }
}
