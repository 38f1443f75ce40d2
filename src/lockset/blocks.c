/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block-based algorithm of L. Wang and S. D. Stoller: Runtime Analysis of Atomicity for
 * Multithreaded Programs, IEEE TSE 32(2), 2006, section 6.
 *
 * It asks whether the events of this run, in another order that locks, fork, join and barriers
 * allow, could make a trace that no serial order explains. A pair of operations of a transaction,
 * with the locks held at them and between them, is a *block*; an operation of another transaction
 * can come between the two if it holds none of the locks that are held all the way, and if the
 * two periods are parallel. Four patterns on one variable can then not be serialized (6.1): R W R,
 * W W R, W R W, and R W W if the W in the middle is the last write of its transaction. With two
 * variables it is two pairs of conflicting operations in opposite order (6.2), with more a cycle
 * of conflicts (6.3).
 *
 * 1v-blocks come from rule (a): each access with the last write before it in its transaction, or if
 * there is none with the last read; and rule (b): each final write with the initial reads. Of
 * these the last is enough, as rule (a) has each of the others with the next. Everything is
 * interned when it is seen, so a transaction that repeats another costs a lookup per access, and
 * no memory. Flows, which the larger theorems need, are written down as the transaction runs and
 * interned at its end.
 *
 * An atomic read-modify-write is a read and a write with nothing between them. As in the paper,
 * a transaction ends at fork, join and barrier, and goes on as another one of the same name.
 */
#include "lockset/blocks.h"

/* NULL when memory is short, and the host knows. */
static struct tms_blocks_thread *thread_of(struct tms_blocks_engine *b, uint32_t id)
{
    return RESERVE(b, &b->threads, &b->thread_capacity, (size_t)id + 1) ? &b->threads[id] : NULL;
}

/* ---- operations ------------------------------------------------------------------------ */

static void on_access(void *state, const struct tms_op *op)
{
    struct tms_blocks_engine *b = state;
    struct tms_blocks_thread *thread = thread_of(b, op->thread);

    if (thread == NULL || !tms_escaped(&b->escapes, op)) {
        return;
    }
    if (op->flags & TMS_OP_IN_BLOCK) {
        tms_blocks_access(b, thread, op);
        return;
    }
    thread->name = (struct tms_transaction){
        .begin_event = op->event, .thread = op->thread, .location = op->location, .unary = true};
    tms_blocks_start(b, thread);
    tms_blocks_access(b, thread, op);
    tms_blocks_end(b, thread);
}

static void on_begin(void *state, const struct tms_op *op)
{
    struct tms_blocks_engine *b = state;
    struct tms_blocks_thread *thread = thread_of(b, op->thread);

    tms_blocks_follow_deadlocks(b, op);
    if (thread != NULL) {
        thread->name = (struct tms_transaction){.begin_event = op->event,
                                                .thread = op->thread,
                                                .label = op->target,
                                                .location = op->location};
        tms_blocks_start(b, thread);
    }
}

static void on_end(void *state, const struct tms_op *op)
{
    struct tms_blocks_engine *b = state;
    struct tms_blocks_thread *thread = &b->threads[op->thread];

    tms_blocks_follow_deadlocks(b, op);
    tms_blocks_end(b, thread);
    tms_nesting_end(&thread->nesting, op);
}

static void on_nest(void *state, const struct tms_op *op)
{
    struct tms_blocks_engine *b = state;
    struct tms_blocks_thread *thread = &b->threads[op->thread];

    if (!tms_nesting_follow(&thread->nesting, b->memory, op)) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
    } else if (tms_blocks_wants_flows(b)) {
        tms_blocks_log_op(b, thread, op->kind == TMS_OP_NEST ? ITEM_NEST : ITEM_UNNEST, op);
    }
}

static void on_acquire(void *state, const struct tms_op *op)
{
    struct tms_blocks_engine *b = state;
    struct tms_blocks_thread *thread = thread_of(b, op->thread);

    tms_blocks_follow_deadlocks(b, op);
    if (thread == NULL ||
        !RESERVE(b, &thread->holds, &thread->hold_capacity, thread->hold_count + 1)) {
        return;
    }
    struct tms_held held = tms_blocks_held_now(thread);
    if (!tms_held_follow(&b->locksets, &held, op)) {
        return;
    }
    thread->holds[thread->hold_count++] =
        (struct tms_blocks_hold){op->event, op->target, op->kind == TMS_OP_SHARED_ACQUIRE, held};
    if (tms_blocks_wants_flows(b) && (op->flags & TMS_OP_IN_BLOCK)) {
        tms_blocks_log_op(b, thread, ITEM_ACQUIRE, op);
    }
}

