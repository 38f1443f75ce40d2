/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the precise phase of doublechecker knows during a replay: doublechecker_replay.c makes the
 * graph, doublechecker_witness.c tells the cycles in it.
 *
 * Items (events), transactions and links (edges) count from 1; 0 is NONE. What belongs to a
 * thread or to a target is found by its id, and is worthless if the number of the replay in it is
 * old. All of it is used again by the next replay.
 */
#ifndef TMS_ENGINES_DOUBLECHECKER_REPLAY_H
#define TMS_ENGINES_DOUBLECHECKER_REPLAY_H

#include "engines/doublechecker.h"

struct item {
    const struct entry *entry;
    uint32_t node;
    uint32_t transaction;
    uint32_t previous; /* item of the transaction */
};

struct transaction {
    uint32_t last;    /* item */
    uint32_t edges;   /* out of it, the latest first */
    uint32_t refused; /* the transaction whose edge into this one closed a cycle last */
    uint32_t via;     /* the edge by which the search came */
    uint64_t reached; /* by this search */
};

struct link {
    uint32_t first, second; /* items */
    uint32_t next;
};

/* Of a thread: its last item, and the one that forked it. */
struct course {
    uint64_t replay;
    uint32_t last, fork;
};

/* Of a target: who touched it last. */
struct cell {
    uint64_t replay;
    uint32_t incarnation;
    uint32_t write;   /* item: the last write, exclusive lock operation */
    uint32_t sharers; /* reads since, shared lock operations, arrivals: the last of each thread */
};

struct sharer {
    uint32_t item;
    uint32_t next;
};

/* A touch by one of two transactions: sorted, those of one target are side by side. */
struct touched {
    uint32_t cls, target, incarnation;
    uint32_t item;
};

struct cells {
    struct cell *cell;
    size_t capacity;
};

struct replay {
    uint64_t number, searches;
    struct item *items;
    size_t item_count, item_capacity;
    struct transaction *transactions;
    size_t transaction_count, transaction_capacity;
    struct link *links;
    size_t link_count, link_capacity;
    struct sharer *sharers;
    size_t sharer_count, sharer_capacity;
    uint32_t *queue;
    size_t queue_capacity;
    struct touched *touched;
    size_t touched_count, touched_capacity;
    struct course *courses;
    size_t course_capacity;
    struct cells cells[TMS_CLASS_COUNT];
};

/* How an operation touches its target, of class NONE: not at all. */
struct touch {
    enum tms_class cls;
    bool shares; /* does not conflict with others that do */
};
extern const struct touch tms_dc_touches[TMS_OP_COUNT];

static inline const struct touch *touch_of(const struct item *item)
{
    return &tms_dc_touches[item->entry->kind];
}

static inline uint32_t thread_of(const struct checker *c, const struct item *item)
{
    return c->nodes[item->node].name.thread;
}

/*
 * The edge between these items closes a cycle, with the way back that `via` tells. Keeps it as
 * the violation of its transaction, unless an earlier one is known.
 */
void tms_dc_violate(struct checker *c, uint32_t first, uint32_t second);

#endif
