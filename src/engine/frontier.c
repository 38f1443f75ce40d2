/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frontier engine: decides, event by event, whether the transactions so far can be put in
 * a serial order, and which of them are themselves not atomic. docs/engines.md has the proof.
 *
 * An edge of the transaction graph always enters a running transaction, so a cycle is always
 * closed by an edge into a running one, and the only question ever asked is: does this
 * running transaction already reach where the edge comes from? So reachability is kept for
 * the running transactions only, as a matrix: graph[p][s] is the begin of the earliest
 * transaction of thread s that p's running transaction reaches; later ones of s follow by
 * program order. An edge from moment (u, e) into t's running transaction
 *   - closes a cycle iff graph[t][u] <= e: it is reported and left out;
 *   - otherwise every running p with graph[p][u] <= e now reaches all that t reaches.
 * An event outside blocks is a transaction of its own and over at once: those p reach it.
 *
 * Blame asks the same of events instead of transactions. order[p][s] is the first event of s
 * that comes after the begin of p's transaction. An edge from (u, e) into event m of t shows
 * that t's transaction is not atomic iff order[t][u] <= e; otherwise every p with
 * order[p][u] <= e has m behind its begin. Nothing follows m yet, so there is no row to merge.
 *
 * Three filters, exact for both questions, keep nearly all events away from the matrices:
 *   - a moment that is already recorded for the same stretch of this thread (see `floor`) is
 *     not recorded again; a stretch ends with the transaction, and, for blame and outside
 *     blocks, with each edge that comes in;
 *   - an edge from (u, e) is implied if one from (u, e') with e <= e' came in before (`in`);
 *   - nobody who runs reaches the source (`least` of the column).
 */
#include "engine/frontier.h"

#include <assert.h>
#include <string.h>

/* ---- edges ------------------------------------------------------------------------------ */

static inline void edges_from_readers(struct frontier *f, struct thread *t, const struct tms_op *op,
                                      uint64_t read, uint32_t place, struct cause cause)
{
    if (!is_several(read)) {
        tms_frontier_edge(f, t, op, read, place, cause);
        return;
    }
    for (uint32_t number = moment_node(read); number != 0;) {
        const struct reader_node *node = reader_node(f, number);
        for (int i = 0; i < NODE_READERS && node->moment[i] != 0; i++) {
            tms_frontier_edge(f, t, op, node->moment[i], node->place[i], cause);
        }
        number = node->next;
    }
}

/* ---- operations ------------------------------------------------------------------------- */

/*
 * How the operations on cells act, so that one straight piece of code serves them all: which of
 * them comes next is hard to guess for the processor.
 */
struct access {
    uint8_t cells; /* enum cells_of */
    bool is_access;
    int8_t exclusive;    /* -1: a write, or an operation on the exclusive side of a lock */
    int8_t always;       /* -1: recorded even when it repeats */
    uint8_t cls;         /* enum tms_class */
    uint8_t after_write; /* enum tms_edge_kind: of the edge from the last write … */
    uint8_t after_read;  /* … and from a reader */
    uint8_t unused;
};
_Static_assert(sizeof(struct access) == 8, "found by a shift");

/* clang-format off */
#define READS   {CELLS_VARIABLES, true, 0, 0, TMS_CLASS_VARIABLE, TMS_EDGE_WRITE_READ, 0, 0}
#define WRITES  {CELLS_VARIABLES, true, -1, 0, TMS_CLASS_VARIABLE, TMS_EDGE_WRITE_WRITE, \
                 TMS_EDGE_READ_WRITE, 0}
/* Always: a report is to name the release as the earlier event, not the acquire before it. */
#define LOCKS   {CELLS_LOCKS, true, -1, -1, TMS_CLASS_LOCK, TMS_EDGE_LOCK, TMS_EDGE_LOCK, 0}
#define SHARES  {CELLS_LOCKS, true, 0, 0, TMS_CLASS_LOCK, TMS_EDGE_LOCK, 0, 0}
/* Arrivals are the readers of a barrier's cell: they conflict with departures only. */
#define ARRIVES {CELLS_BARRIERS, true, 0, 0, TMS_CLASS_BARRIER, TMS_EDGE_BARRIER, 0, 0}
/* clang-format on */

