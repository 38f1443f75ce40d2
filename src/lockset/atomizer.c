/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Online reduction: the algorithm of Atomizer as Wang and Stoller use it in the experiments of
 * their paper (Runtime Analysis of Atomicity for Multithreaded Programs, IEEE TSE 32(2), 2006,
 * sections 5.2 and 8; theorem 1).
 *
 * A transaction is atomic if all its operations can be moved together: right movers come first,
 * then at most one non-mover, then left movers; both-movers may be anywhere. So a transaction has
 * two phases. It starts in the first, and the first operation that is no right mover, its *commit
 * point*, begins the second. An operation that is no left mover comes too late there: a potential
 * violation, reported once per transaction.
 *
 * Movers are judged by what has been seen so far (movers.h), so the result depends on the order of
 * events: an operation taken for a mover may turn out not to be one when it is too late to report.
 * The engine reduction judges at the end.
 *
 * By default as in the experiments: the race test of von Praun and Gross, with neither escape
 * analysis nor thread periods. With settings.race_test the others, and then with both as set.
 */
#include <assert.h>

#include "engine_api/engine.h"
#include "engine_api/nesting.h"
#include "lockset/movers.h"

#define LEAST_THREADS 16

struct spot {
    uint64_t event; /* 0: none */
    uint32_t target, location;
    uint8_t event_kind;
};

struct thread {
    struct tms_transaction transaction;
    struct tms_nesting nesting;
    struct spot commit; /* none: it is in its first phase */
    bool declared;      /* as a violation */
};

struct atomizer {
    struct tms_host *host;
    struct tms_movers movers;
    struct thread *threads; /* by id */
    size_t thread_capacity;
    struct tms_refuted refuted;
    uint64_t transactions, accesses, left_out, not_movers;
};

static struct thread *find_thread(struct atomizer *a, uint32_t id)
{
    if (!TMS_RESERVE(&a->host->memory, &a->threads, &a->thread_capacity, (size_t)id + 1,
                     LEAST_THREADS)) {
        tms_host_fail(a->host, TMS_ERR_MEMORY);
        return NULL;
    }
    return &a->threads[id];
}

/* ---- violations ------------------------------------------------------------------------- */

static void declare(struct atomizer *a, struct thread *thread, const struct tms_op *op)
{
    const struct spot *commit = &thread->commit;
    const struct tms_turn schedule[] = {
        {commit->event, op->thread, commit->target, commit->location, 0, commit->event_kind,
         "commit point"},
        {op->event, op->thread, op->target, op->location, 0, op->event_kind, "comes too late"},
    };

    thread->declared = true;
    if (!tms_nesting_refute(&thread->nesting, &a->host->memory, &thread->transaction, commit->event,
                            &a->refuted)) {
        tms_host_fail(a->host, TMS_ERR_MEMORY);
        return;
    }
    tms_host_first(a->host, op->event);
    tms_host_violation(a->host, &(struct tms_violation){
                                    .kind = "reduction",
                                    .evidence = TMS_EVIDENCE_POTENTIAL,
                                    .event = op->event,
                                    .thread = op->thread,
                                    .not_atomic = true,
                                    .transaction = thread->transaction,
                                    .refuted = a->refuted.block,
                                    .refuted_count = a->refuted.count,
                                    .schedule = schedule,
                                    .schedule_length = 2,
                                });
}

/* The two phases. */
static void move(struct atomizer *a, const struct tms_op *op, enum tms_mover mover)
{
    struct thread *thread = find_thread(a, op->thread);
    bool stays_left = mover == TMS_MOVES_RIGHT || mover == TMS_MOVES_NOT;
    bool stays_right = mover == TMS_MOVES_LEFT || mover == TMS_MOVES_NOT;

    if (thread == NULL || (op->flags & TMS_OP_IN_BLOCK) == 0) {
        return;
    }
    if (thread->commit.event != 0) {
        if (stays_left && !thread->declared) {
            declare(a, thread, op);
        }
    } else if (stays_right) {
        thread->commit = (struct spot){op->event, op->target, op->location, op->event_kind};
    }
}

/* ---- operations ------------------------------------------------------------------------- */

static void on_lock(void *state, const struct tms_op *op)
{
    struct atomizer *a = state;

    move(a, op, tms_movers_lock(&a->movers, op));
}

static void on_access(void *state, const struct tms_op *op)
{
    struct atomizer *a = state;
    enum tms_mover mover = tms_movers_access(&a->movers, op);

    a->accesses++;
    a->left_out += mover == TMS_LEFT_OUT;
    a->not_movers += mover == TMS_MOVES_NOT;
    move(a, op, mover);
}

static void restart(struct thread *thread)
{
    thread->commit = (struct spot){0};
    thread->declared = false;
}

