/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, edges, search and collection of the velodrome engine; see velodrome_graph.h. */
#include "engines/velodrome_graph.h"

#include <assert.h>

#define LEAST 64

bool tms_velodrome_graph_init(struct tms_velodrome_graph *graph, struct tms_memory *memory)
{
    graph->memory = memory;
    if (!TMS_RESERVE(memory, &graph->node, &graph->node_capacity, 1, LEAST) ||
        !TMS_RESERVE(memory, &graph->edge, &graph->edge_capacity, 1, LEAST)) {
        return false;
    }
    graph->node[NO_NODE].birth = NEVER;
    graph->node_count = 1;
    graph->edge_count = 1;
    return true;
}

void tms_velodrome_graph_clear(struct tms_velodrome_graph *graph)
{
    tms_release(graph->memory, graph->node, graph->node_capacity, sizeof(*graph->node));
    tms_release(graph->memory, graph->edge, graph->edge_capacity, sizeof(*graph->edge));
    tms_release(graph->memory, graph->queue, graph->queue_capacity, sizeof(*graph->queue));
}

/* ---- nodes and edges ------------------------------------------------------------------ */

static uint32_t take_node(struct tms_velodrome_graph *graph)
{
    uint32_t number = graph->free_node;

    if (number != NO_NODE) {
        graph->free_node = graph->node[number].next;
        return number;
    }
    if (graph->node_count == UINT32_MAX ||
        !TMS_RESERVE(graph->memory, &graph->node, &graph->node_capacity,
                     (size_t)graph->node_count + 1, LEAST) ||
        !TMS_RESERVE(graph->memory, &graph->queue, &graph->queue_capacity, graph->node_capacity,
                     LEAST)) {
        return NO_NODE;
    }
    return graph->node_count++;
}

uint32_t tms_velodrome_add_node(struct tms_velodrome_graph *graph,
                                const struct tms_transaction *name, uint64_t birth)
{
    uint32_t number = take_node(graph);

    if (number == NO_NODE) {
        return NO_NODE;
    }
    graph->node[number] = (struct tms_velodrome_node){
        .birth = birth,
        .end = NEVER,
        .name = *name,
        .out = NO_EDGE,
    };
    graph->made++;
    if (++graph->alive > graph->most_alive) {
        graph->most_alive = graph->alive;
    }
    return number;
}

static uint32_t take_edge(struct tms_velodrome_graph *graph)
{
    uint32_t number = graph->free_edge;

    if (number != NO_EDGE) {
        graph->free_edge = graph->edge[number].next;
        return number;
    }
    if (graph->edge_count == UINT32_MAX ||
        !TMS_RESERVE(graph->memory, &graph->edge, &graph->edge_capacity,
                     (size_t)graph->edge_count + 1, LEAST)) {
        return NO_EDGE;
    }
    return graph->edge_count++;
}

bool tms_velodrome_add_edge(struct tms_velodrome_graph *graph,
                            const struct tms_velodrome_edge *edge)
{
    struct tms_velodrome_node *from = &graph->node[edge->from], *to = &graph->node[edge->to];
    uint32_t number = take_edge(graph);

    assert(from->birth <= edge->first && to->birth <= edge->second && edge->from != edge->to);
    if (number == NO_EDGE) {
        return false;
    }
    graph->edge[number] = *edge;
    graph->edge[number].next = from->out;
    from->out = number;
    to->in_count++;
    graph->edges_made++;
    return true;
}

/* ---- collection ----------------------------------------------------------------------- */