static const struct access accesses[TMS_OP_COUNT] = {
    [TMS_OP_READ] = READS,
    [TMS_OP_WRITE] = WRITES,
    [TMS_OP_UPDATE] = WRITES,
    [TMS_OP_ACQUIRE] = LOCKS,
    [TMS_OP_RELEASE] = LOCKS,
    [TMS_OP_SHARED_ACQUIRE] = SHARES,
    [TMS_OP_SHARED_RELEASE] = SHARES,
    [TMS_OP_ARRIVE] = ARRIVES,
};

/* Edges come in, or there are several readers. */
static void access_with_edges(struct frontier *f, struct thread *t, const struct tms_op *op,
                              const struct access *access)
{
    struct cell *cell = &f->cells[access->cells].cell[op->target];
    struct places *places = &f->cells[access->cells].place[op->target];

    tms_frontier_edge(f, t, op, cell->write, places->at[WRITE],
                      (struct cause){access->after_write, access->cls, op->target});
    if (access->exclusive) {
        edges_from_readers(f, t, op, cell->read, places->at[READ],
                           (struct cause){access->after_read, access->cls, op->target});
        tms_cell_drop_readers(f, cell);
        cell->write = moment_here(t, op);
        places->at[WRITE] = op->location;
    } else if (!tms_cell_add_reader(f, t, cell, places, moment_here(t, op), op->location)) {
        tms_host_fail(f->host, TMS_ERR_MEMORY);
    }
    f->located |= op->location;
    log_add(f, &t->log, op);
}

/* False if it could not go on, and the host knows. */
static inline bool access_cell(struct frontier *f, struct thread *t, const struct tms_op *op,
                               const struct access *access)
{
    const struct cells *cells = &f->cells[access->cells];
    struct cell *cell = &cells->cell[op->target];
    uint64_t write = cell->write;
    uint64_t read = cell->read;
    /* Arithmetic instead of branches on `exclusive`: nobody can guess what comes next. */
    uint64_t exclusive = (uint64_t)(int64_t)access->exclusive; /* all ones, or zero */
    uint64_t since = write - t->floor < read - t->floor ? write - t->floor : read - t->floor;
    uint64_t blocked = (read | (uint64_t)(int64_t)access->always) & exclusive;
    if ((since | -(uint64_t)(blocked != 0)) < t->span) {
        return true;
    }
    if (!implied(t, write) || !implied(t, read)) {
        access_with_edges(f, t, op, access);
        return f->host->failed == TMS_OK;
    }
    /* A reader that is implied makes way: who comes after this event comes after that one. */
    uint64_t moment = moment_here(t, op);
    cell->write = write ^ ((write ^ moment) & exclusive);
    cell->read = moment & ~exclusive;
    if (f->located | op->location) {
        f->located |= op->location;
        cells->place[op->target].at[READ + access->exclusive] = op->location;
    }
    log_add(f, &t->log, op);
    return true;
}

/* For the first event of a thread; the others do not come through the table of handlers. */
static void access_first(struct frontier *f, struct thread *t, const struct tms_op *op)
{
    access_cell(f, t, op, &accesses[op->kind]);
}

static void depart_from_barrier(struct frontier *f, struct thread *t, const struct tms_op *op)
{
    const struct cells *barriers = &f->cells[CELLS_BARRIERS];

    edges_from_readers(f, t, op, barriers->cell[op->target].read,
                       barriers->place[op->target].at[READ],
                       (struct cause){TMS_EDGE_BARRIER, TMS_CLASS_BARRIER, op->target});
    tms_frontier_step(f, t, op);
}

static void forget(struct frontier *f, struct thread *t, const struct tms_op *op)
{
    struct cells *variables = &f->cells[CELLS_VARIABLES];

    (void)t;
    tms_cell_drop_readers(f, &variables->cell[op->target]);
    variables->cell[op->target].write = 0;
    log_add(f, &f->forgotten, op);
}

/* Did the variable become a new one between the two accesses, or may it have? */
static bool renewed(const struct frontier *f, const struct tms_op *first,
                    const struct tms_op *second)
{
    const struct log *forgotten = &f->forgotten;

    if (log_written(forgotten) == 0 || tms_event_class(first->event_kind) != TMS_CLASS_VARIABLE) {
        return false;
    }
    uint64_t i = tms_log_find(forgotten, first->event);
    if (i > 0 && i == tms_log_first(forgotten)) {
        return true; /* what was renewed so early is no longer known */
    }
    while (i < log_written(forgotten) && log_at(forgotten, i)->event < second->event) {
        if (log_at(forgotten, i++)->target == first->target) {
            return true;
        }
    }
    return false;
}

