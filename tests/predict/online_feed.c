/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of a trace as calls of the core; see online_feed.h. */
#include "online_feed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine_api/nesting.h"
#include "predict/lock_windows_take.h"
#include "spec/lower.h"
#include "trace/validate.h"

#define THREADS  8
#define LOCKS    8
#define BARRIERS 8

struct feed_thread {
    struct tms_predict_thread predict;
    struct tms_requests_thread requests;
    struct tms_predict_block block; /* the transaction, begin 0: none */
    struct tms_nesting nesting;
    uint64_t last; /* event */
    bool started;
};

struct feed {
    struct online_result *result;
    struct tms_memory memory;
    struct tms_order_slots slots;
    struct tms_predictor predict;
    struct tms_requests_port requests;
    struct feed_thread threads[THREADS];
    struct tms_predict_lock locks[LOCKS];
    struct tms_order_object barriers[BARRIERS];
};

/* ---- the ports ---------------------------------------------------------------------------- */

static uint32_t blocks_at(void *user, uint64_t since,
                          struct tms_predict_block blocks[TMS_PREDICT_BLOCKS])
{
    const struct feed_thread *t = user;
    uint32_t count = 0;

    for (size_t i = 0; i < t->nesting.depth && count + 1 < TMS_PREDICT_BLOCKS; i++) {
        const struct tms_transaction *block = &t->nesting.open[i].block;
        if (block->begin_event <= since) {
            blocks[++count] =
                (struct tms_predict_block){block->begin_event, block->label, block->location};
        }
    }
    blocks[0] = t->block;
    return count > 0 ? count + 1 : 0;
}

static void predict(void *user, const struct tms_prediction *p)
{
    struct feed *feed = user;
    struct online_result *result = feed->result;

    if (result->prediction_count == ONLINE_MOST) {
        result->failed = true;
        return;
    }
    struct online_prediction *to = &result->predictions[result->prediction_count++];
    *to = (struct online_prediction){
        .error = p->error,
        .rough = p->rough,
        .lock = p->lock->id,
        .first = p->first->number,
        .culprit = p->culprit->number,
        .second = p->second->number,
        .thread = p->thread,
        .begin = p->block.begin,
        .culprit_begin = p->culprit_in->block.begin,
        .block_count = p->block_count,
    };
    if (p->through != NULL) {
        to->through = p->through->place.number;
        to->through_begin = p->through->block.begin;
        to->first_lock = p->first_in->lock;
    }
    for (uint32_t i = 0; i < p->block_count; i++) {
        to->blocks[i] = p->blocks[i].begin;
    }
}

static void request(void *user, const struct tms_request *from, const struct tms_predict_hold *held,
                    size_t held_count, const struct tms_vector *must, uint64_t hash)
{
    struct feed *feed = user;
    struct online_result *result = feed->result;

    (void)hash;
    if (result->request_count == ONLINE_MOST) {
        result->failed = true;
        return;
    }
    struct online_request *to = &result->requests[result->request_count++];
    to->request = *from;
    to->held_count = held_count;
    if (held_count > 0) {
        memcpy(to->held, held, held_count * sizeof(*held));
    }
    for (size_t i = 0; i < held_count; i++) {
        to->held[i].acquire.slot = held[i].lock->id; /* all that is left of the lock */
        to->held[i].lock = NULL;
    }
    to->must = (struct tms_vector){0};
    result->failed = !tms_vector_copy(&result->memory, &to->must, must) || result->failed;
}

static void fail(void *user)
{
    struct feed *feed = user;

    feed->result->failed = true;
}

/* ---- operations --------------------------------------------------------------------------- */

static void start(struct feed *feed, struct feed_thread *t, uint32_t id,
                  const struct tms_thread_order *parent, uint64_t number)
{
    t->started = true;
    t->predict.user = t;
    t->predict.order.memory = &t->predict.memory;
    feed->result->failed = !tms_order_start(&feed->slots, &t->predict.order, id, parent, number) ||
                           feed->result->failed;
}