static void on_begin(void *state, const struct tms_op *op)
{
    struct atomizer *a = state;
    struct thread *thread = find_thread(a, op->thread);

    if (thread != NULL) {
        thread->transaction =
            (struct tms_transaction){op->event, op->thread, op->target, op->location, false};
        restart(thread);
        a->transactions++;
    }
}

static void on_end(void *state, const struct tms_op *op)
{
    struct thread *thread = find_thread(state, op->thread);

    if (thread != NULL) {
        tms_nesting_end(&thread->nesting, op);
    }
}

static void on_nesting(void *state, const struct tms_op *op)
{
    struct atomizer *a = state;
    struct thread *thread = find_thread(a, op->thread);

    if (thread != NULL && !tms_nesting_follow(&thread->nesting, &a->host->memory, op)) {
        tms_host_fail(a->host, TMS_ERR_MEMORY);
    }
}

/* Fork, join and barriers are in no transaction: what is before and after them are two. */
static void on_boundary(void *state, const struct tms_op *op)
{
    struct atomizer *a = state;
    struct thread *thread = find_thread(a, op->thread);

    tms_movers_follow(&a->movers, op);
    if (thread != NULL) {
        restart(thread);
    }
}

static void on_other(void *state, const struct tms_op *op)
{
    struct atomizer *a = state;

    tms_movers_follow(&a->movers, op);
}

/* ---- the engine ------------------------------------------------------------------------- */

static int create(void *state, struct tms_host *host)
{
    struct atomizer *a = state;
    enum tms_race_test test = host->settings->race_test;
    bool published = test == TMS_RACE_DEFAULT;

    a->host = host;
    int code = tms_movers_init(&a->movers, host, published ? TMS_RACE_PRAUN_GROSS : test);
    if (published) {
        a->movers.periods.off = true;
        a->movers.escapes.when = TMS_ESCAPE_OFF;
    }
    return code;
}

static void finish(void *state)
{
    (void)state;
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct atomizer *a = state;
    const struct tms_counter all[] = {
        {"transactions", "judged", a->transactions},
        {"accesses", "to variables", a->accesses},
        {"left-out", "accesses before the variable escaped", a->left_out},
        {"non-movers", "accesses that may race", a->not_movers},
    };

    TMS_COUNTERS_PUT(counters, all);
    tms_movers_stats(&a->movers, counters);
}

static void destroy(void *state)
{
    struct atomizer *a = state;
    struct tms_memory *memory = &a->host->memory;

    for (size_t i = 0; i < a->thread_capacity; i++) {
        tms_nesting_clear(&a->threads[i].nesting, memory);
    }
    tms_release(memory, a->threads, a->thread_capacity, sizeof(*a->threads));
    tms_refuted_clear(&a->refuted, memory);
    tms_movers_clear(&a->movers);
}

const struct tms_engine tms_engine_atomizer = {
    .info =
        {
            .name = "atomizer",
            .summary = "online reduction (Lipton): left and right movers, by locksets",
            .paper = "Wang and Stoller, Runtime Analysis of Atomicity for Multithreaded Programs, "
                     "TSE 2006, sections 5.2 and 8, after Flanagan and Freund, Atomizer, POPL 2004",
            .guarantee = "potential. Another schedule may cut a reported block apart, or none may; "
                         "a block that is not reported may be cut apart, too.",
            .reports = "at the operation that can't be moved",
            .time = "O(1) per event, O(k) at worst (k: threads)",
            .memory = "76 B per variable, 12 B per lock, the distinct locksets",
            .flags = TMS_ENGINE_PREDICTIVE | TMS_ENGINE_BOUNDED | TMS_ENGINE_BLAMES_SOME,
            .found = TMS_VERDICT_POTENTIAL,
            .clean = TMS_VERDICT_NONE_POTENTIAL,
        },
    .state_size = sizeof(struct atomizer),
    .create = create,
    .on =
        {
            [TMS_OP_BEGIN] = on_begin,
            [TMS_OP_END] = on_end,
            [TMS_OP_NEST] = on_nesting,
            [TMS_OP_UNNEST] = on_nesting,
            [TMS_OP_READ] = on_access,
            [TMS_OP_WRITE] = on_access,
            [TMS_OP_UPDATE] = on_access,
            [TMS_OP_ACQUIRE] = on_lock,
            [TMS_OP_RELEASE] = on_lock,
            [TMS_OP_SHARED_ACQUIRE] = on_lock,
            [TMS_OP_SHARED_RELEASE] = on_lock,
            [TMS_OP_FORK] = on_boundary,
            [TMS_OP_JOIN] = on_boundary,
            [TMS_OP_ARRIVE] = on_boundary,
            [TMS_OP_DEPART] = on_boundary,
            [TMS_OP_STEP] = on_other,
            [TMS_OP_ESCAPE] = on_other,
            [TMS_OP_FORGET] = on_other,
        },
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
