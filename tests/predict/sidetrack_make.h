/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random traces short enough to enumerate all their schedules, made of the events that sidetrack
 * uses. Well-formed by construction; a profile selects the events.
 */
#ifndef TMS_PREDICT_SIDETRACK_MAKE_H
#define TMS_PREDICT_SIDETRACK_MAKE_H

#include "differential/trace.h"

struct sidetrack_profile {
    const char *name;
    unsigned events;         /* at most */
    unsigned threads, locks; /* at most */
    /* Weights, beside 10 for an acquire; accesses are under a lock, the same as their variable's.
     */
    unsigned shared, update, wait, arrive, fork, access;
};

/* Makes the trace of a seed, with names of the context. False when memory is short. */
bool sidetrack_make(struct tms_context *context, const struct sidetrack_profile *profile,
                    uint64_t seed, struct tms_trace *trace);

/* The same with atomic loads, stores and updates of all orders, of that weight. */
bool sidetrack_make_atomic(struct tms_context *context, const struct sidetrack_profile *profile,
                           unsigned atomic, uint64_t seed, struct tms_trace *trace);

/*
 * A run of producers and consumers with a buffer of bounded size, as it should be: put and get are
 * blocks that hold one lock, and wait for a condition while the buffer is full, or empty.
 */
bool sidetrack_make_buffer(struct tms_context *context, uint64_t seed, struct tms_trace *trace);

#endif