typedef void handler(struct frontier *f, struct thread *t, const struct tms_op *op);

static handler *const handlers[TMS_OP_COUNT] = {
    [TMS_OP_BEGIN] = tms_frontier_begin,    [TMS_OP_END] = tms_frontier_end,
    [TMS_OP_NEST] = tms_frontier_nest,      [TMS_OP_UNNEST] = tms_frontier_nest,
    [TMS_OP_READ] = access_first,           [TMS_OP_WRITE] = access_first,
    [TMS_OP_UPDATE] = access_first,         [TMS_OP_ACQUIRE] = access_first,
    [TMS_OP_RELEASE] = access_first,        [TMS_OP_SHARED_ACQUIRE] = access_first,
    [TMS_OP_SHARED_RELEASE] = access_first, [TMS_OP_FORK] = tms_frontier_fork,
    [TMS_OP_JOIN] = tms_frontier_join,      [TMS_OP_ARRIVE] = access_first,
    [TMS_OP_DEPART] = depart_from_barrier,  [TMS_OP_STEP] = tms_frontier_step,
    [TMS_OP_ESCAPE] = tms_frontier_step,    [TMS_OP_FORGET] = forget,
};

static void first_event(struct frontier *f, const struct tms_op *op)
{
    struct thread *t = tms_frontier_first(f, op);

    if (t != NULL && op->kind != TMS_OP_BEGIN) {
        handlers[op->kind](f, t, op);
    }
}

/*
 * Operations come in batches, so the cell of one that comes soon can be asked for early. Each is
 * taken for an access to a variable, as most are, and those behind the end of the batch for
 * operations: asking for what is not there does no harm.
 */
#define AHEAD          10
#define CELLS_IN_CACHE 65536 /* with fewer, asking for places costs more than it brings */
_Static_assert(AHEAD <= TMS_OPS_BEHIND, "what is looked at can be read");

/* One operation; false if it could not be done, and the host knows. */
static inline bool take(struct frontier *f, const struct tms_op *op)
{
    assert((op->flags & TMS_OP_FIRST) == 0);
    if (accesses[op->kind].is_access) {
        return access_cell(f, f->by_id[op->thread], op, &accesses[op->kind]);
    }
    handlers[op->kind](f, f->by_id[op->thread], op);
    return f->host->failed == TMS_OK;
}

static void take_near(struct frontier *f, const struct tms_op *ops, size_t count)
{
    const struct cells *variables = &f->cells[CELLS_VARIABLES];

    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&variables->cell[ops[i + AHEAD].target]);
        if (!take(f, &ops[i])) {
            return;
        }
    }
}

static void take_far(struct frontier *f, const struct tms_op *ops, size_t count)
{
    const struct cells *variables = &f->cells[CELLS_VARIABLES];

    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&variables->cell[ops[i + AHEAD].target]);
        __builtin_prefetch(&variables->place[ops[i + AHEAD].target], 1);
        if (!take(f, &ops[i])) {
            return;
        }
    }
}

/* All that has a name has a cell. */
static bool make_cells(struct frontier *f)
{
    static const uint8_t classes[CELLS_COUNT] = {
        [CELLS_VARIABLES] = TMS_CLASS_VARIABLE,
        [CELLS_LOCKS] = TMS_CLASS_LOCK,
        [CELLS_BARRIERS] = TMS_CLASS_BARRIER,
    };

    for (int i = 0; i < CELLS_COUNT; i++) {
        uint32_t names = tms_name_count(f->host->context, classes[i]);
        if (names >= f->cells[i].capacity && !tms_cells_grow(f, &f->cells[i], names)) {
            return false;
        }
    }
    return true;
}

static void frontier_batch(void *state, const struct tms_op *ops, size_t count)
{
    struct frontier *f = state;
    size_t first = ops[0].flags & TMS_OP_FIRST ? 1 : 0;

    if (ops[count - 1].event > MOMENT_EVENT_MOST) {
        tms_host_fail(f->host, TMS_ERR_LIMIT);
        return;
    }
    if (!make_cells(f)) {
        tms_host_fail(f->host, TMS_ERR_MEMORY);
        return;
    }
    if (first) {
        first_event(f, &ops[0]);
        if (f->host->failed != TMS_OK) {
            return;
        }
    }
    bool far = f->located && f->cells[CELLS_VARIABLES].capacity > CELLS_IN_CACHE;
    (far ? take_far : take_near)(f, ops + first, count - first);
}