/* Takes the node out, with its edges; returns the list of those to go after it, before `rest`. */
static uint32_t drop(struct tms_velodrome_graph *graph, uint32_t number, uint32_t rest)
{
    struct tms_velodrome_node *node = &graph->node[number];

    for (uint32_t at = node->out; at != NO_EDGE;) {
        struct tms_velodrome_edge *edge = &graph->edge[at];
        struct tms_velodrome_node *to = &graph->node[edge->to];
        uint32_t next = edge->next;
        assert(to->in_count > 0 && to->birth != NEVER);
        if (--to->in_count == 0 && to->end != NEVER) {
            to->next = rest;
            rest = edge->to;
        }
        edge->next = graph->free_edge;
        graph->free_edge = at;
        at = next;
    }
    node->birth = NEVER;
    node->next = graph->free_node;
    graph->free_node = number;
    graph->alive--;
    return rest;
}

void tms_velodrome_finish_node(struct tms_velodrome_graph *graph, uint32_t number, uint64_t end)
{
    struct tms_velodrome_node *node = &graph->node[number];
    uint32_t doomed = NO_NODE;

    assert(node->birth <= end && node->end == NEVER);
    node->end = end;
    if (node->in_count == 0) {
        node->next = NO_NODE;
        doomed = number;
    }
    while (doomed != NO_NODE) {
        doomed = drop(graph, doomed, graph->node[doomed].next);
    }
}

/* ---- sources -------------------------------------------------------------------------- */

/* The entry of a birth, NULL if there is none. */
static struct tms_velodrome_source *find_source(const struct tms_velodrome_sources *sources,
                                                uint64_t birth)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&sources->index, tms_hash(birth), &walk);

    while (found != 0 && sources->entry[found - 1].birth != birth) {
        found = tms_hash_next(&walk);
    }
    return found != 0 ? &sources->entry[found - 1] : NULL;
}

struct tms_velodrome_source *tms_velodrome_source(struct tms_memory *memory,
                                                  struct tms_velodrome_sources *sources,
                                                  uint64_t birth)
{
    struct tms_velodrome_source *source = find_source(sources, birth);
    size_t next = sources->count + 1;

    if (source != NULL) {
        return source;
    }
    if (!TMS_RESERVE(memory, &sources->entry, &sources->capacity, next, 8) ||
        !tms_hashtable_add(&sources->index, memory, tms_hash(birth), (uint32_t)next)) {
        return NULL;
    }
    source = &sources->entry[sources->count++];
    *source = (struct tms_velodrome_source){birth, SOURCE_NEW};
    return source;
}

void tms_velodrome_empty_sources(struct tms_velodrome_sources *sources)
{
    sources->count = 0;
    tms_hashtable_empty(&sources->index);
}

void tms_velodrome_clear_sources(struct tms_memory *memory, struct tms_velodrome_sources *sources)
{
    tms_release(memory, sources->entry, sources->capacity, sizeof(*sources->entry));
    tms_hashtable_clear(&sources->index, memory);
}

bool tms_velodrome_has_source(const struct tms_velodrome_sources *sources, uint64_t birth)
{
    const struct tms_velodrome_source *source = find_source(sources, birth);

    return source != NULL && source->state == SOURCE_EDGE;
}

/* ---- search --------------------------------------------------------------------------- */

bool tms_velodrome_reaches(struct tms_velodrome_graph *graph, uint32_t from, uint32_t to)
{
    size_t count = 0;

    assert(from != NO_NODE && to != NO_NODE && from != to);
    if (graph->node[from].out == NO_EDGE || graph->node[to].in_count == 0) {
        return false;
    }
    uint64_t mark = ++graph->searches;
    graph->node[from].mark = mark;
    graph->queue[count++] = from;
    for (size_t i = 0; i < count; i++) {
        graph->visited++;
        for (uint32_t at = graph->node[graph->queue[i]].out; at != NO_EDGE;) {
            const struct tms_velodrome_edge *edge = &graph->edge[at];
            struct tms_velodrome_node *next = &graph->node[edge->to];
            if (next->mark != mark) {
                next->mark = mark;
                next->via = at;
                graph->queue[count++] = edge->to;
            }
            if (edge->to == to) {
                return true;
            }
            at = edge->next;
        }
    }
    return false;
}
