/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AeroDrome as printed: Mathur and Viswanathan, Atomicity Checking in Linear Time using Vector
 * Clocks, ASPLOS 2020, Algorithm 1 with the two read clocks per variable of section 4.3. "Line"
 * means a line of Algorithm 1. The fast version is aerodrome.c.
 *
 * Every thread t has a clock C_t, the time of its last event. Component u of a clock is the number
 * of transactions that thread u had begun when the latest event of u that is ordered before began:
 * only a begin counts up (line 35). C_t^▷ is the time of t's last begin. A lock has the clock L of
 * its last release, a variable x the clock W_x of its last write; R_x is the join of the last reads
 * of all threads, and chR_x the same without each reader's own component. An event joins into C_t
 * the clocks of the events that it conflicts with. If one of these already knows the begin of t's
 * running transaction, a path leads from the transaction back into it: a cycle (lines 9 to 12). The
 * order is one of transactions, not of events, so when a transaction ends, all that is after its
 * begin comes after its end as well: every clock of the state that knows the begin is joined with
 * C_t (lines 37 to 46). That, over all variables at every end, is what makes this version slow.
 *
 * Corrected or added:
 * - C_t^▷ ⊑ clk holds iff clk(t) is large enough, as every clock that has t's begin joined all of
 *   C_t^▷ with it. Only that number is kept and compared. For chR_x nothing else is correct: it
 *   leaves out components that C_t^▷ may have, so that ⊑, as section 4.3 has it, fails on real
 *   cycles.
 * - Joining a thread that never did anything orders nothing (line 22 reports a violation).
 * - Blocks open at the end of the trace are closed, which finds cycles among them.
 * - A shared hold of a lock acts like a read of it, an exclusive one like a write. So does an
 *   arrival at a barrier, like a read, and a departure looks at these reads alone.
 * - The printed algorithm stops at its first violation. Here the clock that closes a cycle is not
 *   joined, and the check goes on.
 */
#include <assert.h>

#include "clock/vector_clock.h"
#include "engines/aerodrome.h"

#define LEAST_ITEMS 64

struct thread {
    struct tms_vector clock; /* C_t */
    uint64_t begin;          /* C_t^▷(t); see above */
    bool active;             /* it has an active transaction: */
    struct tms_aerodrome_block block;
    bool acted; /* it has had an event */
};

/* A variable, a lock or a barrier. */
struct place {
    struct tms_vector last;  /* W_x of a variable, L of a lock */
    uint32_t last_thread;    /* lastWThr, lastRelThr; 0: NIL */
    struct tms_vector reads; /* R_x; of a lock those of shared holds, of a barrier the arrivals */
    struct tms_vector foreign_reads; /* chR_x */
};

struct places {
    struct place *at; /* by id */
    size_t count;
};

struct basic {
    struct tms_host *host;
    struct thread *threads; /* by id */
    size_t thread_count;
    struct places places[TMS_PLACES];
    uint64_t ends, visits, joins;
};

/* ---- clocks ----------------------------------------------------------------------------- */

static void check_memory(struct basic *b, bool done)
{
    if (!done) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
    }
}

static void join(struct basic *b, struct tms_vector *into, const struct tms_vector *other)
{
    b->joins++;
    check_memory(b, tms_vector_join(&b->host->memory, into, other));
}

static void assign(struct basic *b, struct tms_vector *into, const struct tms_vector *other)
{
    check_memory(b, tms_vector_copy(&b->host->memory, into, other));
}

/* into := into ⊔ other[0/t] */
static void join_without(struct basic *b, struct tms_vector *into, const struct tms_vector *other,
                         uint32_t t)
{
    uint64_t own = tms_vector_get(into, t);

    join(b, into, other);
    check_memory(b, tms_vector_set(&b->host->memory, into, t, own));
}

/* ---- state ------------------------------------------------------------------------------ */

