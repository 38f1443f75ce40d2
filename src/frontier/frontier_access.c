/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of the frontier engine on cells, and the loop over all operations: the hottest
 * code of the library. frontier_edges.c has the algorithm in words.
 */
#include <assert.h>

#include "frontier/frontier_access.h"

/* ---- edges ------------------------------------------------------------------------------ */

/* Kept apart from the case of one reader, which is frequent and quick. */
static __attribute__((noinline)) void edges_from_nodes(struct tms_frontier *f,
                                                       struct tms_frontier_thread *t,
                                                       const struct tms_op *op, uint32_t number,
                                                       uint8_t kind)
{
    while (number != 0) {
        const struct tms_frontier_reader_node *node = reader_node(f, number);
        for (int i = 0; i < NODE_READERS && node->moment[i] != 0; i++) {
            tms_frontier_edge(f, t, op, node->moment[i], node->place[i], kind);
        }
        number = node->next;
    }
}

static inline void edges_from_readers(struct tms_frontier *f, struct tms_frontier_thread *t,
                                      const struct tms_op *op, uint64_t read, uint32_t place,
                                      uint8_t kind)
{
    if (is_several(read)) {
        edges_from_nodes(f, t, op, moment_node(read), kind);
    } else {
        tms_frontier_edge(f, t, op, read, place, kind);
    }
}

/* ---- operations ------------------------------------------------------------------------- */

/*
 * Describes the operations on cells, so that one branch-free piece of code handles them all: the
 * next kind is unpredictable.
 */
struct access {
    uint8_t cells; /* enum tms_place */
    bool is_access;
    int8_t exclusive;    /* -1: a write, or an operation on the exclusive side of a lock */
    int8_t always;       /* -1: recorded even when it repeats */
    uint8_t after_write; /* enum tms_edge_kind: of the edge from the last write … */
    uint8_t after_read;  /* … and from a reader */
    uint8_t unused[2];
};
_Static_assert(sizeof(struct access) == 8, "found by a shift");

/* clang-format off */
#define READS   {TMS_PLACE_VARIABLE, true, 0, 0, TMS_EDGE_WRITE_READ, 0, {0}}
#define WRITES  {TMS_PLACE_VARIABLE, true, -1, 0, TMS_EDGE_WRITE_WRITE, TMS_EDGE_READ_WRITE, {0}}
/*
 * Always recorded, so that a report names the release as the earlier event, not the acquire before
 * it.
 */
#define LOCKS   {TMS_PLACE_LOCK, true, -1, -1, TMS_EDGE_LOCK, TMS_EDGE_LOCK, {0}}
#define SHARES  {TMS_PLACE_LOCK, true, 0, 0, TMS_EDGE_LOCK, 0, {0}}
/* Arrivals are the readers of a barrier's cell: they conflict with departures only. */
#define ARRIVES {TMS_PLACE_BARRIER, true, 0, 0, TMS_EDGE_BARRIER, 0, {0}}
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

/* Does not touch their memory as long as all locations are 0. */
static inline uint32_t place_of(const struct tms_frontier *f,
                                const struct tms_frontier_cells *cells, uint32_t target, int which)
{
    return f->located ? cells->place[target].at[which] : 0;
}

__attribute__((noinline)) void
tms_frontier_meet(struct tms_frontier *f, struct tms_frontier_thread *t, const struct tms_op *op)
{
    const struct access *access = &accesses[op->kind];
    const struct tms_frontier_cells *cells = &f->cells[access->cells];
    struct tms_frontier_cell *cell = &cells->cell[op->target];

    assert(op->target < cells->capacity && op->target < cells->place_capacity);
    assert(!implied(t, cell->write) || !implied(t, cell->read));
    assert(!is_several(cell->write)); /* only readers are several */
    tms_frontier_edge(f, t, op, cell->write, place_of(f, cells, op->target, WRITE),
                      access->after_write);
    if (access->exclusive) {
        edges_from_readers(f, t, op, cell->read, place_of(f, cells, op->target, READ),
                           access->after_read);
        drop_readers(f, cell);
        cell->write = moment_here(t, op);
        note_place(f, cells, op->target, UINT64_MAX, op->location);
    } else if (!tms_cell_add_reader(f, t, cell, &cells->place[op->target], moment_here(t, op),
                                    op->location)) {
        tms_frontier_fail(f, TMS_ERR_MEMORY);
    }
    f->located |= op->location;
}

