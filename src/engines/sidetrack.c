/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SideTrack: predicts, from one run, cuts of blocks that another schedule of it has.
 *
 * J. Yi, C. Sadowski, C. Flanagan: SideTrack, generalizing dynamic atomicity analysis, PADTAD 2009.
 * The rules are those of its figure 6, with C, V, A, R, H and I as there (sidetrack.h).
 *
 * Two acquires of a lock in one block make a window. An acquire of the same lock by another thread,
 * the culprit, cuts the block if it comes in between. Where it was seen there, that is an in-error.
 * Where it was seen after the window, and is ordered after the second acquire by nothing but the
 * order of this lock, it could have been first: an after-error. Where it was seen before the
 * window, and the first acquire does not come after it in that sense, the two could have changed
 * places: a before-error. Locks, forks and joins order; accesses are not looked at, because a
 * program without races communicates through locks.
 *
 * Corrected, and why (docs/research/engines/sidetrack.md has the traces and the proofs): in-errors
 * use the position of the culprit, as clocks lose some; a schedule in which threads must wait for
 * each other is no prediction where something else than a lock is waited for, and has a caveat
 * where it is a lock. To know that, an after-error is reported only when the culprit releases the
 * lock.
 *
 * Beyond the paper: shared locks, where two shared holds do not conflict; barriers; condition
 * waits, which release a lock and take it back when a signal has come, so that the reacquire stays
 * after whatever happened under the lock until then; atomic read-modify-writes, which are sections
 * that end where they begin; atomic loads, which stay after the store whose value they read; and
 * windows between two locks (sidetrack_pairs.c).
 */
#include "engines/sidetrack.h"

/* ---- operations ------------------------------------------------------------------------- */

/*
 * END is not handled, as blocks are many: its effect on blocks inside that are not properly nested
 * is made up for here. They are not needed before.
 */
static void on_begin(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);

    if (t == NULL) {
        return;
    }
    if (t->nesting.depth != 0) {
        const struct tms_op end = {.kind = TMS_OP_END, .flags = op->flags};
        tms_nesting_end(&t->nesting, &end);
    }
    t->name = (struct tms_transaction){op->event, op->thread, op->target, op->location, false};
    t->block++;
    t->taken_count = 0;
    t->sourced = 0;
}

static void on_nested(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);

    if (t != NULL && !tms_nesting_follow(&t->nesting, s->memory, op)) {
        sidetrack_out_of_memory(s);
    }
}

static void on_access(struct tms_sidetrack *s, const struct tms_op *op)
{
    if (s->predict & TMS_PREDICT_VARIABLE) {
        tms_sidetrack_access(s, op);
    }
}

static void on_read(struct tms_sidetrack *s, const struct tms_op *op)
{
    on_access(s, op);
    if ((op->flags & TMS_OP_ORDER) != 0 && (s->predict & TMS_PREDICT_ATOMIC) != 0) {
        tms_sidetrack_load(s, op);
    }
}

static void on_write(struct tms_sidetrack *s, const struct tms_op *op)
{
    on_access(s, op);
    if ((op->flags & TMS_OP_ORDER) != 0 && (s->predict & TMS_PREDICT_ATOMIC) != 0) {
        tms_sidetrack_store(s, op);
    }
}

static void on_update(struct tms_sidetrack *s, const struct tms_op *op)
{
    on_access(s, op);
    if (s->predict & TMS_PREDICT_ATOMIC) {
        tms_sidetrack_update(s, op);
    }
}

static void on_shared_acquire(struct tms_sidetrack *s, const struct tms_op *op)
{
    if (s->predict & TMS_PREDICT_SHARED) {
        tms_sidetrack_acquire_shared(s, op);
    }
}

static void on_shared_release(struct tms_sidetrack *s, const struct tms_op *op)
{
    if (s->predict & TMS_PREDICT_SHARED) {
        tms_sidetrack_release_shared(s, op);
    }
}