/* ---- the engine ------------------------------------------------------------------------- */

static int frontier_create(void *state, struct tms_host *host)
{
    struct frontier *f = state;

    f->host = host;
    f->memory = &host->memory;
    f->blame = host->settings->blame;
    f->slot_count = FIRST_SLOT;
    f->slot_most = LAST_SLOT;
    f->renewed = renewed;
    tms_edges_init(&f->edges, f->memory);
    tms_reach_init(&f->graph, f->memory, &f->edges);
    tms_reach_init(&f->order, f->memory, &f->edges);
    int code = tms_reach_grow(&f->graph, 1, 1);
    if (code == TMS_OK) {
        code = tms_reach_grow(&f->order, 1, 1);
    }
    return code == TMS_OK && !tms_log_start(f, &f->forgotten) ? TMS_ERR_MEMORY : code;
}

static void frontier_finish(void *state)
{
    struct frontier *f = state;

    for (uint32_t slot = FIRST_SLOT; slot < f->slot_count; slot++) {
        tms_frontier_settle(f, f->threads[slot]);
    }
}

static size_t frontier_stats(const void *state, struct tms_counter *counters, size_t room)
{
    const struct frontier *f = state;
    const struct tms_counter all[] = {
        {"slots", "most threads that had to be told apart at a time", f->slot_count - FIRST_SLOT},
        {"rows", "most transactions running at a time", f->row_count},
        {"edges", "conflicts between threads that were not implied by earlier ones", f->edges_seen},
        {"inserted", "of these, taken into the graph", f->edges_inserted},
        {"shared_reads", "times a second thread read something between two writes", f->nodes_used},
        {"sweeps", "times the history of all threads was swept", f->sweeps},
    };
    size_t count = sizeof(all) / sizeof(all[0]);

    memcpy(counters, all, (count < room ? count : room) * sizeof(*counters));
    return count < room ? count : room;
}

static void frontier_destroy(void *state)
{
    struct frontier *f = state;

    if (f->memory == NULL) {
        return;
    }
    tms_witness_clear(f);
    for (uint32_t slot = FIRST_SLOT; slot < f->slot_count; slot++) {
        struct thread *t = f->threads[slot];
        tms_release(f->memory, t->history.past, t->history.capacity, sizeof(*t->history.past));
    }
    for (size_t slot = 0; slot < f->slot_capacity; slot++) {
        tms_release(f->memory, f->threads[slot], 1, sizeof(struct thread));
    }
    tms_release(f->memory, f->in, f->slot_capacity * f->slot_capacity, sizeof(*f->in));
    tms_release(f->memory, f->threads, f->slot_capacity, sizeof(*f->threads));
    tms_release(f->memory, f->retired, f->retired_capacity, sizeof(*f->retired));
    tms_release(f->memory, f->free_rows, f->row_capacity, sizeof(*f->free_rows));
    tms_release(f->memory, f->by_id, f->id_capacity, sizeof(*f->by_id));
    tms_release(f->memory, f->forks, f->fork_capacity, sizeof(*f->forks));
    for (int i = 0; i < CELLS_COUNT; i++) {
        tms_cells_clear(f, &f->cells[i]);
    }
    tms_reader_nodes_clear(f);
    tms_reach_clear(&f->graph);
    tms_reach_clear(&f->order);
    tms_edges_clear(&f->edges);
}

const struct tms_engine tms_engine_frontier = {
    .info =
        {
            .name = "frontier",
            .summary = "exact verdict and blame at the very event, without graph or clocks",
            .paper = "docs/engines.md; the same idea stands behind Tunç, Dong and Pavlogiannis, "
                     "Fast Atomicity Monitoring, 2026",
            .guarantee = "exact. A violation is reported if and only if this run was not "
                         "serializable, at the first event that shows it.",
            .reports = "at the event",
            .time = "O(k^2) per event at worst, O(1) typically (k: threads)",
            .memory = "24 bytes a variable, 64 per four threads that share a read, 40 a pair of "
                      "threads; none per event",
            .flags = TMS_ENGINE_EXACT | TMS_ENGINE_AT_EVENT | TMS_ENGINE_BLAMES |
                     TMS_ENGINE_WITNESS | TMS_ENGINE_BOUNDED,
        },
    .state_size = sizeof(struct frontier),
    .create = frontier_create,
    .batch = frontier_batch,
    .finish = frontier_finish,
    .stats = frontier_stats,
    .destroy = frontier_destroy,
};
