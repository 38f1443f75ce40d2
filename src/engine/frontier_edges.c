/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heart of the frontier engine: what an edge between two threads does to the two matrices.
 * frontier.c has the algorithm in words.
 */
#include <assert.h>

#include "engine/frontier.h"

/* An edge on its way into the matrices; it is written down only once somebody is extended. */
struct arriving {
    const struct tms_op *op;
    struct source source;
    struct cause cause;
    uint64_t event; /* where it comes from … */
    uint32_t from;
    uint32_t number; /* in the pool, 0 as long as nobody needs it */
};

static struct tms_step make_step(const struct frontier *f, const struct thread *t,
                                 const struct arriving *edge)
{
    const struct tms_op *op = edge->op;

    return (struct tms_step){
        .from = tms_history_find(f->threads[edge->from], edge->event, edge->source.place),
        .to = tms_history_find(t, op->event, op->location),
        .first_event = edge->event,
        .second_event = op->event,
        .first_location = edge->source.place,
        .second_location = op->location,
        .on = edge->cause.on,
        .on_class = edge->cause.cls,
        .kind = edge->cause.kind,
        .first_kind = moment_kind(edge->source.moment),
        .second_kind = op->event_kind,
    };
}

static uint32_t edge_number(struct frontier *f, const struct thread *t, struct arriving *edge)
{
    if (edge->number == 0) {
        struct tms_step step = make_step(f, t, edge);
        edge->number = tms_edges_make(&f->edges, &step, edge->from);
        if (edge->number == 0) {
            tms_host_fail(f->host, TMS_ERR_MEMORY);
        }
    }
    return edge->number;
}

/* Everybody who had the source behind its begin has this event there too. */
static void extend_order(struct frontier *f, const struct thread *t, struct arriving *edge)
{
    struct tms_reach *order = &f->order;

    if (!tms_reach_maybe(order, edge->from, edge->event)) {
        return;
    }
    uint32_t row = tms_reach_next(order, edge->from, edge->event, 0);
    for (; row < order->row_capacity;
         row = tms_reach_next(order, edge->from, edge->event, row + 1)) {
        if (row != t->row && edge->op->event < tms_reach_at(order, row, t->slot)) {
            tms_reach_lower(order, row, t->slot, edge->op->event, edge_number(f, t, edge));
        }
    }
}

/* The row now reaches all that t's running transaction reaches. */
static void merge_row(struct frontier *f, const struct thread *t, uint32_t row,
                      struct arriving *edge)
{
    struct tms_reach *graph = &f->graph;
    const uint32_t *list = &graph->list[(size_t)t->row * graph->column_capacity];

    for (uint32_t i = 0; i < graph->listed[t->row]; i++) {
        uint32_t column = list[i];
        uint64_t moment = tms_reach_at(graph, t->row, column);
        if (moment < tms_reach_at(graph, row, column)) {
            uint32_t by =
                column == t->slot ? edge_number(f, t, edge) : tms_reach_edge(graph, t->row, column);
            tms_reach_lower(graph, row, column, moment, by);
        }
    }
}

/* Everybody who reached the source reaches this transaction, and what it reaches. */
static void extend_graph(struct frontier *f, const struct thread *t, struct arriving *edge)
{
    struct tms_reach *graph = &f->graph;

    if (!tms_reach_maybe(graph, edge->from, edge->event)) {
        return;
    }
    uint32_t row = tms_reach_next(graph, edge->from, edge->event, 0);
    for (; row < graph->row_capacity;
         row = tms_reach_next(graph, edge->from, edge->event, row + 1)) {
        assert(row != t->row);
        if (t->row != NO_ROW) {
            merge_row(f, t, row, edge);
        } else if (edge->op->event < tms_reach_at(graph, row, t->slot)) {
            tms_reach_lower(graph, row, t->slot, edge->op->event, edge_number(f, t, edge));
        }
    }
}

void tms_frontier_arrive(struct frontier *f, struct thread *t, const struct tms_op *op,
                         struct source source, struct cause cause)
{
    struct arriving edge = {.op = op,
                            .source = source,
                            .cause = cause,
                            .event = moment_event(source.moment),
                            .from = moment_slot(source.moment)};
    bool running = t->row != NO_ROW;
    bool cycle = running && tms_reach_at(&f->graph, t->row, edge.from) <= edge.event;
    bool blamed = running && f->blame && tms_reach_at(&f->order, t->row, edge.from) <= edge.event;

    f->edges_seen++;
    if (f->blame || !running) {
        start_stretch(t, op->event);
    }
    bool matters = tms_reach_maybe(&f->graph, edge.from, edge.event) ||
                   (f->blame && tms_reach_maybe(&f->order, edge.from, edge.event));
    if (matters) {
        if (f->blame) {
            extend_order(f, t, &edge);
        }
        if (cycle || blamed) {
            struct tms_step closing = make_step(f, t, &edge);
            tms_frontier_violation(f, t, &closing, edge.from, cycle, blamed);
        }
        if (!cycle) {
            extend_graph(f, t, &edge);
        }
        tms_edges_drop(&f->edges, edge.number);
    }
    if (!cycle) {
        f->edges_inserted++;
        t->in[edge.from] = source.moment | MOMENT_KIND_MASK;
    }
}
