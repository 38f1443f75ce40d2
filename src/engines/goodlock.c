/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goodlock: could the threads of this run have come to wait for each other for ever?
 *
 * As in L. Wang and S. D. Stoller, Runtime analysis of atomicity for multithreaded programs, IEEE
 * TSE 32(2), 2006, section 2, which extends the algorithm of K. Havelund (SPIN 2000): two threads
 * take two locks in opposite orders, in periods that may happen in parallel, and no third lock,
 * held around both, keeps them apart. Here cycles may have any number of threads.
 *
 * While the trace is read, each acquire is noted as a request: the thread, the locks that it held,
 * the lock that it wanted, and the period. At the end requests are chained: one wants a lock that
 * the next one holds. A chain that closes is a potential deadlock if
 *   - its threads are different;
 *   - no two of them hold the same lock, unless both share it: a gate lock, and what no two threads
 *     can hold at a time anyway;
 *   - its periods are pairwise parallel.
 * A shared acquire does not wait for shared holders.
 *
 * Beyond the paper: a join waits too, for the end of a thread. It is a request for something that
 * the thread holds as long as it lives, so a thread that joins another one while it holds a lock
 * which that one still wants is found as well.
 *
 * If the order and the outcome of everything else did not matter, these are exactly the states in
 * which threads wait for each other. Whether such a state can be reached is not asked: so a report
 * may be a false alarm, and silence is good for locks and joins, as far as this run went into them.
 * Not seen are threads that wait for each other by barriers, condition variables, semaphores or
 * plain loops.
 */
#include "engines/goodlock.h"

#include <assert.h>
#include <string.h>

#define LEAST 64

static bool fail_memory(struct tms_goodlock *g)
{
    tms_host_fail(g->host, TMS_ERR_MEMORY);
    return false;
}

struct tms_goodlock_thread *tms_goodlock_thread(struct tms_goodlock *g, uint32_t id)
{
    if (!TMS_RESERVE(&g->host->memory, &g->threads, &g->thread_capacity, (size_t)id + 1, LEAST)) {
        fail_memory(g);
        return NULL;
    }
    return &g->threads[id];
}

static struct tms_goodlock_taking taking_of(const struct tms_goodlock_thread *t,
                                            const struct tms_op *op)
{
    const struct tms_transaction unary = {op->event, op->thread, 0, op->location, true};

    return (struct tms_goodlock_taking){
        .event = op->event,
        .transaction = t->in_block ? t->block : unary,
        .target = op->target,
        .location = op->location,
        .kind = op->event_kind,
    };
}

/* ---- requests --------------------------------------------------------------------------- */

static uint64_t hash(const struct tms_goodlock_request *request)
{
    uint64_t held = (uint64_t)request->held.any << 32 | request->held.exclusive;
    uint64_t word = tms_mix(tms_hash(request->thread), held);

    return tms_mix(word, (uint64_t)request->wanted << 1 | request->shared);
}

static bool same(const struct tms_goodlock_request *a, const struct tms_goodlock_request *b)
{
    return a->thread == b->thread && a->wanted == b->wanted && a->shared == b->shared &&
           a->held.any == b->held.any && a->held.exclusive == b->held.exclusive;
}

/* 1 + the place of the request, 0: it is new. */
static uint32_t find(const struct tms_goodlock *g, const struct tms_goodlock_request *request)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&g->index, hash(request), &walk);

    while (found != 0 && !same(&g->requests[found - 1], request)) {
        found = tms_hash_next(&walk);
    }
    return found;
}

/* The request of this kind, made if it is new; NULL when memory is short. */
static struct tms_goodlock_request *request_like(struct tms_goodlock *g,
                                                 const struct tms_goodlock_request *wanted)
{
    uint32_t found = find(g, wanted);

    if (found == 0) {
        found = (uint32_t)g->request_count + 1;
        if (!TMS_RESERVE(&g->host->memory, &g->requests, &g->request_capacity, found, LEAST) ||
            !tms_hashtable_add(&g->index, &g->host->memory, hash(wanted), found)) {
            fail_memory(g);
            return NULL;
        }
        g->requests[g->request_count++] = *wanted;
    }
    return &g->requests[found - 1];
}

