/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transaction graph of the velodrome engine: nodes, edges, search and collection
 * (velodrome_graph.c), and cycles as reports show them (velodrome_cycle.c).
 *
 * A node is a stretch of one thread: a transaction, followed by the unary events of the thread that
 * came after the same nodes as it did; or a unary event and the like events after it. Edges enter
 * only the events that a node was made for, never those that joined it, so an edge that leaves a
 * node later than another one enters it always leaves an event that comes after the entered one.
 *
 * An edge carries its two events, whose numbers are their positions in the nodes. There is at most
 * one edge from a node to another. The graph is acyclic: edges that would close a cycle are not
 * inserted.
 *
 * A finished node without incoming edges will never be on a cycle and is dropped with its edges;
 * then the nodes that those led to are checked. Steps, which name an event in a node, are not
 * notified: a reused node number belongs to a node born after the step's event, so a step can
 * decide by itself whether its node still exists.
 *
 * Nodes and edges live in pools that grow by doubling: 64 and 48 bytes each. Expected: tens to
 * thousands of nodes at a time; everything after its begin while a transaction runs on and on.
 */
#ifndef TMS_ENGINES_VELODROME_GRAPH_H
#define TMS_ENGINES_VELODROME_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"
#include "tmesis/tmesis.h"

#define NO_NODE 0u
#define NO_EDGE 0u
#define NEVER   UINT64_MAX

/* An event in its node, as later edges from it will need it. All zero: none. */
struct tms_velodrome_step {
    uint64_t event;
    uint32_t node;
    uint32_t location;
    uint8_t kind; /* enum tms_event_kind */
};

struct tms_velodrome_edge {
    uint64_t first, second; /* events, in `from` and in `to` */
    uint32_t from, to;
    uint32_t next; /* the next edge out of `from`, or the next free one */
    uint32_t first_location, second_location;
    uint32_t on;
    uint8_t on_class, kind, first_kind, second_kind; /* as in struct tms_step */
};

struct tms_velodrome_node {
    uint64_t birth; /* its first event; NEVER if the node is not in use */
    uint64_t end;   /* the last event of its transaction, NEVER while that runs */
    struct tms_transaction name;
    uint32_t out;      /* its edges, the latest first */
    uint32_t in_count; /* edges that enter it */
    uint32_t next;     /* the next free one, or the next to be dropped */
    uint32_t via;      /* the edge by which the last search that got here did */
    uint64_t mark;     /* which search that was */
};

struct tms_velodrome_graph {
    struct tms_memory *memory;
    struct tms_velodrome_node *node; /* [0] is never in use; so with edges */
    struct tms_velodrome_edge *edge;
    uint32_t *queue; /* of the search */
    size_t node_capacity, edge_capacity, queue_capacity;
    uint32_t node_count, edge_count; /* ever in use at once */
    uint32_t free_node, free_edge;
    uint64_t alive, most_alive, made, edges_made, searches, visited; /* counters */
};

/*
 * The nodes from which an edge entered the last node of a thread. The birth number distinguishes
 * all nodes, so an entry for another sink counts as empty, and a new sink needs no cleanup.
 */
enum tms_velodrome_source_state {
    SOURCE_NEW,     /* no edge so far */
    SOURCE_EDGE,    /* there is an edge */
    SOURCE_REFUSED, /* the edge would have closed a cycle */
};

struct tms_velodrome_source {
    uint64_t birth;
    enum tms_velodrome_source_state state;
};

struct tms_velodrome_sources {
    struct tms_velodrome_source *entry;
    size_t count, capacity;
    struct tms_hashtable index; /* of the entries, by birth: 1 + place */
};

/* A cycle for a report, in memory that is used again. */
struct tms_velodrome_cycle {
    struct tms_step *step;
    size_t length, capacity;
};

/* False, here and below, when memory is short. */
bool tms_velodrome_graph_init(struct tms_velodrome_graph *graph, struct tms_memory *memory);
void tms_velodrome_graph_clear(struct tms_velodrome_graph *graph);

/* A node that runs, born with this event; NO_NODE when memory is short. */
uint32_t tms_velodrome_add_node(struct tms_velodrome_graph *graph,
                                const struct tms_transaction *name, uint64_t birth);

/* Its transaction is over, with this last event. It may be gone afterwards, and others too. */
void tms_velodrome_finish_node(struct tms_velodrome_graph *graph, uint32_t node, uint64_t end);

/* Puts in a copy. There is no edge between its nodes yet, and it closes no cycle. */
bool tms_velodrome_add_edge(struct tms_velodrome_graph *graph,
                            const struct tms_velodrome_edge *edge);

/* Breadth first: is there a way? Then `via` leads back from `to`, over as few edges as can be. */
bool tms_velodrome_reaches(struct tms_velodrome_graph *graph, uint32_t from, uint32_t to);

/* Is the node of the step still there? */
static inline bool step_lives(const struct tms_velodrome_graph *graph,
                              const struct tms_velodrome_step *step)
{
    return graph->node[step->node].birth <= step->event;
}

/* The entry of the node born then, made if there is none; NULL when memory is short. */
struct tms_velodrome_source *tms_velodrome_source(struct tms_memory *memory,
                                                  struct tms_velodrome_sources *sources,
                                                  uint64_t birth);

/* Another node begins, without sources. */
void tms_velodrome_empty_sources(struct tms_velodrome_sources *sources);
void tms_velodrome_clear_sources(struct tms_memory *memory, struct tms_velodrome_sources *sources);

/* Is there an edge from the node born then? */
bool tms_velodrome_has_source(const struct tms_velodrome_sources *sources, uint64_t birth);

/* Of the way that a search just found from `closing->to` to `closing->from`, and that edge: */

/*
 * Does the edge into each node between enter it no later than the next one leaves it? Then the
 * event by which the way leaves the sink of `closing`, else 0.
 */
uint64_t tms_velodrome_is_increasing(const struct tms_velodrome_graph *graph,
                                     const struct tms_velodrome_edge *closing);

/* Writes the cycle down, from the sink of `closing` on. */
bool tms_velodrome_write_cycle(const struct tms_velodrome_graph *graph,
                               const struct tms_velodrome_edge *closing,
                               struct tms_velodrome_cycle *cycle);

#endif
