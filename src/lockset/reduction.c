/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offline reduction: Wang and Stoller, Runtime Analysis of Atomicity for Multithreaded Programs,
 * IEEE TSE 32(2), 2006, sections 5.3 to 5.6, theorem 2.
 *
 * A set of transactions is atomic if it can't deadlock and each of them has the form
 *
 *     (R + AcqA*Rel)* N? (L + AcqA*Rel)*      with both-movers anywhere
 *
 * R: takes a lock; L: releases one; N: an access that may race; AcqA*Rel: a section in which only
 * variables without contacts are accessed (race_test.h), which may move as a whole, as the lock
 * then orders nothing there. As against the online engine (atomizer.c), what moves is judged by
 * the whole trace; so transactions have to be kept until its end, each shape of them once.
 *
 * The paper prints N*, and means at most one: with two, x := x + 1 without a lock would be atomic.
 */
#include "lockset/reduction.h"

#include <assert.h>
#include <string.h>

static struct tms_reduction_running *find_running(struct tms_reduction *r, uint32_t thread)
{
    bool room = RESERVE(r, &r->running, &r->running_capacity, thread + UINT64_C(1));

    return room ? &r->running[thread] : NULL;
}

/* ---- transactions ----------------------------------------------------------------------- */

static void end_transaction(struct tms_reduction *r, struct tms_reduction_running *running)
{
    r->transactions++;
    if (running->item_count + running->section_count > 0 && tms_rd_spell(r, running)) {
        tms_rd_judge(r, running);
    }
}

static void on_begin(void *state, const struct tms_op *op)
{
    struct tms_reduction *r = state;
    struct tms_reduction_running *running = find_running(r, op->thread);

    if (running != NULL) {
        running->name =
            (struct tms_transaction){op->event, op->thread, op->target, op->location, false};
        running->active = true;
        tms_rd_start(running);
    }
}

/* A split goes on in the blocks that are open; a headless transaction is called after the first. */
static void on_end(void *state, const struct tms_op *op)
{
    struct tms_reduction *r = state;
    struct tms_reduction_running *running = find_running(r, op->thread);

    if (running == NULL || !running->active) {
        return;
    }
    end_transaction(r, running);
    running->active = false;
    if ((op->flags & TMS_OP_SYNTHETIC) == 0) {
        running->nested_count = 0;
        tms_rd_link_nested(running);
    } else if (running->headless) {
        tms_rd_start(running);
        running->nested_count--;
        memmove(running->nested, running->nested + 1,
                running->nested_count * sizeof(*running->nested));
        tms_rd_link_nested(running);
    }
    running->headless = false;
}

/* Fork, join and barriers are in no transaction: what is before and after them are two. */
static void on_boundary(void *state, const struct tms_op *op)
{
    struct tms_reduction *r = state;
    struct tms_reduction_running *running = find_running(r, op->thread);

    tms_movers_follow(&r->movers, op);
    if (running != NULL && running->active) {
        end_transaction(r, running);
        tms_rd_start(running);
    }
}

/* ---- operations ------------------------------------------------------------------------- */

static void on_acquire(void *state, const struct tms_op *op)
{
    struct tms_reduction *r = state;
    struct tms_reduction_running *running = find_running(r, op->thread);

    enum tms_mover mover = tms_movers_lock(&r->movers, op);
    if (running != NULL && running->active && mover != TMS_LEFT_OUT) {
        tms_rd_acquire(r, running, op);
    }
}

static void on_release(void *state, const struct tms_op *op)
{
    struct tms_reduction *r = state;
    struct tms_reduction_running *running = find_running(r, op->thread);

    enum tms_mover mover = tms_movers_lock(&r->movers, op);
    if (running != NULL && running->active && mover != TMS_LEFT_OUT) {
        tms_rd_release(r, running, op);
    }
}

