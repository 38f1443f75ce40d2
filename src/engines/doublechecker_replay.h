/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of doublechecker's precise phase during a replay: doublechecker_replay.c builds the
 * graph, doublechecker_witness.c reports the cycles in it.
 *
 * Items (events), transactions and links (edges) count from 1; 0 is NONE. Per-thread and per-target
 * state is indexed by id, and invalid if its replay number is old. All of it is reused by the next
 * replay.
 */
#ifndef TMS_ENGINES_DOUBLECHECKER_REPLAY_H
#define TMS_ENGINES_DOUBLECHECKER_REPLAY_H

#include "engines/doublechecker.h"

struct tms_dc_item {
    const struct tms_dc_entry *entry;
    uint32_t node;
    uint32_t transaction;
    uint32_t previous; /* item of the transaction */
};

struct tms_dc_transaction {
    uint32_t last;    /* item */
    uint32_t edges;   /* out of it, the latest first */
    uint32_t refused; /* the transaction whose edge into this one closed a cycle last */
    uint32_t via;     /* the edge by which the search came */
    uint64_t reached; /* by this search */
};

struct tms_dc_link {
    uint32_t first, second; /* items */
    uint32_t next;
};

/* Of a thread: its last item, and the one that forked it. */
struct tms_dc_course {
    uint64_t replay;
    uint32_t last, fork;
};

/* Of a target: who touched it last. */
struct tms_dc_cell {
    uint64_t replay;
    uint32_t incarnation;
    uint32_t write;   /* item: the last write, exclusive lock operation */
    uint32_t sharers; /* reads since, shared lock operations, arrivals: the last of each thread */
};

struct tms_dc_sharer {
    uint32_t item;
    uint32_t next;
};

/* A touch by one of two transactions: sorted, those of one target are side by side. */
struct tms_dc_touched {
    uint32_t place, target, incarnation;
    uint32_t item;
};

struct tms_dc_cells {
    struct tms_dc_cell *cell;
    size_t capacity;
};

struct tms_dc_replay {
    uint64_t number, searches;
    struct tms_dc_item *items;
    size_t item_count, item_capacity;
    struct tms_dc_transaction *transactions;
    size_t transaction_count, transaction_capacity;
    struct tms_dc_link *links;
    size_t link_count, link_capacity;
    struct tms_dc_sharer *sharers;
    size_t sharer_count, sharer_capacity;
    uint32_t *queue;
    size_t queue_capacity;
    struct tms_dc_touched *touched;
    size_t touched_count, touched_capacity;
    struct tms_dc_course *courses;
    size_t course_capacity;
    struct tms_dc_cells cells[TMS_PLACES];
};

static inline const struct tms_op_traits *traits_of(const struct tms_dc_item *item)
{
    return &tms_op_traits[item->entry->kind];
}

static inline uint32_t thread_of(const struct tms_dc *c, const struct tms_dc_item *item)
{
    return c->nodes[item->node].name.thread;
}

/*
 * The edge between these items closes a cycle, with the path back in `via`. Keeps it as the
 * violation of its transaction, unless an earlier one is known.
 */
void tms_dc_violate(struct tms_dc *c, uint32_t first, uint32_t second);

#endif
