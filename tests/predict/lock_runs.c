/* SPDX-License-Identifier: Apache-2.0 */
/* Random runs and their other schedules; lock_runs.h says which. */
#include "lock_runs.h"

#include <stdio.h>
#include <stdlib.h>

#include "differential/trace.h"

/* ---- random runs ------------------------------------------------------------------------ */

struct maker {
    uint64_t random;
    struct tms_run *run;
    enum tms_run_hold holds[TMS_RUN_THREADS][TMS_RUN_LOCKS];
    bool there[TMS_RUN_THREADS], over[TMS_RUN_THREADS];
    unsigned forker[TMS_RUN_THREADS], threads, done[TMS_RUN_THREADS];
    bool shares;
};

static unsigned below(struct maker *m, unsigned bound)
{
    return tms_random_below(&m->random, bound);
}

static void emit(struct maker *m, unsigned thread, enum tms_event_kind kind, unsigned target)
{
    struct tms_run *run = m->run;

    run->step[thread][run->length[thread]++] = run->count;
    run->thread[run->count] = thread;
    run->kind[run->count] = kind;
    run->target[run->count++] = target;
    m->done[thread]++;
}

static bool is_free(const struct maker *m, unsigned lock, bool shared)
{
    for (unsigned t = 0; t < m->threads; t++) {
        if (m->holds[t][lock] == TMS_RUN_EXCLUSIVE ||
            (m->holds[t][lock] == TMS_RUN_SHARED && !shared)) {
            return false;
        }
    }
    return true;
}

static void take_or_give(struct maker *m, unsigned t)
{
    unsigned lock = below(m, TMS_RUN_LOCKS);
    bool shared = m->shares && below(m, 3) == 0;

    if (m->holds[t][lock] != TMS_RUN_FREE) {
        emit(m, t,
             m->holds[t][lock] == TMS_RUN_SHARED ? TMS_EVENT_SHARED_RELEASE : TMS_EVENT_RELEASE,
             lock);
        m->holds[t][lock] = TMS_RUN_FREE;
    } else if (is_free(m, lock, shared)) {
        emit(m, t, shared ? TMS_EVENT_SHARED_ACQUIRE : TMS_EVENT_ACQUIRE, lock);
        m->holds[t][lock] = shared ? TMS_RUN_SHARED : TMS_RUN_EXCLUSIVE;
    }
}

static void fork_one(struct maker *m, unsigned t)
{
    for (unsigned u = 0; u < m->threads; u++) {
        if (!m->there[u]) {
            m->there[u] = m->run->forked[u] = true;
            m->forker[u] = t;
            emit(m, t, TMS_EVENT_FORK, u);
            return;
        }
    }
}

/* Joins a thread that has ended, by the one that forked it. */
static void join_one(struct maker *m, unsigned t)
{
    for (unsigned u = 1; u < m->threads; u++) {
        if (m->run->forked[u] && m->forker[u] == t && m->over[u] && m->there[u]) {
            m->forker[u] = TMS_RUN_THREADS;
            emit(m, t, TMS_EVENT_JOIN, u);
            return;
        }
    }
}

/* A thread that has made all its steps releases its locks, one by one, and ends. */
static void step(struct maker *m, unsigned t)
{
    unsigned choice = below(m, 10);

    if (m->done[t] < TMS_RUN_STEPS && choice < 8) {
        take_or_give(m, t);
    } else if (m->done[t] < TMS_RUN_STEPS && choice == 8) {
        fork_one(m, t);
    } else if (m->done[t] < TMS_RUN_STEPS) {
        join_one(m, t);
    } else {
        unsigned held = 0;
        while (held < TMS_RUN_LOCKS && m->holds[t][held] == TMS_RUN_FREE) {
            held++;
        }
        m->over[t] = held == TMS_RUN_LOCKS;
        if (held < TMS_RUN_LOCKS) {
            emit(m, t,
                 m->holds[t][held] == TMS_RUN_SHARED ? TMS_EVENT_SHARED_RELEASE : TMS_EVENT_RELEASE,
                 held);
            m->holds[t][held] = TMS_RUN_FREE;
        }
    }
}

static bool all_over(const struct maker *m)
{
    for (unsigned t = 0; t < m->threads; t++) {
        if (m->there[t] && !m->over[t]) {
            return false;
        }
    }
    return true;
}

/* Sometimes one that is not going to end: then it is made again, with more of the same seed. */
void tms_run_make(uint64_t seed, struct tms_run *run)
{
    struct maker m;
    uint64_t random = seed;

    do {
        unsigned roots;
        *run = (struct tms_run){0};
        m = (struct maker){.random = tms_random(&random), .run = run};
        m.threads = 2 + below(&m, TMS_RUN_THREADS - 1);
        m.shares = below(&m, 4) == 0;
        roots = 1 + below(&m, m.threads);
        for (unsigned t = 0; t < roots; t++) {
            m.there[t] = true;
        }
        for (unsigned tries = 0; tries < 400 && !all_over(&m); tries++) {
            unsigned t = below(&m, m.threads);
            m.done[t] +=
                below(&m, 6) == 0 && m.done[t] < TMS_RUN_STEPS; /* not all are equally long */
            if (m.there[t] && !m.over[t]) {
                step(&m, t);
            }
        }
    } while (!all_over(&m));
}