/* What was taken after the lock is now held with one less below it. */
static void drop_hold(struct tms_blocks_engine *b, struct tms_blocks_thread *thread, size_t at,
                      const struct tms_op *op)
{
    thread->hold_count--;
    for (size_t i = at; i < thread->hold_count; i++) {
        thread->holds[i] = thread->holds[i + 1];
        tms_held_follow(&b->locksets, &thread->holds[i].held, op);
    }
}

static void on_release(void *state, const struct tms_op *op)
{
    struct tms_blocks_engine *b = state;
    struct tms_blocks_thread *thread = thread_of(b, op->thread);
    size_t at = thread != NULL ? thread->hold_count : 0;

    tms_blocks_follow_deadlocks(b, op);
    while (at > 0 && thread->holds[at - 1].lock != op->target) {
        at--;
    }
    if (at == 0) {
        return;
    }
    drop_hold(b, thread, at - 1, op);
    if (tms_blocks_wants_flows(b) && (op->flags & TMS_OP_IN_BLOCK)) {
        tms_blocks_log_op(b, thread, ITEM_RELEASE, op);
    }
}

/* Fork, join and barrier cut a block, whatever the settings say. */
static void on_period(void *state, const struct tms_op *op)
{
    struct tms_blocks_engine *b = state;
    struct tms_blocks_thread *thread = thread_of(b, op->thread);
    bool inside = op->flags & TMS_OP_IN_BLOCK;

    tms_blocks_follow_deadlocks(b, op);
    if (thread != NULL && inside) {
        tms_blocks_end(b, thread);
    }
    tms_periods_follow(&b->periods, op);
    if (thread != NULL && inside) {
        tms_blocks_start(b, thread);
    }
}

static void on_object(void *state, const struct tms_op *op)
{
    struct tms_blocks_engine *b = state;

    tms_escapes_follow(&b->escapes, op);
}

static void on_forget(void *state, const struct tms_op *op)
{
    struct tms_blocks_engine *b = state;

    tms_escapes_follow(&b->escapes, op);
    if (op->target < b->cell_of_capacity) {
        b->cell_of[op->target] = 0;
    }
}

/* ---- the engine ------------------------------------------------------------------------ */

static int create(void *state, struct tms_host *host)
{
    struct tms_blocks_engine *b = state;

    b->host = host;
    b->memory = &host->memory;
    b->cell_count = b->transaction_count = 1; /* 0 is none */
    tms_periods_init(&b->periods, host);
    tms_escapes_init(&b->escapes, host);
    tms_intern_table_init(&b->classes, b->memory, sizeof(struct tms_blocks_class),
                          sizeof(struct tms_blocks_class_key));
    tms_intern_table_init(&b->uses, b->memory, sizeof(struct tms_blocks_use),
                          sizeof(struct tms_blocks_use_key));
    tms_intern_table_init(&b->flows, b->memory, sizeof(struct tms_blocks_flow),
                          sizeof(struct tms_blocks_flow_key));
    bool room =
        tms_locksets_init(&b->locksets, host) == TMS_OK && tms_blocks_watch_deadlocks(b) == TMS_OK;
    return room ? TMS_OK : tms_fail_memory(host->context);
}

static void compare(struct tms_blocks_engine *b)
{
    enum tms_blocks theorem = b->host->settings->blocks;

    tms_blocks_find_deadlocks(b);
    tms_blocks_mark_points(b);
    if (!b->host->failed) {
        tms_blocks_compare_one(b);
    }
    if (!b->host->failed && theorem != TMS_BLOCKS_1V) {
        tms_blocks_compare_two(b);
    }
    if (!b->host->failed && theorem == TMS_BLOCKS_FULL) {
        tms_blocks_compare_full(b);
    }
}

/* Blocks that are open end here. */
static void finish(void *state)
{
    struct tms_blocks_engine *b = state;

    for (size_t i = 0; i < b->thread_capacity && !b->host->failed; i++) {
        tms_blocks_end(b, &b->threads[i]);
    }
    if (!b->host->failed) {
        compare(b);
    }
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct tms_blocks_engine *b = state;
    const struct tms_counter kept[] = {
        {"windows", "pairs of operations on one variable, with locks, period and label",
         b->seen.windows},
        {"points", "operations that could come between, with locks and period", b->seen.points},
        {"classes", "windows and points, those that differ in period or label as one",
         tms_intern_table_count(&b->classes)},
        {"known", "windows and points seen again, which cost nothing more", b->seen.known},
        {"compared", "searches for a point in a period parallel to that of a pair",
         b->seen.compared},
        {"flows", "distinct transactions, kept for what involves more than one variable",
         tms_intern_table_count(&b->flows)},
        {"two_blocks", "pairs of operations on two variables that had to be compared",
         b->seen.twos},
        {"two_steps", "steps it took to find and compare them", b->seen.pair_steps},
        {"cycle_steps", "steps of the search for longer cycles", b->seen.cycle_steps},
        {"deadlocks", "potential deadlocks", b->deadlocks},
        {"gave_up", "1: not everything was looked at", b->host->loss != NULL},
    };

    TMS_COUNTERS_PUT(counters, kept);
}