/* NULL when memory is short. Lines 2 and 3. */
static struct thread *find_thread(struct basic *b, uint32_t id)
{
    if (!TMS_RESERVE(&b->host->memory, &b->threads, &b->thread_count, (size_t)id + 1,
                     LEAST_ITEMS)) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
        return NULL;
    }
    struct thread *t = &b->threads[id];
    if (tms_vector_get(&t->clock, id) == 0) {
        check_memory(b, tms_vector_set(&b->host->memory, &t->clock, id, 1));
    }
    return t;
}

/* The thread of an operation, which is an event of it. */
static struct thread *actor(struct basic *b, const struct tms_op *op)
{
    struct thread *t = find_thread(b, op->thread);

    if (t != NULL) {
        assert(op->kind == TMS_OP_BEGIN || t->active == ((op->flags & TMS_OP_IN_BLOCK) != 0));
        t->acted = true;
    }
    return t;
}

/* Where an operation acts, or NULL when memory is short. Lines 4 to 8: all clocks are ⊥. */
static struct place *find_place(struct basic *b, const struct tms_op *op)
{
    struct places *places = &b->places[tms_op_traits[op->kind].place];

    if (!TMS_RESERVE(&b->host->memory, &places->at, &places->count, (size_t)op->target + 1,
                     LEAST_ITEMS)) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
        return NULL;
    }
    return &places->at[op->target];
}

/* ---- the steps of the algorithm --------------------------------------------------------- */

/*
 * Lines 9 to 12, with the clock that is looked at and the one that is joined apart, as the reads
 * of a variable have two. The paper ends at line 11; here the join is left out.
 */
static void check_and_get(struct basic *b, uint32_t thread, const struct tms_vector *check,
                          const struct tms_vector *get, struct tms_aerodrome_moment now)
{
    struct thread *t = &b->threads[thread];

    if (t->active && t->begin <= tms_vector_get(check, thread)) {
        tms_aerodrome_declare(b->host, &t->block, now);
        return;
    }
    join(b, &t->clock, get);
}

/* Lines 14 and 15, 24 and 25, 28 and 29. */
static void get_last(struct basic *b, const struct tms_op *op, const struct place *place)
{
    if (place->last_thread != op->thread) {
        check_and_get(b, op->thread, &place->last, &place->last, tms_aerodrome_now(op));
    }
}

/* Lines 30 and 31, in the form of section 4.3. */
static void get_reads(struct basic *b, const struct tms_op *op, const struct place *place)
{
    check_and_get(b, op->thread, &place->foreign_reads, &place->reads, tms_aerodrome_now(op));
}

/* Lines 17 and 18, 32 and 33. */
static void put_last(struct basic *b, const struct tms_op *op, struct place *place)
{
    assign(b, &place->last, &b->threads[op->thread].clock);
    place->last_thread = op->thread;
}

/* Line 26, in the form of section 4.3. */
static void put_read(struct basic *b, const struct tms_op *op, struct place *place)
{
    const struct tms_vector *clock = &b->threads[op->thread].clock;

    join(b, &place->reads, clock);
    join_without(b, &place->foreign_reads, clock, op->thread);
}

/*
 * Which of these steps an operation takes, in this order. An acquire is not stored, as no other
 * thread can use the lock before its release, which follows in the same thread.
 */
enum { GET_LAST = 1, GET_READS = 2, PUT_LAST = 4, PUT_READ = 8 };

static const uint8_t steps[TMS_OP_COUNT] = {
    [TMS_OP_ACQUIRE] = GET_LAST | GET_READS,           /* lines 13 to 15 */
    [TMS_OP_RELEASE] = PUT_LAST,                       /* lines 16 to 18 */
    [TMS_OP_READ] = GET_LAST | PUT_READ,               /* lines 23 to 26 */
    [TMS_OP_WRITE] = GET_LAST | GET_READS | PUT_LAST,  /* lines 27 to 33 */
    [TMS_OP_UPDATE] = GET_LAST | GET_READS | PUT_LAST, /* conflicts like a write */
    [TMS_OP_SHARED_ACQUIRE] = GET_LAST,
    [TMS_OP_SHARED_RELEASE] = PUT_READ,
    [TMS_OP_ARRIVE] = PUT_READ,
    [TMS_OP_DEPART] = GET_READS,
};

