/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a synthetic trace: all parameters of the generator. Shares are in millionths, so
 * that the same shape is the same trace on every machine.
 */
#ifndef TMS_GEN_SHAPE_H
#define TMS_GEN_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tms_planting {
    TMS_PLANT_NONE, /* the trace is serializable */
    TMS_PLANT_ANY,  /* whatever the random accesses give */
    TMS_PLANT_AT, /* serializable except for one lost update, which closes at event violation_at */
    TMS_PLANT_SHARE,  /* the same, at violation_at millionths of the events */
    TMS_PLANT_RANDOM, /* the same, anywhere */
};

struct tms_shape {
    uint64_t events; /* exact number of events */
    uint64_t seed;
    uint64_t threads; /* at a time, the main thread among them */
    uint64_t locks;
    uint64_t variables; /* that can be accessed; short traces access fewer */
    uint64_t length;    /* mean events of a block, begin and end among them, in millionths */
    uint32_t reads;     /* share of reads among the accesses */
    uint32_t unary;     /* share of events outside blocks */
    uint32_t overlap;   /* chance that another thread runs next after an event inside a block */
    uint32_t sharing;   /* share of variables, and of accesses, common to all threads */
    uint32_t guarded;   /* share of the common variables that are only accessed under a lock */
    uint32_t atomics;   /* share of the other common ones that are atomic; then there are fences */
    uint64_t nesting;   /* blocks inside blocks: greatest depth, 1 is none */
    uint64_t labels;    /* distinct labels of blocks; 0: blocks have none */
    uint64_t cut; /* number of labels that are not atomic: lost updates throughout the trace */
    uint64_t locations; /* distinct places in the source; 0: events have none */
    bool fork_join;     /* the first thread forks the others, and joins them at the end */
    uint64_t churn;     /* how often a thread is joined and another forked in its place */
    enum tms_planting planting;
    uint64_t violation_at;
};

#define TMS_SHAPE_EVENTS_MOST  1000000000000u
#define TMS_SHAPE_THREADS_MOST 60000u
#define TMS_SHAPE_NAMES_MOST   1000000000u
#define TMS_SHAPE_NESTING_MOST 1000u
#define TMS_SHAPE_LENGTH_MOST  1000000000u /* events */
#define TMS_SHAPE_SENTENCE     200u

/* A small trace with every kind of event: the default of `gen`. */
void tms_shape_init(struct tms_shape *shape);

/* Can there be such a trace? If not, `why` (TMS_SHAPE_SENTENCE bytes) says what to change. */
bool tms_shape_check(const struct tms_shape *shape, char *why);

/* The number of planted lost updates, and of their events; 0 if there are none. */
uint64_t tms_shape_cuts(const struct tms_shape *shape);
uint64_t tms_shape_planted(const struct tms_shape *shape);

/* The minimum number of events for the shape. */
uint64_t tms_shape_least_events(const struct tms_shape *shape);

#endif
