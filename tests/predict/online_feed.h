/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds a trace, event by event, to the core that predicts inside running programs (src/predict),
 * as the runtime would call it: blocks are known from their begins alone, and slots are retired at
 * joins. Records what the core reports.
 */
#ifndef TMS_PREDICT_ONLINE_FEED_H
#define TMS_PREDICT_ONLINE_FEED_H

#include "differential/trace.h"
#include "predict/lock_requests.h"

#define ONLINE_MOST 512

/* A prediction, by the events in it. */
struct online_prediction {
    enum tms_predict_error error;
    bool rough;
    uint32_t lock;
    uint64_t first, culprit, second;
    uint64_t through; /* of a pair, with the first lock, … */
    uint32_t first_lock;
    uint64_t through_begin; /* … and the block that it is in; else 0 */
    uint32_t thread;
    uint64_t begin, culprit_begin;
    uint32_t block_count;
    uint64_t blocks[TMS_PREDICT_BLOCKS];
};

struct online_request {
    struct tms_request request;
    struct tms_predict_hold held[TMS_REQUESTS_HELD];
    size_t held_count;
    struct tms_vector must;
};

struct online_result {
    struct online_prediction predictions[ONLINE_MOST];
    size_t prediction_count;
    struct online_request requests[ONLINE_MOST];
    size_t request_count;
    struct tms_memory memory; /* of the requests' clocks */
    bool failed;              /* no memory, or too much for this */
};

/*
 * TMS_OK, or the error of the trace. `taken_most`: the number of locks of a transaction that are
 * followed.
 */
int online_feed(struct tms_context *context, const struct tms_trace *trace, uint32_t taken_most,
                struct online_result *result);
void online_result_clear(struct online_result *result);

#endif