static void on_place(void *state, const struct tms_op *op)
{
    struct basic *b = state;
    struct place *place = find_place(b, op);

    if (actor(b, op) == NULL || place == NULL) {
        return;
    }
    if (steps[op->kind] & GET_LAST) {
        get_last(b, op, place);
    }
    if (steps[op->kind] & GET_READS) {
        get_reads(b, op, place);
    }
    if (steps[op->kind] & PUT_LAST) {
        put_last(b, op, place);
    }
    if (steps[op->kind] & PUT_READ) {
        put_read(b, op, place);
    }
}

/* ---- the end of a transaction ----------------------------------------------------------- */

/*
 * Lines 42, 44, 46. C_t's components for the readers are not kept out of chR_x: they are less than
 * any begin to come, and where they are not less than a present one, line 40 has reported the
 * cycle.
 */
static void update_place(struct basic *b, struct place *place, uint32_t id)
{
    const struct thread *t = &b->threads[id];

    if (t->begin <= tms_vector_get(&place->last, id)) {
        join(b, &place->last, &t->clock);
    }
    if (t->begin <= tms_vector_get(&place->reads, id)) {
        join(b, &place->reads, &t->clock);
        join_without(b, &place->foreign_reads, &t->clock, id);
    }
}

/* Lines 37 to 46. */
static void end(struct basic *b, uint32_t id, struct tms_aerodrome_moment now)
{
    struct thread *t = &b->threads[id];

    assert(t->active && t->begin == tms_vector_get(&t->clock, id));
    for (uint32_t u = 0; u < b->thread_count; u++) {
        if (u != id && t->begin <= tms_vector_get(&b->threads[u].clock, id)) {
            check_and_get(b, u, &t->clock, &t->clock, now);
        }
    }
    for (int kind = 0; kind < TMS_PLACES; kind++) {
        for (size_t i = 0; i < b->places[kind].count; i++) {
            update_place(b, &b->places[kind].at[i], id);
        }
        b->visits += b->places[kind].count;
    }
    t->active = false;
    b->ends++;
}

/* ---- the other operations --------------------------------------------------------------- */

/* Lines 34 to 36. */
static void on_begin(void *state, const struct tms_op *op)
{
    struct basic *b = state;
    struct thread *t = actor(b, op);

    if (t == NULL) {
        return;
    }
    if (t->active) {
        end(b, op->thread, tms_aerodrome_now(op)); /* see on_end */
    }
    t->begin = tms_vector_get(&t->clock, op->thread) + 1;
    check_memory(b, tms_vector_set(&b->host->memory, &t->clock, op->thread, t->begin));
    t->active = true;
    tms_aerodrome_begin(&t->block, op);
}

/*
 * The end that a split makes is followed by a begin, and the one that a join makes by that join:
 * these then end the transaction, as they tell whose event it is.
 */
static void on_end(void *state, const struct tms_op *op)
{
    if ((op->flags & TMS_OP_SYNTHETIC) == 0) {
        end(state, op->thread, tms_aerodrome_now(op));
    }
}

/* Lines 19 and 20. */
static void on_fork(void *state, const struct tms_op *op)
{
    struct basic *b = state;

    if (actor(b, op) != NULL && find_thread(b, op->target) != NULL) {
        join(b, &b->threads[op->target].clock, &b->threads[op->thread].clock);
    }
}

/* Lines 21 and 22, unless the child did nothing: then there is no event to come after. */
static void on_join(void *state, const struct tms_op *op)
{
    struct basic *b = state;
    struct tms_aerodrome_moment now = tms_aerodrome_now(op);

    if (actor(b, op) == NULL || find_thread(b, op->target) == NULL) {
        return;
    }
    struct thread *child = &b->threads[op->target];
    if (child->active) {
        end(b, op->target, now);
    }
    if (child->acted) {
        check_and_get(b, op->thread, &child->clock, &child->clock, now);
    }
}

