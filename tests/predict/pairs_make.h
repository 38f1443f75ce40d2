/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random short traces with windows between two locks: one thread has sections of m and of n in a
 * block, another one takes m and then n, a third may use either. Operations that may order them are
 * inserted at random places, so that they do in some traces and do not in others.
 */
#ifndef TMS_PREDICT_PAIRS_MAKE_H
#define TMS_PREDICT_PAIRS_MAKE_H

#include "differential/trace.h"

/* What may order the threads. */
#define PAIR_ORDERS(X)                                                                             \
    X(NOTHING, "nothing else")                                                                     \
    X(OUTER, "a lock around some of the sections")                                                 \
    X(FORK, "a fork")                                                                              \
    X(JOIN, "a join")                                                                              \
    X(WAIT, "a wait for a condition")                                                              \
    X(BARRIER, "a barrier")                                                                        \
    X(FLAG, "an atomic flag")                                                                      \
    X(SHARED, "shared locks")

enum pair_order {
#define X(name, text) PAIR_##name,
    PAIR_ORDERS(X)
#undef X
        PAIR_ORDER_COUNT
};

/* Makes the trace of a seed, with names of the context. False when memory is short. */
bool pairs_make(struct tms_context *context, enum pair_order order, uint64_t seed,
                struct tms_trace *trace);

#endif
