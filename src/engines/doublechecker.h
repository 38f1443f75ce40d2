/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the doublechecker engine, shared by its files: doublechecker.c (the imprecise phase
 * and the algorithm as a whole), doublechecker_log.c (the events of transactions),
 * doublechecker_graph.c (transactions, components, collection), doublechecker_replay.c (the precise
 * phase) and doublechecker_witness.c (the cycle of a violation).
 *
 * A *node* is what the imprecise phase takes for one transaction: a block, or a run of events
 * outside blocks into which no foreign edge comes except at its first. Node and edge 0 are none.
 *
 * A *component* is a node too: the one that owns all its members. Members form a ring, their edges
 * are one list, and tms_dc_owner maps an older node to its component. A node with an edge still to
 * come in, that is, a running block, is always alone.
 */
#ifndef TMS_ENGINES_DOUBLECHECKER_H
#define TMS_ENGINES_DOUBLECHECKER_H

#include "base/names.h"
#include "engine_api/engine.h"

#define NONE 0u

/* An event in a log. Its thread is that of its node. */
struct tms_dc_entry {
    uint64_t event;
    uint32_t target;
    uint32_t incarnation; /* of the variable: FORGET makes a new one */
    uint32_t location;
    uint8_t event_kind;
    uint8_t kind;
};

/*
 * The log of a thread is a list of chunks; that of a node is a stretch of its thread's. A chunk
 * has as users the nodes with entries in it, and the thread while it writes there.
 */
#define CHUNK_ENTRIES 63
struct tms_dc_chunk {
    struct tms_dc_chunk *next; /* of the thread, or of those that are free */
    uint32_t users;
    struct tms_dc_entry entry[CHUNK_ENTRIES];
};

struct tms_dc_node {
    struct tms_transaction name; /* unary: of its first event */
    bool ended;                  /* no edge will come in any more; so is unary from the start */
    bool marked, on_stack;       /* scratch of collection and search */
    uint32_t owner;              /* on the way to the owner of its component; NONE: free */
    uint32_t next_member;        /* ring; of a free node: the next free one */
    uint32_t edges, last_edge;   /* out of its component; kept by the owner */
    uint64_t logged, replayed;   /* entries of the component: all, and when last replayed */
    uint64_t order, low;         /* of the search */

    struct tms_dc_chunk *log; /* where its first entry is … */
    uint32_t log_at;          /* … and at which place */
    uint32_t replay;          /* its transaction in the replay that goes on, NONE at first */
    uint64_t count;           /* entries */

    uint64_t closing;       /* closing edges into it, as its last replay saw them */
    struct tms_step *steps; /* the cycle that was closed into it first; NULL: none */
    size_t step_count;
};

struct tms_dc_edge {
    uint32_t to;
    uint32_t next;
};

struct tms_dc_thread {
    struct tms_dc_chunk *tail;
    uint32_t used;      /* entries in the tail */
    uint32_t node;      /* the current or last; NONE if there is none, or it was dropped */
    uint32_t forked_by; /* the node of its fork, until its first event */
    bool listed;        /* in `sources` */
    uint64_t shared;    /* it comes after the transitions to read-shared up to this one */
};

/* The state of an object, a lock or a barrier. Thread 0: not touched yet. */
struct tms_dc_object {
    uint64_t shared; /* the number of its transition to read-shared; 0: it is exclusive … */
    uint32_t thread; /* … to this one, */
    bool written;    /* for writing */
};

struct tms_dc_objects {
    struct tms_dc_object *object; /* by id */
    size_t capacity;
};

struct tms_dc_frame {
    uint32_t node;
    uint32_t edge; /* followed last */
};

struct tms_dc_replay; /* scratch of the precise phase */

struct tms_dc {
    struct tms_host *host;
    struct tms_memory *memory;

    struct tms_dc_thread *threads; /* by id */
    size_t thread_capacity;
    uint32_t *sources; /* the threads with a node, and perhaps some without */
    size_t source_count, source_capacity;

    struct tms_dc_objects objects[TMS_PLACES];
    struct tms_names names; /* of objects that hold variables */
    uint32_t *object_of;    /* by variable; 0: not known yet */
    size_t object_of_capacity;
    uint32_t *incarnations; /* by variable, as far as one was forgotten */
    size_t incarnation_capacity;
    uint64_t shared_count; /* transitions to read-shared */
    uint32_t shared_last;  /* the node that made the last of them */

    struct tms_dc_node *nodes;
    size_t node_count, node_capacity;
    uint32_t free_nodes;
    struct tms_dc_edge *edges;
    size_t edge_count, edge_capacity;
    uint32_t free_edges;
    struct tms_dc_chunk **chunks; /* all there are */
    size_t chunk_count, chunk_capacity;
    struct tms_dc_chunk *free_chunks;
    uint64_t held, limit; /* entries in logs, and at how many to look for what can be dropped */

    uint64_t visits; /* of all searches: gives `order` */
    struct tms_dc_frame *frames;
    uint32_t *stack; /* of the search and of collection */
    size_t frame_count, frame_capacity, stack_count, stack_capacity;

    struct tms_dc_replay *replay;

    struct { /* counters */
        uint64_t edges, components, members, logged, replays, replayed, precise_edges, cycles;
        uint64_t nodes, kept_most, dropped;
    } seen;
};

static inline bool tms_dc_fail(struct tms_dc *c, int code)
{
    tms_host_fail(c->host, code);
    return false;
}

/* Room for so many elements, each with a number of 32 bits; if false, the host knows. */
#define LEAST_ITEMS 16
#define RESERVE(c, array, capacity, wanted)                                                        \
    ((wanted) > UINT32_MAX ? tms_dc_fail(c, TMS_ERR_LIMIT)                                         \
                           : TMS_RESERVE((c)->memory, array, capacity, wanted, LEAST_ITEMS) ||     \
                                 tms_dc_fail(c, TMS_ERR_MEMORY))

/* doublechecker_log.c */

/* Adds the event to the log of its thread's current node. */
void tms_dc_log(struct tms_dc *c, const struct tms_op *op);

/* The thread writes no more. */
void tms_dc_close_log(struct tms_dc *c, struct tms_dc_thread *thread);

/* The node is dropped: its log will not be read. */
void tms_dc_release_log(struct tms_dc *c, const struct tms_dc_node *node);
void tms_dc_clear_logs(struct tms_dc *c);

/* doublechecker_graph.c: on failure the host knows, and NONE or false is returned. */

/* A new node, the thread's current one, after its last. */
uint32_t tms_dc_start(struct tms_dc *c, const struct tms_op *op, bool unary);

/* An edge into a node that is alone; false if it was there already. */
bool tms_dc_add_edge(struct tms_dc *c, uint32_t from, uint32_t to);

/* No edge will come into the node any more: looks for its component, and replays it. */
void tms_dc_end(struct tms_dc *c, uint32_t node);

/* Drops all that no running transaction reaches. */
void tms_dc_collect(struct tms_dc *c);

/* Replays what is still to be replayed, and hands all violations over. */
void tms_dc_finish(struct tms_dc *c);
void tms_dc_clear_graph(struct tms_dc *c);

/* The node that represents its component. */
uint32_t tms_dc_owner(struct tms_dc *c, uint32_t node);

/* doublechecker_replay.c */

/* The precise phase: puts the violations that it finds into the members' `steps`. */
void tms_dc_replay(struct tms_dc *c, uint32_t owner);
bool tms_dc_create_replay(struct tms_dc *c);
void tms_dc_clear_replay(struct tms_dc *c);

#endif