/* An event without a conflict but with those that fork or join its thread. */
static void on_step(void *state, const struct tms_op *op)
{
    actor(state, op);
}

static void clear_place(struct basic *b, struct place *place)
{
    tms_vector_clear(&b->host->memory, &place->last);
    tms_vector_clear(&b->host->memory, &place->reads);
    tms_vector_clear(&b->host->memory, &place->foreign_reads);
    place->last_thread = 0;
}

static void on_forget(void *state, const struct tms_op *op)
{
    struct place *place = find_place(state, op);

    if (place != NULL) {
        clear_place(state, place);
    }
}

/* ---- the engine ------------------------------------------------------------------------- */

static int create(void *state, struct tms_host *host)
{
    struct basic *b = state;

    b->host = host;
    return TMS_OK;
}

static void finish(void *state)
{
    struct basic *b = state;
    struct tms_aerodrome_moment last = {b->host->last_event, b->host->last_thread};

    for (uint32_t id = 0; id < b->thread_count && tms_aerodrome_closes_blocks(b->host); id++) {
        if (b->threads[id].active) {
            end(b, id, last);
        }
    }
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct basic *b = state;
    const struct tms_counter all[] = {
        {"ends", "transactions ended", b->ends},
        {"visits", "variables, locks and barriers looked at when one ended", b->visits},
        {"joins", "clocks joined", b->joins},
    };

    TMS_COUNTERS_PUT(counters, all);
}

static void destroy(void *state)
{
    struct basic *b = state;
    struct tms_memory *memory = &b->host->memory;

    for (size_t i = 0; i < b->thread_count; i++) {
        tms_vector_clear(memory, &b->threads[i].clock);
    }
    tms_release(memory, b->threads, b->thread_count, sizeof(*b->threads));
    for (int kind = 0; kind < TMS_PLACES; kind++) {
        struct places *places = &b->places[kind];
        for (size_t i = 0; i < places->count; i++) {
            clear_place(b, &places->at[i]);
        }
        tms_release(memory, places->at, places->count, sizeof(*places->at));
    }
}

const struct tms_engine tms_engine_aerodrome_basic = {
    .info =
        {
            .name = "aerodrome-basic",
            .summary =
                "AeroDrome's Algorithm 1, line by line; each block end visits every variable",
            .paper = "Mathur and Viswanathan, Atomicity Checking in Linear Time using Vector "
                     "Clocks, ASPLOS 2020, Algorithm 1 and section 4.3",
            .guarantee = "exact. A violation is reported if and only if this run was not "
                         "serializable, but perhaps later than at the first event that shows "
                         "it.",
            .reports = "when all transactions of the cycle but one have ended",
            .time = "O(k) per event, O(k(k + V + L)) per end (k: threads, V: variables, L: locks)",
            .memory = "three clocks of k numbers per variable",
            .flags = TMS_ENGINE_EXACT | TMS_ENGINE_BOUNDED,
            .found = TMS_VERDICT_VIOLATION,
            .clean = TMS_VERDICT_SERIALIZABLE,
        },
    .state_size = sizeof(struct basic),
    .create = create,
    .on =
        {
            [TMS_OP_BEGIN] = on_begin,
            [TMS_OP_END] = on_end,
            [TMS_OP_NEST] = on_step,
            [TMS_OP_UNNEST] = on_step,
            [TMS_OP_READ] = on_place,
            [TMS_OP_WRITE] = on_place,
            [TMS_OP_UPDATE] = on_place,
            [TMS_OP_ACQUIRE] = on_place,
            [TMS_OP_RELEASE] = on_place,
            [TMS_OP_SHARED_ACQUIRE] = on_place,
            [TMS_OP_SHARED_RELEASE] = on_place,
            [TMS_OP_FORK] = on_fork,
            [TMS_OP_JOIN] = on_join,
            [TMS_OP_ARRIVE] = on_place,
            [TMS_OP_DEPART] = on_place,
            [TMS_OP_STEP] = on_step,
            [TMS_OP_ESCAPE] = on_step,
            [TMS_OP_FORGET] = on_forget,
        },
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