static void on_access(void *state, const struct tms_op *op)
{
    struct tms_reduction *r = state;
    struct tms_reduction_running *running = find_running(r, op->thread);
    enum tms_mover mover = tms_movers_access(&r->movers, op);

    r->accesses++;
    r->left_out += mover == TMS_LEFT_OUT;
    if (running != NULL && running->active && mover != TMS_LEFT_OUT) {
        tms_rd_access(r, running, op);
    }
}

static void on_nesting(void *state, const struct tms_op *op)
{
    struct tms_reduction *r = state;
    struct tms_reduction_running *running = find_running(r, op->thread);

    if (running == NULL) {
        return;
    }
    if (op->kind == TMS_OP_NEST) {
        tms_rd_nest(r, running, op);
    } else {
        tms_rd_unnest(running, op);
    }
}

static void on_other(void *state, const struct tms_op *op)
{
    struct tms_reduction *r = state;

    tms_movers_follow(&r->movers, op);
}

/* ---- the engine ------------------------------------------------------------------------- */

static int create(void *state, struct tms_host *host)
{
    struct tms_reduction *r = state;
    enum tms_race_test test = host->settings->race_test;

    r->host = host;
    int code =
        tms_movers_init(&r->movers, host, test == TMS_RACE_DEFAULT ? TMS_RACE_MULTILOCKSET : test);
    return code == TMS_OK ? tms_locksets_init(&r->contents, host) : code;
}

static void finish(void *state)
{
    struct tms_reduction *r = state;

    for (size_t i = 0; i < r->running_capacity && r->host->failed == TMS_OK; i++) {
        if (r->running[i].active) {
            end_transaction(r, &r->running[i]);
        }
    }
    tms_rd_judge_kept(r);
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct tms_reduction *r = state;
    const struct tms_counter all[] = {
        {"transactions", "judged", r->transactions},
        {"shapes", "distinct transactions kept to the end", r->shape_count},
        {"tokens", "operations kept of them", r->token_count},
        {"accesses", "to variables", r->accesses},
        {"left-out", "accesses before the variable escaped", r->left_out},
    };

    TMS_COUNTERS_PUT(counters, all);
    tms_movers_stats(&r->movers, counters);
}

static void destroy(void *state)
{
    struct tms_reduction *r = state;
    struct tms_memory *memory = &r->host->memory;

    for (size_t i = 0; i < r->running_capacity; i++) {
        tms_rd_clear_running(r, &r->running[i]);
    }
    tms_release(memory, r->running, r->running_capacity, sizeof(*r->running));
    tms_release(memory, r->word, r->word_capacity, sizeof(*r->word));
    tms_rd_clear_shapes(r);
    tms_locksets_clear(&r->contents);
    tms_movers_clear(&r->movers);
}

const struct tms_engine tms_engine_reduction = {
    .info =
        {
            .name = "reduction",
            .summary =
                "offline reduction (Lipton): the same over the whole trace, fewer false alarms",
            .paper = "Wang and Stoller, Runtime Analysis of Atomicity for Multithreaded Programs, "
                     "TSE 2006, section 5, theorem 2",
            .guarantee = "potential. Another schedule may cut a reported block apart, or none may. "
                         "Without a finding, no schedule of these events cuts a block apart, "
                         "provided that none deadlocks and all escapes are known.",
            .reports = "at the end of the trace",
            .time = "O(1) per event, O(b log b) per transaction (b: distinct operations in it)",
            .memory = "76 B per variable, 24 B per operation of each distinct transaction",
            .flags = TMS_ENGINE_PREDICTIVE | TMS_ENGINE_BLAMES_SOME,
            .found = TMS_VERDICT_POTENTIAL,
            .clean = TMS_VERDICT_NONE_POTENTIAL,
        },
    .state_size = sizeof(struct tms_reduction),
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
            [TMS_OP_ACQUIRE] = on_acquire,
            [TMS_OP_RELEASE] = on_release,
            [TMS_OP_SHARED_ACQUIRE] = on_acquire,
            [TMS_OP_SHARED_RELEASE] = on_release,
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
