/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of the frontier engine that involve no cell: begin, end, fork and join. Separate
 * from the cells because the runtime keeps those in its shadow memory.
 */
#include <assert.h>

#include "frontier/frontier.h"
#include "frontier/frontier_invariants.h"

void tms_frontier_step(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op)
{
    log_add(f, &t->log, op);
}

bool tms_frontier_take_row(struct tms_frontier *f, uint32_t *row)
{
    int code = f->free_row_count == 0 ? tms_frontier_grow_rows(f) : TMS_OK;

    if (code != TMS_OK) {
        tms_frontier_fail(f, code);
        return false;
    }
    *row = f->free_rows[--f->free_row_count];
    assert(*row < f->row_count && f->graph.listed[*row] == 0 && f->order.listed[*row] == 0);
    return true;
}

bool tms_frontier_open(struct tms_frontier *f, struct tms_frontier_thread *t, uint64_t event)
{
    assert(t->row == NO_ROW);
    if (!tms_frontier_take_row(f, &t->row)) {
        return false;
    }
    t->begin = event;
    tms_reach_open(&f->graph, t->row, t->slot, event);
    if (f->blame) {
        tms_reach_open(&f->order, t->row, t->slot, event);
    }
    return true;
}

void tms_frontier_begin(struct tms_frontier *f, struct tms_frontier_thread *t,
                        const struct tms_op *op)
{
    assert(t->begin == 0 && !t->pending.open);
    if (!f->port->begin(f, t, op)) {
        tms_frontier_fail(f, TMS_ERR_MEMORY);
        return;
    }
    if (tms_frontier_open(f, t, op->event)) {
        start_stretch(t, op->event);
        log_begin(f, &t->log, op);
    }
}

void tms_frontier_end(struct tms_frontier *f, struct tms_frontier_thread *t,
                      const struct tms_op *op)
{
    assert(t->begin != 0 && t->begin <= op->event);
    assert(tms_frontier_rows_hold(f, t));
    tms_frontier_settle(f, t);
    tms_frontier_close_nested(f, t);
    tms_nesting_end(&t->nesting, op);
    tms_reach_close(&f->graph, t->row);
    if (f->blame) {
        tms_reach_close(&f->order, t->row);
    }
    assert(f->free_row_count < f->row_count);
    f->free_rows[f->free_row_count++] = t->row;
    t->row = NO_ROW;
    t->begin = 0;
    f->port->end(t, op->event);
    start_stretch(t, op->event);
    log_end(f, &t->log, op);
}

void tms_frontier_fork(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op)
{
    if (tms_frontier_need_id(f, op->target)) {
        f->forks[op->target] = (struct tms_frontier_origin){moment_here(t, op), op->location};
        tms_frontier_step(f, t, op);
    }
}

/* Any event of the joined thread conflicts with its join: the edge comes from its last. */
void tms_frontier_join(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op)
{
    const struct tms_frontier_thread *child =
        op->target < f->id_capacity ? f->by_id[op->target] : NULL;

    if (child != NULL) {
        assert(child != t && log_written(&child->log) > 0);
        const struct tms_op *last = log_at(&child->log, log_written(&child->log) - 1);
        tms_frontier_edge(f, t, op, make_moment(child->slot, last->event, last->event_kind),
                          last->location, TMS_EDGE_JOIN);
        tms_frontier_retire(f, child->slot);
    }
    tms_frontier_step(f, t, op);
}

/* The edge from the fork, if there was one, comes into the thread's first event. */
struct tms_frontier_thread *tms_frontier_first(struct tms_frontier *f, const struct tms_op *op)
{
    struct tms_frontier_thread *t = tms_frontier_settle_in(f, op);

    if (t == NULL) {
        return NULL;
    }
    if (op->kind == TMS_OP_BEGIN) {
        tms_frontier_begin(f, t, op);
    }
    const struct tms_frontier_origin *fork = &f->forks[op->thread];
    tms_frontier_edge(f, t, op, fork->moment, fork->place, TMS_EDGE_FORK);
    return t;
}
