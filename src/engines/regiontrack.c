/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RegionTrack (Ma, Wu, Pobee, Mei, Zhang, Jiang and Chan: "RegionTrack: A Trace-based Sound and
 * Complete Checker to Debug Transactional Atomicity Violations and Non-Serializable Traces", ACM
 * TOSEM), Algorithms 1, 3 and 4; and Algorithms 1 and 2 by themselves.
 *
 * Each thread t has a vector clock V(t), whose entry for t identifies its transaction and goes up
 * when one begins, to the number of that event. An event that conflicts with an earlier event e of
 * another thread joins V(e) into V(t). V(e) is not copied for every event: all events of a thread
 * between two joins, a *sub-region*, share one clock, and whatever must remember events (the last
 * write of a variable and the last reads since, the last release of a lock) refers to it; it is
 * freed with the last reference. A running transaction of t is not atomic iff such an e has V(e)[t]
 * >= V(begin)[t]: then its begin comes before e, and e before the current event (theorem 2). The
 * entry goes up with each block inside a transaction too, so the same test finds which of the open
 * ones are not atomic.
 *
 * Clocks of events can't decide whether the trace as a whole is serializable: a path from
 * transaction to transaction may leave one of them at an earlier event than it came in by. So each
 * thread has a transactional clock TV(t) too: TV(t)[u] is the first transaction of u that the
 * running transaction of t reaches in the graph of transactions. An edge from transaction n of u
 * into that of t closes a cycle iff TV(t)[u] <= n. Otherwise all whose entry for u is at most n
 * have a path to t's transaction from now on, and to all that this one reaches.
 *
 * Corrected, with traces that show why in docs/research/engines/regiontrack.md:
 * - "no entry" in TV is infinity; 0 is smaller than every number, which the tests of lines 5, 20
 *   and 32 of Algorithm 3 and line 9 of Algorithm 4 take for an early transaction;
 * - line 24 of Algorithm 3 passes on what the *source* thread's clock knows; it must be the sink's:
 *   the clock of the source thread may be that of a later transaction;
 * - consecutive events outside blocks are one transaction only as long as no edge comes in;
 * - fork and join, which the paper does not have, shared locks and barriers are added. The
 *   recursions of lines 25 and 37 are left out: they find nothing, as each clock is closed.
 */
#include "engines/regiontrack.h"

#include <assert.h>

/* ---- accesses: Algorithm 1 -------------------------------------------------------------- */

/* Lines 10 to 16. A thread that has read since the last write already has the edge from it. */
static void read_cell(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                      const struct tms_op *op, struct tms_regiontrack_cell *cell)
{
    if (cell->write != 0 && !tms_regiontrack_has_read(rt, cell, t->slot)) {
        tms_regiontrack_join(rt, t, op, cell->write);
    }
    uint32_t region = tms_regiontrack_region(rt, t);
    if (region != 0) {
        tms_regiontrack_add_read(rt, cell, region);
    }
}

/* Lines 18 to 24 and 27 to 29: the readers, where there are some, come after the last write. */
static void join_cell(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                      const struct tms_op *op, struct tms_regiontrack_cell *cell)
{
    if (cell->reads != 0) {
        tms_regiontrack_join_reads(rt, t, op, cell);
        tms_regiontrack_drop_reads(rt, cell);
    } else if (cell->write != 0) {
        tms_regiontrack_join(rt, t, op, cell->write);
    }
}

/* Lines 26 and 38. */
static void record_cell(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                        struct tms_regiontrack_cell *cell)
{
    uint32_t region = tms_regiontrack_region(rt, t);

    assert(t->region == 0 || region == 0 || region_at(rt, region)->slot == t->slot);
    if (region != 0 && region != cell->write) {
        tms_regiontrack_refer(rt, &cell->write, region);
    }
}

/* ---- operations ------------------------------------------------------------------------- */

static void read_variable(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                          const struct tms_op *op)
{
    read_cell(rt, t, op, &rt->cells[TMS_PLACE_VARIABLE].at[op->target]);
}

