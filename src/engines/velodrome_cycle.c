/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles of the velodrome engine, for blame and for reports; see velodrome_graph.h.
 *
 * A node may hold several transactions of its thread: its own and unary events that joined it.
 * Reports name the real ones. Where an edge enters one of them and the next edge leaves another, a
 * step of program order connects them.
 */
#include <assert.h>

#include "engines/velodrome_graph.h"

/* The transaction of an event of a node: that of the node, or the unary event by itself. */
static struct tms_transaction name_of(const struct tms_velodrome_node *node, uint64_t event,
                                      uint32_t location)
{
    return event <= node->end && !node->name.unary
               ? node->name
               : (struct tms_transaction){event, node->name.thread, 0, location, true};
}

static struct tms_step step_of(const struct tms_velodrome_graph *graph,
                               const struct tms_velodrome_edge *edge)
{
    return (struct tms_step){
        .from = name_of(&graph->node[edge->from], edge->first, edge->first_location),
        .to = name_of(&graph->node[edge->to], edge->second, edge->second_location),
        .first_event = edge->first,
        .second_event = edge->second,
        .first_location = edge->first_location,
        .second_location = edge->second_location,
        .on = edge->on,
        .on_class = edge->on_class,
        .kind = edge->kind,
        .first_kind = edge->first_kind,
        .second_kind = edge->second_kind,
    };
}

/* Within a node, from the event that `in` enters to the one that `out` leaves. */
static struct tms_step step_between(const struct tms_step *in, const struct tms_step *out)
{
    assert(in->second_event < out->first_event);
    return (struct tms_step){
        .from = in->to,
        .to = out->from,
        .first_event = in->second_event,
        .second_event = out->first_event,
        .first_location = in->second_location,
        .second_location = out->first_location,
        .on_class = TMS_CLASS_NONE,
        .kind = TMS_EDGE_PROGRAM_ORDER,
        .first_kind = in->second_kind,
        .second_kind = out->first_kind,
    };
}

/* The edge before this one on the way that the search found; NULL at its start. */
static const struct tms_velodrome_edge *edge_before(const struct tms_velodrome_graph *graph,
                                                    const struct tms_velodrome_edge *edge,
                                                    uint32_t start)
{
    return edge->from == start ? NULL : &graph->edge[graph->node[edge->from].via];
}

uint64_t tms_velodrome_is_increasing(const struct tms_velodrome_graph *graph,
                                     const struct tms_velodrome_edge *closing)
{
    const struct tms_velodrome_edge *out = closing, *in;

    while ((in = edge_before(graph, out, closing->to)) != NULL) {
        if (in->second > out->first) {
            return 0;
        }
        out = in;
    }
    return out->first;
}

/* How many steps there can be at most: one for each edge, and one between each two. */
static size_t most_steps(const struct tms_velodrome_graph *graph,
                         const struct tms_velodrome_edge *closing)
{
    size_t edges = 0;

    for (const struct tms_velodrome_edge *at = closing; at != NULL;
         at = edge_before(graph, at, closing->to)) {
        edges++;
    }
    return 2 * edges - 1;
}

static void reverse(struct tms_step *steps, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct tms_step step = steps[i];
        steps[i] = steps[count - 1 - i];
        steps[count - 1 - i] = step;
    }
}

/* From the closing edge backwards, and then the right way round. */
bool tms_velodrome_write_cycle(const struct tms_velodrome_graph *graph,
                               const struct tms_velodrome_edge *closing,
                               struct tms_velodrome_cycle *cycle)
{
    const struct tms_velodrome_edge *edge = closing;

    assert(closing->from != closing->to && closing->first < closing->second);
    cycle->length = 0;
    if (!TMS_RESERVE(graph->memory, &cycle->step, &cycle->capacity, most_steps(graph, closing),
                     8)) {
        return false;
    }
    cycle->step[cycle->length++] = step_of(graph, closing);
    while ((edge = edge_before(graph, edge, closing->to)) != NULL) {
        struct tms_step in = step_of(graph, edge), out = cycle->step[cycle->length - 1];
        if (in.to.begin_event != out.from.begin_event) {
            cycle->step[cycle->length++] = step_between(&in, &out);
        }
        cycle->step[cycle->length++] = in;
    }
    reverse(cycle->step, cycle->length);
    return true;
}
