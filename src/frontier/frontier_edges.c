/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frontier engine: decides, event by event, whether the transactions so far can be put in a
 * serial order, and which of them are themselves not atomic. docs/research/engines.md has the
 * proof.
 *
 * An edge of the transaction graph always enters a running transaction, so a cycle is always closed
 * by an edge into a running one, and the only query is: does this running transaction already reach
 * the source of the edge? So reachability is kept for the running transactions only, as a matrix:
 * graph[p][s] is the begin of the earliest transaction of thread s that p's running transaction
 * reaches; later ones of s follow by program order. An edge from moment (u, e) into t's running
 * transaction
 * - closes a cycle iff graph[t][u] <= e: it is reported and left out;
 * - otherwise every running p with graph[p][u] <= e now reaches all that t reaches. An event
 *   outside blocks is a transaction of its own and over at once: those p reach it.
 *
 * Blame is the same query on events instead of transactions. order[p][s] is the first event of s
 * that comes after the begin of p's transaction. An edge from (u, e) into event m of t shows that
 * t's transaction is not atomic iff order[t][u] <= e; otherwise m comes after the begin of every p
 * with order[p][u] <= e. Nothing follows m yet, so there is no row to merge. Blocks inside
 * transactions are treated in the same way (frontier_nested.c).
 *
 * Three filters, exact for both queries, keep nearly all events away from the matrices:
 * - a moment that is already recorded for the same stretch of this thread (see `floor`) is not
 *   recorded again; a stretch ends with the transaction, for blame where a block inside it begins,
 *   and, for blame and outside blocks, with each edge by which a transaction comes to reach the
 *   thread;
 * - an edge from (u, e) is implied if one from (u, e') with e <= e' came in before (`in`);
 * - no running transaction reaches the source (`least` of the column).
 */
#include <assert.h>

#include "frontier/frontier.h"
#include "frontier/frontier_invariants.h"

/* An edge about to enter the matrices; it is stored only once it extends a row. */
struct arriving {
    const struct tms_op *op;
    struct tms_frontier_source source;
    uint64_t event; /* where it comes from … */
    uint32_t from;
    uint32_t number; /* in the pool, 0 until it is needed */
};

/* What the two events of an edge conflict on. */
static const uint8_t classes[] = {
    [TMS_EDGE_READ_WRITE] = TMS_CLASS_VARIABLE,  [TMS_EDGE_WRITE_READ] = TMS_CLASS_VARIABLE,
    [TMS_EDGE_WRITE_WRITE] = TMS_CLASS_VARIABLE, [TMS_EDGE_LOCK] = TMS_CLASS_LOCK,
    [TMS_EDGE_FORK] = TMS_CLASS_THREAD,          [TMS_EDGE_JOIN] = TMS_CLASS_THREAD,
    [TMS_EDGE_BARRIER] = TMS_CLASS_BARRIER,
};

static struct tms_step make_step(const struct tms_frontier *f, const struct tms_frontier_thread *t,
                                 struct arriving *edge)
{
    const struct tms_op *op = edge->op;

    if (edge->source.find_place != NULL) {
        edge->source.place = edge->source.find_place(f, edge->source.moment, op);
        edge->source.find_place = NULL;
    }
    return (struct tms_step){
        .from = f->port->find(f->threads[edge->from], edge->event, edge->source.place),
        .to = f->port->find(t, op->event, op->location),
        .first_event = edge->event,
        .second_event = op->event,
        .first_location = edge->source.place,
        .second_location = op->location,
        .on = edge->source.kind == TMS_EDGE_FORK ? op->thread : op->target,
        .on_class = classes[edge->source.kind],
        .kind = edge->source.kind,
        .first_kind = moment_kind(edge->source.moment),
        .second_kind = op->event_kind,
    };
}

static uint32_t edge_number(struct tms_frontier *f, const struct tms_frontier_thread *t,
                            struct arriving *edge)
{
    if (edge->number == 0) {
        struct tms_step step = make_step(f, t, edge);
        edge->number = tms_edges_make(&f->edges, &step, edge->from);
        if (edge->number == 0) {
            tms_frontier_fail(f, TMS_ERR_MEMORY);
        }
    }
    return edge->number;
}

/* The row now reaches the thread from this event on. Is that new to it? */
static bool reach_thread(struct tms_frontier *f, struct tms_reach *reach,
                         const struct tms_frontier_thread *t, uint32_t row, struct arriving *edge)
{
    if (edge->op->event >= tms_reach_at(reach, row, t->slot)) {
        return false;
    }
    tms_reach_lower(reach, row, t->slot, edge->op->event, edge_number(f, t, edge));
    return true;
}

/* The row now reaches all that t's running transaction reaches. Is that itself new to it? */
static bool merge_row(struct tms_frontier *f, const struct tms_frontier_thread *t, uint32_t row,
                      struct arriving *edge)
{
    struct tms_reach *graph = &f->graph;
    const uint32_t *list = &graph->list[(size_t)t->row * graph->column_capacity];
    bool met = false;

    assert(row < f->row_count && t->row < f->row_count);
    for (uint32_t i = 0; i < graph->listed[t->row]; i++) {
        uint32_t column = list[i];
        uint64_t moment = tms_reach_at(graph, t->row, column);
        if (moment < tms_reach_at(graph, row, column)) {
            uint32_t by =
                column == t->slot ? edge_number(f, t, edge) : tms_reach_edge(graph, t->row, column);
            tms_reach_lower(graph, row, column, moment, by);
            met = met || column == t->slot;
        }
    }
    return met;
}

typedef bool extend_row(struct tms_frontier *f, const struct tms_frontier_thread *t, uint32_t row,
                        struct arriving *edge);

/*
 * The row has the source after its begin, so it now has this event too. Is it the first of the
 * thread?
 */
static bool extend_order_row(struct tms_frontier *f, const struct tms_frontier_thread *t,
                             uint32_t row, struct arriving *edge)
{
    return row != t->row && reach_thread(f, &f->order, t, row, edge);
}

/*
 * A row that reaches the source now reaches this transaction and everything that it reaches. Is
 * that new?
 */
static bool extend_graph_row(struct tms_frontier *f, const struct tms_frontier_thread *t,
                             uint32_t row, struct arriving *edge)
{
    assert(row != t->row);
    return t->row != NO_ROW ? merge_row(f, t, row, edge) : reach_thread(f, &f->graph, t, row, edge);
}

/* Extends each row that reaches the source. Returns whether that was new to any of them. */
static inline bool extend(struct tms_frontier *f, struct tms_reach *reach,
                          const struct tms_frontier_thread *t, struct arriving *edge,
                          extend_row *each)
{
    bool met = false;

    if (!tms_reach_any(reach, edge->from, edge->event)) {
        return false;
    }
    for (uint32_t first = 0; first < reach->row_capacity; first += TMS_REACH_GROUP) {
        unsigned rows = tms_reach_group(reach, edge->from, edge->event, first);
        for (; rows != 0; rows &= rows - 1) {
            met |= each(f, t, first + (uint32_t)__builtin_ctz(rows), edge);
        }
    }
    return met;
}

/* The edge leads to a transaction that reaches its source. */
static void close_cycle(struct tms_frontier *f, struct tms_frontier_thread *t,
                        struct arriving *edge, bool cycle, bool blamed)
{
    assert(t->row != NO_ROW && (!blamed || edge->event > t->begin));
    assert(tms_frontier_rows_hold(f, t));
    if (tms_frontier_is_news(t, edge->op, blamed)) {
        struct tms_step closing = make_step(f, t, edge);
        tms_frontier_violation(f, t, &closing, edge->from, cycle, blamed);
    } else {
        f->closing_edges += cycle;
    }
}

/*
 * Some running transaction may reach the source. Events of a thread before and after this one are
 * equivalent as long as no transaction came to reach the thread in between: only then does a new
 * stretch begin.
 */
static bool arrive_among_others(struct tms_frontier *f, struct tms_frontier_thread *t,
                                struct arriving *edge)
{
    bool running = t->row != NO_ROW;
    bool cycle = running && tms_reach_at(&f->graph, t->row, edge->from) <= edge->event;
    bool blamed = running && f->blame && tms_reach_at(&f->order, t->row, edge->from) <= edge->event;
    bool met = f->blame && extend(f, &f->order, t, edge, extend_order_row);

    if (cycle || blamed) {
        close_cycle(f, t, edge, cycle, blamed);
    }
    if (!cycle) {
        met |= extend(f, &f->graph, t, edge, extend_graph_row);
    }
    tms_edges_drop(&f->edges, edge->number);
    if (met) {
        t->met = edge->op->event;
        if (f->blame || !running) {
            start_stretch(t, edge->op->event);
        }
    }
    return cycle;
}

void tms_frontier_add_edge(struct tms_frontier *f, struct tms_frontier_thread *t,
                           const struct tms_op *op, const struct tms_frontier_source *source)
{
    uint64_t event = moment_event(source->moment);
    uint32_t from = moment_slot(source->moment);
    bool cycle = false;

    assert(from >= FIRST_SLOT && from < f->slot_count && from != t->slot);
    assert(!implied(t, source->moment));
    assert(event < op->event);
    f->edges_seen++;
    if (f->nests) {
        tms_frontier_nested_leave(f, from, event);
    }
    if (f->port->wake_source != NULL) {
        f->port->wake_source(f, from, event);
    }
    if (tms_reach_maybe(&f->graph, from, event) ||
        (f->blame && tms_reach_maybe(&f->order, from, event))) {
        if (f->port->wake != NULL) {
            f->port->wake(f, t);
        }
        struct arriving edge = {.op = op, .source = *source, .event = event, .from = from};
        cycle = arrive_among_others(f, t, &edge);
    }
    assert(t->met <= op->event && moment_event(t->floor) <= op->event);
    if (!cycle) {
        f->edges_inserted++;
        t->in[from] = source->moment | MOMENT_KIND_MASK;
    }
}