static void on_fork(struct tms_sidetrack *s, const struct tms_op *op)
{
    tms_sidetrack_fork(s, op->thread, op->target);
}

static void on_join(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);

    if (t != NULL) {
        tms_sidetrack_wait(s, t, op, SECTION_WAITS);
        tms_sidetrack_join(s, op->thread, op->target);
    }
}

static struct tms_vector *barrier_of(struct tms_sidetrack *s, uint32_t id)
{
    if (!TMS_RESERVE(s->memory, &s->barriers, &s->barrier_capacity, (size_t)id + 1, 4)) {
        sidetrack_out_of_memory(s);
        return NULL;
    }
    return &s->barriers[id];
}

/* What the thread did so far comes before what those do that learn from the vector. */
static void teach(struct tms_sidetrack *s, struct tms_sidetrack_thread *t,
                  struct tms_vector *vector)
{
    if (!tms_vector_join(s->memory, vector, &t->clock)) {
        sidetrack_out_of_memory(s);
    }
    t->clock.at[t->slot]++;
}

static void on_arrive(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    struct tms_vector *barrier = barrier_of(s, op->target);

    if ((s->predict & TMS_PREDICT_BARRIER) != 0 && t != NULL && barrier != NULL) {
        teach(s, t, barrier);
    }
}

static void on_depart(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    const struct tms_vector *barrier = barrier_of(s, op->target);

    if ((s->predict & TMS_PREDICT_BARRIER) != 0 && t != NULL && barrier != NULL) {
        tms_sidetrack_wait(s, t, op, SECTION_WAITS);
        tms_sidetrack_learn(s, t, barrier);
    }
}

static struct tms_vector *channel_of(struct tms_sidetrack *s, uint32_t id)
{
    if (!TMS_RESERVE(s->memory, &s->channels, &s->channel_capacity, (size_t)id + 1, 4)) {
        sidetrack_out_of_memory(s);
        return NULL;
    }
    return &s->channels[id];
}

static void on_send(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    struct tms_vector *channel = channel_of(s, op->target);

    if (t != NULL && channel != NULL) {
        teach(s, t, channel);
    }
}

static void on_receive(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    const struct tms_vector *channel = channel_of(s, op->target);

    if (t != NULL && channel != NULL) {
        tms_sidetrack_learn(s, t, channel);
    }
}

/* The signal that ends a wait is not in the trace; it came before the lock was taken back. */
static void on_step(struct tms_sidetrack *s, const struct tms_op *op)
{
    if (op->event_kind != TMS_EVENT_WAIT || (s->predict & TMS_PREDICT_WAIT) == 0) {
        return;
    }
    struct tms_sidetrack_thread *t = sidetrack_thread(s, op->thread);
    if (t != NULL) {
        tms_sidetrack_wait(s, t, op, SECTION_WAITS);
        t->woken = true;
    }
}

/* The variable is a new one: nothing that was said of the old holds. */
static void on_forget(struct tms_sidetrack *s, const struct tms_op *op)
{
    struct tms_sidetrack_lock *atomic =
        op->target < s->atomic_capacity ? s->atomics[op->target] : NULL;

    if (atomic != NULL) {
        atomic->released_at = atomic->released_age = 0;
        atomic->stored = atomic->written = (struct tms_sidetrack_source){0};
        for (int kind = 0; kind < KINDS; kind++) {
            atomic->last[kind][0].acquire = atomic->last[kind][1].acquire =
                (struct tms_sidetrack_acquire){0};
            sidetrack_spend(&atomic->window[kind]);
        }
    }
    if (op->target < s->variable_capacity) {
        s->variables[op->target] = (struct tms_sidetrack_guarded){0};
    }
}

typedef void handler(struct tms_sidetrack *s, const struct tms_op *op);