static struct feed_thread *thread_of(struct feed *feed, uint32_t id)
{
    struct feed_thread *t = &feed->threads[id % THREADS];

    if (!t->started) {
        start(feed, t, id, NULL, 0);
    }
    return t;
}

static struct tms_predict_op op_of(const struct feed_thread *t, const struct tms_op *op, int kind)
{
    bool in_block = (op->flags & TMS_OP_IN_BLOCK) != 0;
    size_t depth = t->nesting.depth;

    return (struct tms_predict_op){
        .number = op->event,
        .innermost = depth > 0 ? t->nesting.open[depth - 1].block.begin_event : t->block.begin,
        .depth = in_block ? (uint32_t)depth + 1 : 0,
        .site = op->location,
        .block = in_block ? t->block : (struct tms_predict_block){0},
        .kind = (uint8_t)kind,
    };
}

static void on_acquire(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    struct tms_predict_lock *lock = &feed->locks[op->target % LOCKS];
    int kind = op->kind == TMS_OP_ACQUIRE ? TMS_TAKE_EXCLUSIVE : TMS_TAKE_SHARED;
    struct tms_predict_op predict_op = op_of(t, op, kind);

    lock->id = op->target;
    tms_requests_acquire(&feed->requests, &t->requests, &t->predict, lock, &predict_op);
    tms_predict_take(&feed->predict, &t->predict, lock, &predict_op);
}

static void on_release(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    struct tms_predict_op predict_op = op_of(t, op, TMS_TAKE_EXCLUSIVE);

    tms_predict_give(&feed->predict, &t->predict, &feed->locks[op->target % LOCKS], &predict_op);
}

static void on_fork(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    struct feed_thread *child = &feed->threads[op->target % THREADS];

    if (!child->started) {
        start(feed, child, op->target, &t->predict.order, op->event);
        tms_requests_period(&t->requests);
    }
}

static void on_join(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    struct feed_thread *child = thread_of(feed, op->target);
    struct tms_predict_op predict_op = op_of(t, op, TMS_TAKE_EXCLUSIVE);

    tms_requests_join(&feed->requests, &t->requests, &t->predict, &child->requests,
                      &child->predict.memory, op->target, &predict_op);
    tms_predict_wait(&feed->predict, &t->predict, op->event, false);
    feed->result->failed = !tms_order_join(&t->predict.order, &child->predict.order, child->last) ||
                           feed->result->failed;
    tms_order_retire(&feed->slots, &child->predict.order, child->last);
    tms_requests_period(&t->requests);
}

static void on_arrive(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    tms_order_teach(&feed->memory, &t->predict.order, op->event,
                    &feed->barriers[op->target % BARRIERS], true);
    tms_requests_period(&t->requests);
}

static void on_depart(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    tms_predict_wait(&feed->predict, &t->predict, op->event, false);
    tms_order_learn(&t->predict.order, &feed->barriers[op->target % BARRIERS]);
    tms_requests_period(&t->requests);
}

static void on_step(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    if (op->event_kind == TMS_EVENT_WAIT) {
        tms_predict_wait(&feed->predict, &t->predict, op->event, true);
    }
}

static void on_begin(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    (void)feed;
    t->block = (struct tms_predict_block){op->event, op->target, op->location};
}

static void on_end(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    (void)feed;
    tms_nesting_end(&t->nesting, op);
    t->block = (struct tms_predict_block){0};
}

static void on_nested(struct feed *feed, struct feed_thread *t, const struct tms_op *op)
{
    feed->result->failed =
        !tms_nesting_follow(&t->nesting, &feed->memory, op) || feed->result->failed;
}

typedef void handler(struct feed *feed, struct feed_thread *t, const struct tms_op *op);