static void write_variable(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                           const struct tms_op *op)
{
    struct tms_regiontrack_cell *cell = &rt->cells[TMS_PLACE_VARIABLE].at[op->target];

    join_cell(rt, t, op, cell);
    record_cell(rt, t, cell);
}

static void forget_variable(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                            const struct tms_op *op)
{
    struct tms_regiontrack_cell *cell = &rt->cells[TMS_PLACE_VARIABLE].at[op->target];

    (void)t;
    tms_regiontrack_drop_reads(rt, cell);
    tms_regiontrack_refer(rt, &cell->write, 0);
}

/* Lines 31 to 36: no other thread can use the lock until its release, so nothing is recorded. */
static void acquire(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                    const struct tms_op *op)
{
    join_cell(rt, t, op, &rt->cells[TMS_PLACE_LOCK].at[op->target]);
}

static void release(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                    const struct tms_op *op)
{
    record_cell(rt, t, &rt->cells[TMS_PLACE_LOCK].at[op->target]);
}

static void share(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                  const struct tms_op *op)
{
    read_cell(rt, t, op, &rt->cells[TMS_PLACE_LOCK].at[op->target]);
}

static void arrive(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                   const struct tms_op *op)
{
    read_cell(rt, t, op, &rt->cells[TMS_PLACE_BARRIER].at[op->target]);
}

/* Arrivals stay: every later departure conflicts with them. */
static void depart(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                   const struct tms_op *op)
{
    tms_regiontrack_join_reads(rt, t, op, &rt->cells[TMS_PLACE_BARRIER].at[op->target]);
}

/* Lines 1 to 6. */
static void begin(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                  const struct tms_op *op)
{
    assert(t->begin == 0);
    tms_regiontrack_advance(rt, t, op->event);
    t->begin = t->number;
    t->transaction = (struct tms_transaction){
        .begin_event = op->event,
        .thread = op->thread,
        .label = op->target,
        .location = op->location,
    };
}

static void end(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                const struct tms_op *op)
{
    assert(t->begin != 0 && t->begin <= op->event);
    tms_regiontrack_hand_over(rt, t);
    tms_nesting_end(&t->nesting, op);
    t->begin = 0;
    t->is_source = false;
}

static void nested(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                   const struct tms_op *op)
{
    if (!rt->order) {
        return;
    }
    if (op->kind == TMS_OP_NEST) {
        tms_regiontrack_tick(rt, t, op->event);
    }
    if (!tms_nesting_follow(&t->nesting, rt->memory, op)) {
        tms_host_fail(rt->host, TMS_ERR_MEMORY);
    }
}

static void fork_thread(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                        const struct tms_op *op)
{
    uint32_t region = tms_regiontrack_region(rt, t);

    if (region != 0 && tms_regiontrack_need_id(rt, op->target)) {
        tms_regiontrack_refer(rt, &rt->forks[op->target], region);
    }
}

/* Any event of the joined thread conflicts with its join: what it did last comes after all. */
static void join_thread(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                        const struct tms_op *op)
{
    uint32_t child = op->target < rt->slot_capacity ? rt->slots[op->target] : 0;

    if (child == 0) {
        return;
    }
    assert(child <= rt->thread_count && &rt->threads[child - 1] != t);
    uint32_t region = tms_regiontrack_region(rt, &rt->threads[child - 1]);
    if (region != 0) {
        tms_regiontrack_join(rt, t, op, region);
        tms_regiontrack_retire(rt, child - 1);
    }
}

typedef void handler(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                     const struct tms_op *op);

/* An event without one conflicts with nothing but the fork and the join of its thread. */
static handler *const handlers[TMS_OP_COUNT] = {
    [TMS_OP_BEGIN] = begin,           [TMS_OP_END] = end,
    [TMS_OP_NEST] = nested,           [TMS_OP_UNNEST] = nested,
    [TMS_OP_READ] = read_variable,    [TMS_OP_WRITE] = write_variable,
    [TMS_OP_UPDATE] = write_variable, [TMS_OP_ACQUIRE] = acquire,
    [TMS_OP_RELEASE] = release,       [TMS_OP_SHARED_ACQUIRE] = share,
    [TMS_OP_SHARED_RELEASE] = share,  [TMS_OP_FORK] = fork_thread,
    [TMS_OP_JOIN] = join_thread,      [TMS_OP_ARRIVE] = arrive,
    [TMS_OP_DEPART] = depart,         [TMS_OP_FORGET] = forget_variable,
};

