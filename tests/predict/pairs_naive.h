/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sidetrack's rule for windows between two locks, straight from its definition, with everything
 * searched for in the trace each time, and an order that is a closure over pairs of events.
 */
#ifndef TMS_PREDICT_PAIRS_NAIVE_H
#define TMS_PREDICT_PAIRS_NAIVE_H

#include "differential/trace.h"
#include "schedules.h"

#define PAIRS_MOST 64

/*
 * Four acquires that the trace has in the order of a pair: a block's of two locks, and another
 * thread's of the same two after the first, the last of them after the block's. How many.
 */
size_t pairs_ordered(const struct tms_trace *trace, struct tms_cut *cuts);

/*
 * The pairs that should be predicted. Returns their number; or PAIRS_UNSURE, if a culprit does more
 * in its section than hold the lock: which predictions are certain then is not decided here.
 */
#define PAIRS_UNSURE SIZE_MAX
size_t pairs_naive(const struct tms_trace *trace, struct tms_cut *cuts);

#endif