static void add_moment(struct tms_goodlock *g, struct tms_goodlock_request *request,
                       const struct tms_goodlock_thread *t, const struct tms_goodlock_taking *wants,
                       uint32_t period)
{
    if (!TMS_RESERVE(&g->host->memory, &g->moments, &g->moment_capacity, g->moment_count + 1,
                     LEAST) ||
        !TMS_RESERVE(&g->host->memory, &g->holds, &g->hold_capacity, g->hold_count + t->hold_count,
                     LEAST)) {
        fail_memory(g);
        return;
    }
    g->moments[g->moment_count] = (struct tms_goodlock_moment){
        .wants = *wants,
        .period = period,
        .next = NONE,
        .holds = g->hold_count,
        .held = (uint32_t)t->hold_count,
    };
    if (t->hold_count > 0) {
        memcpy(&g->holds[g->hold_count], t->holds, t->hold_count * sizeof(*t->holds));
        g->hold_count += t->hold_count;
    }
    uint32_t moment = (uint32_t)g->moment_count++;
    if (request->first == NONE) {
        request->first = moment;
    } else {
        g->moments[request->last].next = moment;
    }
    request->last = moment;
}

/* Periods of a thread come one after the other, so only the last moment can be of this one. */
void tms_goodlock_note(struct tms_goodlock *g, const struct tms_goodlock_request *like,
                       const struct tms_goodlock_thread *t, const struct tms_goodlock_taking *wants,
                       uint32_t period)
{
    struct tms_goodlock_request *request = request_like(g, like);

    if (request != NULL && (request->last == NONE || g->moments[request->last].period != period)) {
        add_moment(g, request, t, wants, period);
    }
}

static void note_request(struct tms_goodlock *g, const struct tms_goodlock_thread *t,
                         const struct tms_op *op, uint32_t wanted)
{
    const struct tms_goodlock_request like = {
        .thread = op->thread,
        .held = t->held,
        .wanted = wanted,
        .shared = op->kind == TMS_OP_SHARED_ACQUIRE,
        .first = NONE,
        .last = NONE,
    };
    const struct tms_goodlock_taking wants = taking_of(t, op);

    tms_goodlock_note(g, &like, t, &wants, tms_period_of(&g->periods, op->thread));
}

/* ---- operations ------------------------------------------------------------------------- */

static void on_acquire(void *state, const struct tms_op *op)
{
    struct tms_goodlock *g = state;
    struct tms_goodlock_thread *t = tms_goodlock_thread(g, op->thread);

    if (t == NULL || tms_held_full(&g->sets, t->held)) {
        return;
    }
    note_request(g, t, op, resource_of_lock(op->target));
    if (!TMS_RESERVE(&g->host->memory, &t->holds, &t->hold_capacity, t->hold_count + 1, 4)) {
        fail_memory(g);
        return;
    }
    t->holds[t->hold_count++] = taking_of(t, op);
    tms_held_follow(&g->sets, &t->held, op);
}

static void on_release(void *state, const struct tms_op *op)
{
    struct tms_goodlock *g = state;
    struct tms_goodlock_thread *t = tms_goodlock_thread(g, op->thread);
    size_t at = t == NULL ? 0 : t->hold_count;

    while (at > 0 && t->holds[at - 1].target != op->target) {
        at--;
    }
    if (at == 0) {
        return;
    }
    memmove(&t->holds[at - 1], &t->holds[at], (t->hold_count - at) * sizeof(*t->holds));
    t->hold_count--;
    tms_held_follow(&g->sets, &t->held, op);
}

static void on_fork_or_barrier(void *state, const struct tms_op *op)
{
    struct tms_goodlock *g = state;

    tms_periods_follow(&g->periods, op);
}

/* The period that the join ends is the one in which the thread waits. */
static void on_join(void *state, const struct tms_op *op)
{
    struct tms_goodlock *g = state;
    const struct tms_goodlock_thread *t = tms_goodlock_thread(g, op->thread);

    if (t != NULL) {
        note_request(g, t, op, resource_of_end(op->target));
        tms_periods_follow(&g->periods, op);
    }
}