static void handle(struct tms_regiontrack *rt, const struct tms_op *op)
{
    if (handlers[op->kind] != NULL) {
        handlers[op->kind](rt, &rt->threads[rt->slots[op->thread] - 1], op);
    }
}

/* The edge from the fork, if there was one, comes into the thread's first event. */
static void first_event(struct tms_regiontrack *rt, const struct tms_op *op)
{
    struct tms_regiontrack_thread *t = tms_regiontrack_settle_in(rt, op);

    if (t == NULL) {
        return;
    }
    if (op->kind == TMS_OP_BEGIN) {
        begin(rt, t, op);
    }
    uint32_t *fork = &rt->forks[op->thread];
    if (*fork != 0) {
        tms_regiontrack_join(rt, t, op, *fork);
        tms_regiontrack_refer(rt, fork, 0);
    }
    if (op->kind != TMS_OP_BEGIN) {
        handle(rt, op);
    }
}

/* All that has a name has a cell. */
static bool make_cells(struct tms_regiontrack *rt)
{
    for (int i = 0; i < TMS_PLACES; i++) {
        size_t wanted = (size_t)tms_name_count(rt->host->context, tms_place_class[i]) + 1;
        if (!TMS_RESERVE(rt->memory, &rt->cells[i].at, &rt->cells[i].capacity, wanted, 64)) {
            return false;
        }
    }
    return true;
}

static void batch(void *state, const struct tms_op *ops, size_t count)
{
    struct tms_regiontrack *rt = state;
    size_t first = ops[0].flags & TMS_OP_FIRST ? 1 : 0;

    if (!make_cells(rt)) {
        tms_host_fail(rt->host, TMS_ERR_MEMORY);
        return;
    }
    if (first) {
        first_event(rt, &ops[0]);
    }
    for (size_t i = first; i < count && rt->host->failed == TMS_OK; i++) {
        assert((ops[i].flags & TMS_OP_FIRST) == 0);
        handle(rt, &ops[i]);
    }
}

/* ---- the engines ------------------------------------------------------------------------ */

static int create(struct tms_regiontrack *rt, struct tms_host *host, bool order, bool graph)
{
    rt->host = host;
    rt->memory = &host->memory;
    rt->order = order;
    rt->graph = graph;
    return TMS_OK;
}

static int create_full(void *state, struct tms_host *host)
{
    return create(state, host, host->settings->blame, true);
}

static int create_reduced(void *state, struct tms_host *host)
{
    struct tms_regiontrack *rt = state;

    rt->reduced = true;
    return create(rt, host, host->settings->blame, true);
}

static int create_trace(void *state, struct tms_host *host)
{
    return create(state, host, false, true);
}

static int create_blame(void *state, struct tms_host *host)
{
    return create(state, host, true, false);
}

static void finish(void *state)
{
    struct tms_regiontrack *rt = state;

    for (uint32_t slot = 0; slot < rt->thread_count; slot++) {
        tms_regiontrack_hand_over(rt, &rt->threads[slot]);
    }
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct tms_regiontrack *rt = state;
    const struct tms_counter all[] = {
        {"slots", "most threads distinguished at the same time", rt->thread_count},
        {"regions", "sub-regions whose clock was recorded", rt->regions.made},
        {"regions_alive", "most of them referred to at a time", rt->regions.most_alive},
        {"edges", "edges between transactions that no single earlier one implied", rt->edges_seen},
        {"inserted", "of these, taken into the graph", rt->edges_taken},
    };

    TMS_COUNTERS_PUT(counters, all);
}