static void clear_thread(struct tms_blocks_engine *b, struct tms_blocks_thread *thread)
{
    tms_nesting_clear(&thread->nesting, b->memory);
    tms_release(b->memory, thread->holds, thread->hold_capacity, sizeof(*thread->holds));
    tms_release(b->memory, thread->touches, thread->touch_capacity, sizeof(*thread->touches));
    tms_hashtable_clear(&thread->index, b->memory);
    tms_release(b->memory, thread->items, thread->item_capacity, sizeof(*thread->items));
}

static void destroy(void *state)
{
    struct tms_blocks_engine *b = state;

    tms_blocks_drop_deadlocks(b);
    for (size_t i = 0; i < b->thread_capacity; i++) {
        clear_thread(b, &b->threads[i]);
    }
    tms_release(b->memory, b->threads, b->thread_capacity, sizeof(*b->threads));
    tms_release(b->memory, b->cell_of, b->cell_of_capacity, sizeof(*b->cell_of));
    tms_release(b->memory, b->cells, b->cell_capacity, sizeof(*b->cells));
    tms_release(b->memory, b->transactions, b->transaction_capacity, sizeof(*b->transactions));
    tms_release(b->memory, b->refuted, b->refuted_capacity, sizeof(*b->refuted));
    tms_release(b->memory, b->items, b->item_capacity, sizeof(*b->items));
    tms_release(b->memory, b->blamed, b->blamed_capacity, sizeof(*b->blamed));
    tms_refuted_clear(&b->refuting, b->memory);
    tms_nesting_clear(&b->replay, b->memory);
    tms_release(b->memory, b->marks, b->mark_capacity, sizeof(*b->marks));
    tms_intern_table_clear(&b->classes);
    tms_intern_table_clear(&b->uses);
    tms_intern_table_clear(&b->flows);
    tms_escapes_clear(&b->escapes);
    tms_periods_clear(&b->periods);
    tms_locksets_clear(&b->locksets);
}

const struct tms_engine tms_engine_blocks = {
    .info =
        {
            .name = "blocks",
            .summary = "pairs of operations that another transaction can interleave with",
            .paper = "Wang, Stoller: Runtime Analysis of Atomicity, TSE 2006, section 6",
            .guarantee =
                "potential. Locks, forks, joins and barriers allow each reported pattern, but the "
                "program may not. Without a finding, no reordering of these events is a violation "
                "or deadlocks, within the limits of the chosen theorem.",
            .reports = "at the end of the trace",
            .time = "O(1) per access; then pairs of distinct blocks on the same variables",
            .memory = "distinct blocks, and with 2v and full distinct transactions",
            .flags = TMS_ENGINE_PREDICTIVE | TMS_ENGINE_WITNESS,
            .found = TMS_VERDICT_POTENTIAL,
            .clean = TMS_VERDICT_NONE_POTENTIAL,
        },
    .state_size = sizeof(struct tms_blocks_engine),
    .create = create,
    .on =
        {
            [TMS_OP_BEGIN] = on_begin,
            [TMS_OP_END] = on_end,
            [TMS_OP_NEST] = on_nest,
            [TMS_OP_UNNEST] = on_nest,
            [TMS_OP_READ] = on_access,
            [TMS_OP_WRITE] = on_access,
            [TMS_OP_UPDATE] = on_access,
            [TMS_OP_ACQUIRE] = on_acquire,
            [TMS_OP_RELEASE] = on_release,
            [TMS_OP_SHARED_ACQUIRE] = on_acquire,
            [TMS_OP_SHARED_RELEASE] = on_release,
            [TMS_OP_FORK] = on_period,
            [TMS_OP_JOIN] = on_period,
            [TMS_OP_ARRIVE] = on_period,
            [TMS_OP_DEPART] = on_period,
            [TMS_OP_STEP] = on_object,
            [TMS_OP_ESCAPE] = on_object,
            [TMS_OP_FORGET] = on_forget,
        },
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