static handler *const handlers[TMS_OP_COUNT] = {
    [TMS_OP_BEGIN] = on_begin,
    [TMS_OP_NEST] = on_nested,
    [TMS_OP_UNNEST] = on_nested,
    [TMS_OP_READ] = on_read,
    [TMS_OP_WRITE] = on_write,
    [TMS_OP_UPDATE] = on_update,
    [TMS_OP_ACQUIRE] = tms_sidetrack_acquire,
    [TMS_OP_RELEASE] = tms_sidetrack_release,
    [TMS_OP_SHARED_ACQUIRE] = on_shared_acquire,
    [TMS_OP_SHARED_RELEASE] = on_shared_release,
    [TMS_OP_FORK] = on_fork,
    [TMS_OP_JOIN] = on_join,
    [TMS_OP_ARRIVE] = on_arrive,
    [TMS_OP_DEPART] = on_depart,
    [TMS_OP_STEP] = on_step,
    [TMS_OP_FORGET] = on_forget,
    [TMS_OP_SEND] = on_send,
    [TMS_OP_RECEIVE] = on_receive,
};

/* Plain accesses are most of all operations, and matter only where their windows are predicted. */
static bool is_plain_access(const struct tms_op *op)
{
    return (op->kind == TMS_OP_READ || op->kind == TMS_OP_WRITE) && (op->flags & TMS_OP_ORDER) == 0;
}

static void batch(void *state, const struct tms_op *ops, size_t count)
{
    struct tms_sidetrack *s = state;
    bool accesses = (s->predict & TMS_PREDICT_VARIABLE) != 0;

    for (size_t i = 0; i < count && s->host->failed == TMS_OK; i++) {
        if (handlers[ops[i].kind] != NULL && (accesses || !is_plain_access(&ops[i]))) {
            handlers[ops[i].kind](s, &ops[i]);
        }
    }
}

static int create(void *state, struct tms_host *host)
{
    struct tms_sidetrack *s = state;

    s->host = host;
    s->memory = &host->memory;
    s->predict = host->settings->predict;
    return TMS_OK;
}

/* Locks still held at the end were not seen to be released: their predictions are not reported. */
static void finish(void *state)
{
    (void)state;
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct tms_sidetrack *s = state;
    const struct tms_counter all[] = {
        {"acquires", "acquires looked at, atomic updates included", s->acquires},
        {"windows", "windows of two acquires in one block, of one lock or of two", s->windows},
        {"before", "culprits before the window", s->reports[ERROR_BEFORE]},
        {"in", "culprits in the window", s->reports[ERROR_IN]},
        {"after", "culprits after the window", s->reports[ERROR_AFTER]},
        {"pair", "culprits that take both locks of a pair", s->reports[ERROR_PAIR]},
        {"dropped", "predictions given up, as their threads wait for more than locks", s->dropped},
        {"slots", "components of a clock", s->slot_count},
    };

    TMS_COUNTERS_PUT(counters, all);
}

static void destroy(void *state)
{
    struct tms_sidetrack *s = state;

    if (s->memory != NULL) {
        tms_sidetrack_clear(s);
    }
}

const struct tms_engine tms_engine_sidetrack = {
    .info =
        {
            .name = "sidetrack",
            .summary = "predicts which blocks another schedule of the same run cuts apart",
            .paper = "Yi, Sadowski, Flanagan: SideTrack, PADTAD 2009; "
                     "docs/research/engines/sidetrack.md",
            .guarantee =
                "its predictions can happen if the program is free of data races and deadlocks",
            .reports = "when the critical section that shows it has been seen",
            .time = "O(k) per operation on a lock, nothing per access",
            .memory = "O(k) per lock and thread",
            .flags = TMS_ENGINE_PREDICTIVE | TMS_ENGINE_BOUNDED | TMS_ENGINE_NO_ACCESSES |
                     TMS_ENGINE_WITNESS | TMS_ENGINE_BLAMES_SOME,
            .found = TMS_VERDICT_PREDICTED,
            .clean = TMS_VERDICT_NONE_PREDICTED,
        },
    .state_size = sizeof(struct tms_sidetrack),
    .create = create,
    .concurrent = true,
    .batch = batch,
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
