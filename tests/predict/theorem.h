/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All traces that a few short transactions can have, by exhaustive search: can they deadlock, and
 * is each of them equivalent to a serial one? Equivalent means that all conflicting accesses come
 * in the same order. Moving operations past each other preserves that, and it is stronger than that
 * every read sees the same write.
 */
#ifndef TMS_PREDICT_THEOREM_H
#define TMS_PREDICT_THEOREM_H

#include "small.h"

#define THEOREM_THREADS 3
#define THEOREM_EVENTS  16 /* of a thread */

/* The events of each thread; `transaction` numbers them from 1 on over all threads, 0: outside. */
struct theorem_set {
    size_t count[THEOREM_THREADS];
    struct small_event event[THEOREM_THREADS][THEOREM_EVENTS];
    unsigned transaction[THEOREM_THREADS][THEOREM_EVENTS];
    unsigned
        transactions; /* including, after the others, those that are an access outside a block */
};

void theorem_make(uint64_t *random, struct theorem_set *set);

/* One of its traces; false if this one ended in a deadlock. */
bool theorem_schedule(const struct theorem_set *set, uint64_t *random, struct small_trace *trace);

bool theorem_deadlocks(const struct theorem_set *set);
bool theorem_atomic(const struct theorem_set *set);

#endif
