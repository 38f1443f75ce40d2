/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The expected findings of the reduction engine on a short trace, straight from the definitions,
 * with everything searched for in the trace each time: which accesses have escaped, which may be in
 * parallel, which variables may race by each of the tests, which locks order something, and which
 * transactions have the form of theorem 2.
 */
#ifndef TMS_PREDICT_NAIVE_H
#define TMS_PREDICT_NAIVE_H

#include "small.h"

struct naive {
    bool racy[SMALL_TARGETS];    /* by variable */
    bool contact[SMALL_TARGETS]; /* conflicts in parallel, regardless of locks */
    bool orders[SMALL_TARGETS];  /* by lock */
    /*
     * By event: the stretch of its thread between begin, end, fork, join, arrive and depart that
     * contains it, if it is in a block; 0: none. Does the stretch fail?
     */
    unsigned piece[SMALL_EVENTS];
    bool fails[SMALL_EVENTS + 1];
    bool not_right[SMALL_EVENTS], not_left[SMALL_EVENTS]; /* which way an event does not move */
    unsigned failing;                                     /* how many pieces */
};

void naive_judge(const struct small_trace *trace, const struct tms_settings *settings,
                 struct naive *naive);

#endif