/* False if the engine has failed. */
static inline bool access_op(struct tms_frontier *f, struct tms_frontier_thread *t,
                             const struct tms_op *op)
{
    const struct access *access = &accesses[op->kind];
    const struct tms_frontier_cells *cells = &f->cells[access->cells];
    uint64_t exclusive = (uint64_t)(int64_t)access->exclusive;
    uint64_t always = (uint64_t)(int64_t)access->always;

    assert(op->target < cells->capacity);
    switch (access_cell(t, &cells->cell[op->target], exclusive, always, moment_here(t, op))) {
    case REPEATS:
        break;
    case MEETS:
        tms_frontier_meet(f, t, op);
        log_add(f, &t->log, op);
        return f->failed == TMS_OK;
    case PASSES:
        note_place(f, cells, op->target, exclusive, op->location);
        log_add(f, &t->log, op);
        break;
    }
    return true;
}

/* For the first event of a thread; others bypass the table of handlers. */
static void access_first(struct tms_frontier *f, struct tms_frontier_thread *t,
                         const struct tms_op *op)
{
    access_op(f, t, op);
}

static void depart_from_barrier(struct tms_frontier *f, struct tms_frontier_thread *t,
                                const struct tms_op *op)
{
    const struct tms_frontier_cells *barriers = &f->cells[TMS_PLACE_BARRIER];

    assert(op->target < barriers->capacity);
    assert(barriers->cell[op->target].write == 0);
    edges_from_readers(f, t, op, barriers->cell[op->target].read,
                       barriers->place[op->target].at[READ], TMS_EDGE_BARRIER);
    tms_frontier_step(f, t, op);
}

static void forget(struct tms_frontier *f, struct tms_frontier_thread *t, const struct tms_op *op)
{
    struct tms_frontier_cells *variables = &f->cells[TMS_PLACE_VARIABLE];

    (void)t;
    assert(op->target < variables->capacity);
    drop_readers(f, &variables->cell[op->target]);
    variables->cell[op->target].write = 0;
    log_add(f, &f->forgotten, op);
}

typedef void handler(struct tms_frontier *f, struct tms_frontier_thread *t,
                     const struct tms_op *op);

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

static void first_event(struct tms_frontier *f, const struct tms_op *op)
{
    struct tms_frontier_thread *t = tms_frontier_first(f, op);

    if (t != NULL && op->kind != TMS_OP_BEGIN) {
        handlers[op->kind](f, t, op);
    }
}

#define CELLS_IN_CACHE 65536 /* with fewer, prefetching locations does not pay */
_Static_assert(AHEAD <= TMS_OPS_AHEAD, "what is looked at can be read");

/* One operation; false if the engine has failed. */
static inline bool take(struct tms_frontier *f, const struct tms_op *op)
{
    assert((op->flags & TMS_OP_FIRST) == 0);
    if (handlers[op->kind] == NULL) {
        return true; /* not an event, and its thread may have had none yet */
    }
    assert(f->by_id[op->thread] != NULL && f->by_id[op->thread]->id == op->thread);
    if (accesses[op->kind].is_access) {
        return access_op(f, f->by_id[op->thread], op);
    }
    handlers[op->kind](f, f->by_id[op->thread], op);
    return f->failed == TMS_OK;
}

/* `far` (constant at each call): prefetch locations as well. */
static inline __attribute__((always_inline)) void
take_each(struct tms_frontier *f, const struct tms_op *ops, size_t count, bool far)
{
    const struct tms_frontier_cells *variables = &f->cells[TMS_PLACE_VARIABLE];

    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&variables->cell[ops[i + AHEAD].target]);
        if (far) {
            __builtin_prefetch(&variables->place[ops[i + AHEAD].target], 1);
        }
        if (!take(f, &ops[i])) {
            return;
        }
    }
}

static void take_near(struct tms_frontier *f, const struct tms_op *ops, size_t count)
{
    take_each(f, ops, count, false);
}

static void take_far(struct tms_frontier *f, const struct tms_op *ops, size_t count)
{
    take_each(f, ops, count, true);
}

void tms_frontier_take(struct tms_frontier *f, const struct tms_op *ops, size_t count)
{
    size_t first = ops[0].flags & TMS_OP_FIRST ? 1 : 0;

    if (first) {
        first_event(f, &ops[0]);
        if (f->failed != TMS_OK) {
            return;
        }
    }
    bool far = f->located && f->cells[TMS_PLACE_VARIABLE].capacity > CELLS_IN_CACHE;
    (far ? take_far : take_near)(f, ops + first, count - first);
}