static void destroy(void *state)
{
    struct tms_regiontrack *rt = state;

    tms_regiontrack_clear_threads(rt);
    tms_regiontrack_clear_regions(rt);
    for (int i = 0; i < TMS_PLACES; i++) {
        tms_release(rt->memory, rt->cells[i].at, rt->cells[i].capacity, sizeof(*rt->cells[i].at));
    }
}

/* What the engines have in common. */
#define REGIONTRACK(create_it)                                                                     \
    .state_size = sizeof(struct tms_regiontrack), .create = create_it, .batch = batch,             \
    .finish = finish, .stats = stats, .destroy = destroy

#define PAPER "Ma et al., RegionTrack, ACM TOSEM, "

const struct tms_engine tms_engine_regiontrack = {
    .info =
        {
            .name = "regiontrack",
            .summary = "clocks of sub-regions for blame, transactional clocks for the trace",
            .paper = PAPER "Algorithms 1, 3 and 4, corrected: docs/research/engines/regiontrack.md",
            .guarantee = "exact. A violation is reported if and only if this run was not "
                         "serializable, and blamed blocks are themselves not serializable.",
            .reports = "at the event",
            .time = "O(k) per event, O(k^2) per edge that is not implied (k: threads)",
            .memory =
                "8 B per variable, 8 B per thread that read it, 8k B per referenced sub-region",
            .flags = TMS_ENGINE_EXACT | TMS_ENGINE_AT_EVENT | TMS_ENGINE_BLAMES,
            .found = TMS_VERDICT_VIOLATION,
            .clean = TMS_VERDICT_SERIALIZABLE,
        },
    REGIONTRACK(create_full),
};

const struct tms_engine tms_engine_regiontrack_reduced = {
    .info =
        {
            .name = "regiontrack-reduced",
            .summary = "regiontrack with two clocks for all readers of a variable",
            .paper = PAPER "with the reduction of its section 4.4",
            .guarantee = "exact, as regiontrack.",
            .reports = "at the event",
            .time = "O(k) per event, O(k^2) per edge that is not implied (k: threads)",
            .memory = "8 B per variable, 16k B per variable that is read, 8k B per sub-region",
            .flags = TMS_ENGINE_EXACT | TMS_ENGINE_AT_EVENT | TMS_ENGINE_BLAMES,
            .found = TMS_VERDICT_VIOLATION,
            .clean = TMS_VERDICT_SERIALIZABLE,
        },
    REGIONTRACK(create_reduced),
};

const struct tms_engine tms_engine_regiontrack_trace = {
    .info =
        {
            .name = "regiontrack-trace",
            .summary = "the part of regiontrack that judges the trace, without blame",
            .paper = PAPER "RT-Trace of its section 5.1",
            .guarantee = "exact. A violation is reported if and only if this run was not "
                         "serializable.",
            .reports = "at the event",
            .time = "O(r) per access (r: readers), O(k^2) per edge that is not implied",
            .memory = "8 B per variable, 8 B per thread that read it, 8k^2 B (k: threads)",
            .flags = TMS_ENGINE_EXACT | TMS_ENGINE_AT_EVENT,
            .found = TMS_VERDICT_VIOLATION,
            .clean = TMS_VERDICT_SERIALIZABLE,
        },
    REGIONTRACK(create_trace),
};

const struct tms_engine tms_engine_regiontrack_blame = {
    .info =
        {
            .name = "regiontrack-blame",
            .summary = "the part of regiontrack that blames, without a verdict on the trace",
            .paper = PAPER "Algorithms 1 and 2",
            .guarantee = "exact about blocks that are themselves not serializable; cycles "
                         "without a block at fault are not found.",
            .reports = "at the event",
            .time = "O(k) per event (k: threads)",
            .memory =
                "8 B per variable, 8 B per thread that read it, 8k B per referenced sub-region",
            .flags = TMS_ENGINE_BLAMES,
            .found = TMS_VERDICT_VIOLATION,
            .clean = TMS_VERDICT_NONE_BLAMED,
        },
    REGIONTRACK(create_blame),
};