static handler *const handlers[TMS_OP_COUNT] = {
    [TMS_OP_BEGIN] = on_begin,     [TMS_OP_END] = on_end,
    [TMS_OP_NEST] = on_nested,     [TMS_OP_UNNEST] = on_nested,
    [TMS_OP_ACQUIRE] = on_acquire, [TMS_OP_SHARED_ACQUIRE] = on_acquire,
    [TMS_OP_RELEASE] = on_release, [TMS_OP_SHARED_RELEASE] = on_release,
    [TMS_OP_FORK] = on_fork,       [TMS_OP_JOIN] = on_join,
    [TMS_OP_ARRIVE] = on_arrive,   [TMS_OP_DEPART] = on_depart,
    [TMS_OP_STEP] = on_step,
};

static void take_ops(void *user, const struct tms_op *ops, size_t count)
{
    struct feed *feed = user;

    for (size_t i = 0; i < count; i++) {
        struct feed_thread *t = thread_of(feed, ops[i].thread);
        if (handlers[ops[i].kind] != NULL) {
            handlers[ops[i].kind](feed, t, &ops[i]);
        }
        t->last = ops[i].event;
    }
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void clear(struct feed *feed)
{
    for (size_t i = 0; i < THREADS; i++) {
        struct feed_thread *t = &feed->threads[i];
        tms_requests_clear(&t->requests, &t->predict.memory);
        tms_predict_thread_clear(&t->predict);
        tms_vector_clear(&t->predict.memory, &t->predict.order.clock);
        tms_vector_clear(&t->predict.memory, &t->predict.order.must);
        tms_nesting_clear(&t->nesting, &feed->memory);
        assert(t->predict.memory.bytes == 0);
    }
    for (size_t i = 0; i < LOCKS; i++) {
        tms_predict_lock_clear(&feed->locks[i]);
    }
    for (size_t i = 0; i < BARRIERS; i++) {
        tms_order_object_clear(&feed->memory, &feed->barriers[i]);
    }
    tms_order_slots_clear(&feed->slots);
    assert(feed->memory.bytes == 0);
}

static int feed_events(struct feed *feed, struct tms_context *context,
                       const struct tms_trace *trace)
{
    struct tms_settings settings;
    struct tms_validator validator;
    struct tms_lower *lower = calloc(1, sizeof(*lower));

    tms_settings_init(&settings);
    settings.split = trace->split;
    tms_validator_init(&validator, context);
    int code =
        lower == NULL ? TMS_ERR_MEMORY : tms_lower_init(lower, context, &settings, take_ops, feed);
    code = code == TMS_OK ? tms_validator_reserve(&validator) : code;
    code = code == TMS_OK ? tms_lower_reserve(lower) : code;
    for (size_t i = 0; i < trace->count && code == TMS_OK; i++) {
        int validity = tms_validate(&validator, &trace->events[i]);
        if (validity == TMS_VALID || validity == TMS_VALID_FIRST) {
            code = tms_lower_event(lower, &trace->events[i], (uint64_t)i + 1, validity);
        } else if (validity != TMS_VALID_INNER) {
            code = validity < 0 ? validity : TMS_ERR_MALFORMED;
        }
    }
    if (lower != NULL) {
        tms_lower_flush(lower);
        tms_lower_clear(lower);
    }
    free(lower);
    tms_validator_clear(&validator);
    return code;
}

int online_feed(struct tms_context *context, const struct tms_trace *trace, uint32_t taken_most,
                struct online_result *result)
{
    struct feed *feed = calloc(1, sizeof(*feed));

    memset(result, 0, sizeof(*result));
    if (feed == NULL) {
        return TMS_ERR_MEMORY;
    }
    feed->result = result;
    feed->slots.memory = &feed->memory;
    feed->predict.taken_most = taken_most;
    feed->predict.pairs = true;
    feed->predict.port = (struct tms_predict_port){feed, blocks_at, predict, fail};
    feed->requests = (struct tms_requests_port){feed, request, fail};
    int code = feed_events(feed, context, trace);
    clear(feed);
    free(feed);
    return code == TMS_OK && result->failed ? TMS_ERR_MEMORY : code;
}

void online_result_clear(struct online_result *result)
{
    for (size_t i = 0; i < result->request_count; i++) {
        tms_vector_clear(&result->memory, &result->requests[i].must);
    }
}