static void on_begin(void *state, const struct tms_op *op)
{
    struct tms_goodlock_thread *t = tms_goodlock_thread(state, op->thread);

    if (t != NULL) {
        t->block = (struct tms_transaction){op->event, op->thread, op->target, op->location, false};
        t->in_block = true;
    }
}

static void on_end(void *state, const struct tms_op *op)
{
    struct tms_goodlock_thread *t = tms_goodlock_thread(state, op->thread);

    if (t != NULL) {
        t->in_block = false;
    }
}

/* ---- the engine ------------------------------------------------------------------------- */

static int create(void *state, struct tms_host *host)
{
    struct tms_goodlock *g = state;

    g->host = host;
    tms_periods_init(&g->periods, host);
    return tms_locksets_init(&g->sets, host);
}

static void finish(void *state)
{
    struct tms_goodlock *g = state;

    tms_goodlock_search(g);
    if (g->gave_up) {
        g->host->loss = "the search for cycles of locks was ended at its limit";
    }
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct tms_goodlock *g = state;
    const struct tms_counter kept[] = {
        {"requests", "different requests for a lock, or for the end of a thread", g->request_count},
        {"moments", "of these, by period of the thread", g->moment_count},
        {"cyclic", "requests that can be part of a cycle", g->cyclic},
        {"tried", "steps of the search for cycles", g->tried},
        {"cycles", "cycles of requests, each with its threads", g->found},
        {"gave_up", "1 if the search reached its limit", g->gave_up},
    };

    TMS_COUNTERS_PUT(counters, kept);
}

static void destroy(void *state)
{
    struct tms_goodlock *g = state;
    struct tms_memory *memory = &g->host->memory;

    for (size_t i = 0; i < g->thread_capacity; i++) {
        tms_release(memory, g->threads[i].holds, g->threads[i].hold_capacity,
                    sizeof(struct tms_goodlock_taking));
    }
    tms_release(memory, g->threads, g->thread_capacity, sizeof(*g->threads));
    tms_release(memory, g->requests, g->request_capacity, sizeof(*g->requests));
    tms_hashtable_clear(&g->index, memory);
    tms_release(memory, g->moments, g->moment_capacity, sizeof(*g->moments));
    tms_release(memory, g->holds, g->hold_capacity, sizeof(*g->holds));
    tms_release(memory, g->names, g->name_count, sizeof(*g->names));
    tms_release(memory, g->aliases, g->name_count, sizeof(*g->aliases));
    tms_locksets_clear(&g->sets);
    tms_periods_clear(&g->periods);
}

const struct tms_engine tms_engine_goodlock = {
    .info =
        {
            .name = "goodlock",
            .summary = "potential deadlocks of any number of threads, by lock order",
            .paper = "Wang, Stoller: Runtime analysis of atomicity, TSE 2006, section 2; "
                     "Havelund: GoodLock, SPIN 2000",
            .guarantee = "potential. These threads acquire locks in a cyclic order and deadlock "
                         "if some schedule interleaves them so; there may be none. Without a "
                         "finding, no reordering of the same events deadlocks by locks and joins.",
            .reports = "at the end",
            .time = "O(1) per lock operation, then a search of bounded length",
            .memory = "the distinct nestings of locks, by thread and period",
            .flags = TMS_ENGINE_WITNESS | TMS_ENGINE_PREDICTIVE | TMS_ENGINE_NO_ACCESSES,
            .found = TMS_VERDICT_POTENTIAL,
            .clean = TMS_VERDICT_NONE_POTENTIAL,
        },
    .without_blocks = true,
    .state_size = sizeof(struct tms_goodlock),
    .concurrent = true,
    .create = create,
    .on =
        {
            [TMS_OP_BEGIN] = on_begin,
            [TMS_OP_END] = on_end,
            [TMS_OP_ACQUIRE] = on_acquire,
            [TMS_OP_RELEASE] = on_release,
            [TMS_OP_SHARED_ACQUIRE] = on_acquire,
            [TMS_OP_SHARED_RELEASE] = on_release,
            [TMS_OP_FORK] = on_fork_or_barrier,
            [TMS_OP_JOIN] = on_join,
            [TMS_OP_ARRIVE] = on_fork_or_barrier,
            [TMS_OP_DEPART] = on_fork_or_barrier,
        },
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
