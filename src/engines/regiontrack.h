/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the RegionTrack engines, shared by their files: regiontrack.c (the algorithm in
 * words, and the effect of each operation, Algorithm 1), regiontrack_edges.c (the effect of an
 * edge, Algorithms 2, 3 and 4), regiontrack_regions.c (sub-regions, and which of them read what)
 * and regiontrack_threads.c (slots).
 *
 * Transactions of a thread are numbered, by the event they begin with; so are, in clocks, the
 * blocks inside them. Threads have slots, which index the clocks. Sub-regions and nodes are
 * referred to by index, 0 being none, since their arrays grow.
 */
#ifndef TMS_ENGINES_REGIONTRACK_H
#define TMS_ENGINES_REGIONTRACK_H

#include <string.h>

#include "clock/vector_clock.h"
#include "engine_api/engine.h"
#include "engine_api/nesting.h"

/* A sub-region: all events of a thread between two changes of its clock. */
struct tms_regiontrack_region {
    uint64_t number;         /* of its transaction */
    struct tms_vector clock; /* V(e) of its events; empty where there is no blame */
    uint32_t slot;           /* T(e) */
    uint32_t references;     /* of free ones: the next free */
};

struct tms_regiontrack_regions {
    struct tms_regiontrack_region *at;
    size_t capacity;
    uint32_t count, free; /* the last index, and the first free one */
    uint64_t made, alive, most_alive;
};

/*
 * R(t, x): the last reads of one thing by each thread since its last write, as a chain of nodes,
 * one for each thread that read.
 */
struct tms_regiontrack_read_node {
    uint32_t region, next;
};

/* The same, reduced to two clocks: all reads joined, and joined but for each reader's own entry. */
struct tms_regiontrack_read_clocks {
    struct tms_vector joined, check;
    uint32_t next_free;
};

struct tms_regiontrack_reads {
    struct tms_regiontrack_read_node *node;
    struct tms_regiontrack_read_clocks *clocks;
    size_t capacity;
    uint32_t count, free;
};

/* What is known of a variable, a lock (exclusive and shared side) or a barrier (arrivals). */
struct tms_regiontrack_cell {
    uint32_t write; /* W(x), L(m): a region */
    uint32_t reads; /* R(t, x) of all t: the first node, or the clocks */
};

struct tms_regiontrack_cells {
    struct tms_regiontrack_cell *at; /* by id */
    size_t capacity;
};

struct tms_regiontrack_thread {
    uint32_t id, slot;
    uint64_t number; /* of the running transaction, or of the last one */
    uint64_t begin;  /* V(C(t).begin)[t]: the same while a block is open, 0 outside */

    struct tms_vector clock; /* V(t); its own entry is of the last block begun */
    uint32_t region;         /* C(t).currVC: made when it is needed */
    bool moved;              /* V(t) or the number changed since */

    /*
     * TV(t), where NEVER - n represents n: so 0 is no entry, and the first of two is the larger.
     * Kept from the first edge out of the running transaction to its end.
     */
    struct tms_vector sinks;
    bool is_source;
    struct tms_vector in; /* per slot: the last transaction from which an edge was taken in */

    struct tms_transaction transaction; /* the running one */
    uint64_t violation_event;           /* into it; 0: none */
    uint64_t blame_event;               /* the first that shows that it is not atomic; 0: none */
    uint64_t left;                      /* V(e)[t] of what shows it, the latest of that event */
    struct tms_nesting nesting;
    struct tms_refuted refuted;
};

#define NEVER UINT64_MAX

struct tms_regiontrack {
    struct tms_host *host;
    struct tms_memory *memory;
    bool order;   /* keep the event order, for blame */
    bool graph;   /* keep the order of transactions, for the verdict on the trace */
    bool reduced; /* keep reads as clocks */

    struct tms_regiontrack_thread *threads; /* by slot */
    size_t thread_capacity;
    uint32_t thread_count;
    uint32_t *retired; /* slots of joined threads */
    size_t retired_capacity;
    uint32_t retired_count, retired_tried;
    uint32_t *slots; /* by thread id: 1 + its slot, 0 while it has no event */
    uint32_t *forks; /* by thread id: the region that forked it, until its first event */
    size_t slot_capacity, fork_capacity;

    struct tms_regiontrack_cells cells[TMS_PLACES];
    struct tms_regiontrack_regions regions;
    struct tms_regiontrack_reads reads;

    uint64_t edges_seen, edges_taken; /* counters */
};

static inline void forget_clock(struct tms_vector *clock)
{
    if (clock->capacity > 0) {
        memset(clock->at, 0, clock->capacity * sizeof(*clock->at));
    }
}

/* The transaction number in an entry of TV. */
static inline uint64_t first_sink(const struct tms_regiontrack_thread *t, uint32_t slot)
{
    return NEVER - tms_vector_get(&t->sinks, slot);
}

static inline struct tms_regiontrack_region *region_at(const struct tms_regiontrack *rt,
                                                       uint32_t region)
{
    return &rt->regions.at[region];
}

/* Below, what can't be done for lack of memory is known to the host. */

/* regiontrack_threads.c */

bool tms_regiontrack_need_id(struct tms_regiontrack *rt, uint32_t id);

/* A thread with its first event: gives it a slot. NULL on failure. */
struct tms_regiontrack_thread *tms_regiontrack_settle_in(struct tms_regiontrack *rt,
                                                         const struct tms_op *op);

/* The thread was joined. */
void tms_regiontrack_retire(struct tms_regiontrack *rt, uint32_t slot);

/* The next transaction of the thread begins with this event, a block or not. */
void tms_regiontrack_advance(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                             uint64_t event);

/* So does what counts in the clock of the thread: a transaction, or a block inside one. */
void tms_regiontrack_tick(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                          uint64_t event);

void tms_regiontrack_clear_threads(struct tms_regiontrack *rt);

/* regiontrack_edges.c */

/* The events of the region come before this one: join() of Algorithms 2 and 4. */
void tms_regiontrack_join(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                          const struct tms_op *op, uint32_t region);

/* The same for all that read the cell. */
void tms_regiontrack_join_reads(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t,
                                const struct tms_op *op, const struct tms_regiontrack_cell *cell);

/* The running transaction is over: its violation, if any, goes to the host. */
void tms_regiontrack_hand_over(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t);

/* regiontrack_regions.c */

/* The sub-region that the thread is in, 0 on failure. */
uint32_t tms_regiontrack_region(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t);

/* Makes a reference point to a region, or to none. */
void tms_regiontrack_refer(struct tms_regiontrack *rt, uint32_t *reference, uint32_t region);

/* Is the thread known to be among the readers? Never with reduced clocks. */
bool tms_regiontrack_has_read(const struct tms_regiontrack *rt,
                              const struct tms_regiontrack_cell *cell, uint32_t slot);

void tms_regiontrack_add_read(struct tms_regiontrack *rt, struct tms_regiontrack_cell *cell,
                              uint32_t region);
void tms_regiontrack_drop_reads(struct tms_regiontrack *rt, struct tms_regiontrack_cell *cell);
void tms_regiontrack_clear_regions(struct tms_regiontrack *rt);

#endif
