/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a trace, counted in one pass: for `tmesis info`.
 *
 * Memory is bounded by the names in the trace: arrays by id, a set of numbered locations, and
 * for the lengths of transactions a histogram. The counts do not depend on the trace being
 * well-formed; where it isn't (an end without a begin), the event is counted and no more.
 */
#ifndef TMS_CLI_TRACE_STATS_H
#define TMS_CLI_TRACE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"
#include "tmesis/tmesis.h"

struct tms_stats_thread {
    bool seen; /* acts, or is forked or joined */
    uint64_t events, accesses, acquires;
    uint64_t transactions; /* outermost blocks begun */
    uint64_t outside;      /* events outside any block */
    uint64_t length;       /* events inside the transaction that is open */
    uint32_t depth;        /* blocks open now */
    uint32_t depth_most;
    uint32_t held; /* locks held now, not counting re-entrant acquires */
};

struct tms_stats_lock {
    uint64_t events;
    uint64_t acquires;  /* exclusive ones, re-entrant ones included */
    uint64_t shared;    /* read-side ones */
    uint64_t reentrant; /* by a thread that held it already */
    uint64_t handovers; /* acquired by another thread than the last time */
    uint32_t deepest;   /* most locks its thread held once it had this one */
    uint32_t last;      /* thread that acquired it last */
    uint32_t holder;    /* thread that holds it now, 0: none */
    uint32_t depth;     /* how many times */
    uint32_t readers;   /* shared holds now */
};

/* A growing array by id. */
struct tms_stats_table {
    void *rows;
    size_t size;     /* of a row */
    size_t capacity; /* in rows */
    uint32_t most;   /* highest id used */
};

/* Lengths: exact up to 31, then 16 steps per power of two. */
#define TMS_STATS_STEPS   16
#define TMS_STATS_BUCKETS (61 * TMS_STATS_STEPS)

struct tms_trace_stats {
    uint64_t events;
    uint64_t kinds[TMS_EVENT_COUNT];
    uint64_t orders[TMS_ORDER_COUNT]; /* of atomic accesses and fences; [0]: all others */
    struct tms_stats_table threads;   /* struct tms_stats_thread */
    struct tms_stats_table locks;     /* struct tms_stats_lock */
    struct tms_stats_table variables; /* uint32_t: its thread, UINT32_MAX for several */
    struct tms_stats_table labels;    /* uint64_t: blocks begun with it */
    struct tms_stats_table locations; /* bool: named ones seen */
    struct tms_hashtable numbers;     /* numbered locations, which are their own rows */
    uint64_t located;                 /* events with a location */
    uint64_t unlabelled;              /* blocks without a label */
    uint64_t transactions;            /* begun */
    uint64_t outside;                 /* events outside any block */
    uint64_t finished;                /* transactions that ended; of their lengths: */
    uint64_t shortest, longest, total;
    uint64_t lengths[TMS_STATS_BUCKETS];
};

void tms_stats_init(struct tms_trace_stats *stats);
void tms_stats_clear(struct tms_trace_stats *stats);

/* False when memory is short. */
bool tms_stats_add(struct tms_trace_stats *stats, const struct tms_event *events, size_t count);

/* The row of an id, NULL if it was never used. */
const void *tms_stats_row(const struct tms_stats_table *table, uint32_t id);

/* How many threads, locks … there are. */
uint64_t tms_stats_threads(const struct tms_trace_stats *stats);
uint64_t tms_stats_locks(const struct tms_trace_stats *stats);
uint64_t tms_stats_labels(const struct tms_trace_stats *stats);
uint64_t tms_stats_locations(const struct tms_trace_stats *stats);
uint64_t tms_stats_variables(const struct tms_trace_stats *stats, uint64_t *shared);

/* Blocks open and locks held when the trace ended. */
uint64_t tms_stats_open_blocks(const struct tms_trace_stats *stats);
uint64_t tms_stats_held_locks(const struct tms_trace_stats *stats);

/* The length that the given share of finished transactions does not exceed; rounded down. */
uint64_t tms_stats_quantile(const struct tms_trace_stats *stats, double share);

#endif