/* ---- all schedules ---------------------------------------------------------------------- */

struct world {
    const struct tms_run *run;
    bool *seen;
    struct tms_run_state *todo; /* states still to be expanded */
    size_t todo_count, states;
};

enum tms_run_hold tms_run_hold_at(const struct tms_run *run, unsigned thread, size_t at,
                                  unsigned lock)
{
    enum tms_run_hold hold = TMS_RUN_FREE;

    for (size_t i = 0; i < at; i++) {
        size_t event = run->step[thread][i];
        if (run->target[event] != lock) {
            continue;
        }
        switch (run->kind[event]) {
        case TMS_EVENT_ACQUIRE:
            hold = TMS_RUN_EXCLUSIVE;
            break;
        case TMS_EVENT_SHARED_ACQUIRE:
            hold = TMS_RUN_SHARED;
            break;
        case TMS_EVENT_RELEASE:
        case TMS_EVENT_SHARED_RELEASE:
            hold = TMS_RUN_FREE;
            break;
        default:
            break;
        }
    }
    return hold;
}

bool tms_run_was_forked(const struct tms_run *run, const struct tms_run_state *state,
                        unsigned thread)
{
    for (unsigned t = 0; t < TMS_RUN_THREADS; t++) {
        for (size_t i = 0; i < state->at[t]; i++) {
            size_t event = run->step[t][i];
            if (run->kind[event] == TMS_EVENT_FORK && run->target[event] == thread) {
                return true;
            }
        }
    }
    return !run->forked[thread];
}

static bool can_take(const struct tms_run *run, const struct tms_run_state *state, unsigned thread,
                     unsigned lock, bool shared)
{
    for (unsigned t = 0; t < TMS_RUN_THREADS; t++) {
        enum tms_run_hold hold = tms_run_hold_at(run, t, state->at[t], lock);
        if (t != thread && (hold == TMS_RUN_EXCLUSIVE || (hold == TMS_RUN_SHARED && !shared))) {
            return false;
        }
    }
    return true;
}

bool tms_run_is_through(const struct tms_run *run, const struct tms_run_state *state,
                        unsigned thread)
{
    return state->at[thread] == run->length[thread];
}

bool tms_run_can_step(const struct tms_run *run, const struct tms_run_state *state, unsigned thread)
{
    if (tms_run_is_through(run, state, thread) || !tms_run_was_forked(run, state, thread)) {
        return false;
    }
    size_t event = run->step[thread][state->at[thread]];
    switch (run->kind[event]) {
    case TMS_EVENT_ACQUIRE:
    case TMS_EVENT_SHARED_ACQUIRE:
        return can_take(run, state, thread, run->target[event],
                        run->kind[event] == TMS_EVENT_SHARED_ACQUIRE);
    case TMS_EVENT_JOIN:
        return tms_run_is_through(run, state, run->target[event]);
    default:
        return true;
    }
}

static size_t number_of(const struct tms_run *run, const struct tms_run_state *state)
{
    size_t number = 0;

    for (unsigned t = 0; t < TMS_RUN_THREADS; t++) {
        number = number * (run->length[t] + 1) + state->at[t];
    }
    return number;
}

static void come_to(struct world *world, const struct tms_run_state *state)
{
    size_t number = number_of(world->run, state);

    if (!world->seen[number]) {
        world->seen[number] = true;
        world->todo[world->todo_count++] = *state;
    }
}

void tms_run_explore(const struct tms_run *run, tms_run_visit *visit, void *user)
{
    struct world world = {.run = run, .states = 1};
    struct tms_run_state start = {0};

    for (unsigned t = 0; t < TMS_RUN_THREADS; t++) {
        world.states *= run->length[t] + 1;
    }
    world.seen = calloc(world.states, sizeof(*world.seen));
    world.todo = calloc(world.states, sizeof(*world.todo));
    if (world.seen == NULL || world.todo == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    come_to(&world, &start);
    while (world.todo_count > 0) {
        struct tms_run_state state = world.todo[--world.todo_count];
        bool stuck = true;
        for (unsigned t = 0; t < TMS_RUN_THREADS; t++) {
            if (tms_run_can_step(world.run, &state, t)) {
                struct tms_run_state next = state;
                next.at[t]++;
                stuck = false;
                come_to(&world, &next);
            }
        }
        visit(user, &state, stuck);
    }
    free(world.seen);
    free(world.todo);
}
