/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of the frontier engine's structures; see frontier_invariants.h. */
#include "frontier/frontier_invariants.h"

#ifndef NDEBUG

bool tms_frontier_port_holds(const struct tms_frontier_port *port)
{
    return port->begin != NULL && port->end != NULL && port->find != NULL &&
           port->violation != NULL && port->fail != NULL && port->renewed != NULL &&
           (port->wake_source == NULL) == (port->wake == NULL);
}

/* ---- matrices --------------------------------------------------------------------------- */

static bool entry_holds(const struct tms_frontier *f, const struct tms_reach *reach, uint32_t row,
                        uint32_t column)
{
    uint64_t moment = tms_reach_at(reach, row, column);
    uint32_t number = tms_reach_edge(reach, row, column);

    if (column < FIRST_SLOT || column >= f->slot_count || moment < reach->least[column]) {
        return false;
    }
    if (number == 0) {
        return f->failed != TMS_OK; /* there was no memory for the edge */
    }
    const struct tms_edge *edge = &f->edges.edge[number];
    return number < f->edges.count && edge->references > 0 &&
           edge->step.to.thread == f->threads[column]->id && moment <= edge->step.second_event &&
           tms_reach_at(reach, row, edge->from) <= edge->step.first_event;
}

static bool row_holds(const struct tms_frontier *f, const struct tms_reach *reach, uint32_t row,
                      uint32_t own, uint64_t begin)
{
    const uint32_t *list = &reach->list[(size_t)row * reach->column_capacity];

    if (row >= f->row_count || reach->listed[row] == 0 || tms_reach_at(reach, row, own) != begin ||
        tms_reach_edge(reach, row, own) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < reach->listed[row]; i++) {
        if (tms_reach_at(reach, row, list[i]) == TMS_NEVER ||
            (list[i] != own && !entry_holds(f, reach, row, list[i]))) {
            return false;
        }
    }
    return true;
}

bool tms_frontier_rows_hold(const struct tms_frontier *f, const struct tms_frontier_thread *t)
{
    return row_holds(f, &f->graph, t->row, t->slot, t->begin) &&
           (!f->blame || row_holds(f, &f->order, t->row, t->slot, t->begin));
}

bool tms_frontier_innermost_holds(const struct tms_frontier *f, const struct tms_frontier_thread *t)
{
    size_t depth = t->nesting.depth;
    const struct tms_nested *open = t->nesting.open;

    if (depth == 0) {
        return !t->nesting.headless;
    }
    if (depth > 1 && open[depth - 2].block.begin_event >= open[depth - 1].block.begin_event) {
        return false;
    }
    return open[depth - 1].mark == 0 || (open[depth - 1].mark - 1 != t->row &&
                                         row_holds(f, &f->order, open[depth - 1].mark - 1, t->slot,
                                                   open[depth - 1].block.begin_event));
}

/* ---- the rest --------------------------------------------------------------------------- */

bool tms_reader_nodes_hold(const struct tms_frontier *f, uint32_t first)
{
    for (uint32_t number = first; number != 0; number = reader_node(f, number)->next) {
        const struct tms_frontier_reader_node *node = reader_node(f, number);
        if (number >= f->nodes.count || node->moment[0] == 0) {
            return false;
        }
        for (int i = 0; i < NODE_READERS; i++) {
            uint32_t slot = moment_slot(node->moment[i]);
            bool gap = i > 0 && node->moment[i] != 0 && node->moment[i - 1] == 0;
            bool thread = node->moment[i] == 0 || (slot >= FIRST_SLOT && slot < f->slot_count);
            if (gap || !thread || (node->moment[i] == 0 && node->next != 0)) {
                return false;
            }
        }
    }
    return true;
}

bool tms_log_holds(const struct tms_frontier_log *log)
{
    return log->capacity >= LOG_LEAST && log->capacity <= LOG_MOST &&
           (log->capacity & (log->capacity - 1)) == 0 && log->stop == log->entry + log->capacity &&
           log->next >= log->entry && log->next <= log->stop && log->first <= log_written(log) &&
           (log->begun == TMS_NEVER || log->begun <= log_written(log));
}

bool tms_cycle_holds(const struct tms_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct tms_transaction *to = &steps[i].to, *from = &steps[(i + 1) % count].from;
        if (to->thread != from->thread || to->begin_event != from->begin_event) {
            return false;
        }
    }
    return true;
}

bool tms_frontier_retired_hold(const struct tms_frontier *f)
{
    for (uint32_t i = 0; i + 1 < f->retired_count; i++) {
        if (f->retired[i] == f->retired[f->retired_count - 1]) {
            return false;
        }
    }
    return true;
}

#endif
