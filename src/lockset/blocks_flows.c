/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows: what theorems 4 and 5 need of a transaction, written down while it runs and kept once for
 * all that are alike (blocks.h).
 */
#include <assert.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the hash state lives on the stack */
#include <xxhash.h>

#include "lockset/blocks.h"

static void log_item(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                     enum tms_blocks_item_kind kind, uint32_t target,
                     const struct tms_blocks_access *access)
{
    if (RESERVE(b, &thread->items, &thread->item_capacity, thread->item_count + 1)) {
        thread->items[thread->item_count++] =
            (struct tms_blocks_item){kind, target, access->held, access->at};
    }
}

void tms_blocks_log_read(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                         const struct tms_blocks_touch *touch,
                         const struct tms_blocks_access *access)
{
    if (!touch->read) {
        log_item(b, thread, ITEM_READ, touch->cell, access);
    }
}

void tms_blocks_log_write(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                          struct tms_blocks_touch *touch, const struct tms_blocks_access *access)
{
    if (touch->written) {
        assert(thread->items[touch->write_item].kind == ITEM_WRITE);
        assert(thread->items[touch->write_item].target == touch->cell);
        thread->items[touch->write_item].kind = ITEM_NOTHING;
    }
    touch->write_item = (uint32_t)thread->item_count;
    log_item(b, thread, ITEM_WRITE, touch->cell, access);
}

void tms_blocks_log_op(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                       enum tms_blocks_item_kind kind, const struct tms_op *op)
{
    struct tms_blocks_access access = {
        .at = {op->event, op->location, op->event_kind},
        .held = tms_blocks_held_now(thread),
    };

    log_item(b, thread, kind, op->target, &access);
}

void tms_blocks_log_nest(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                         const struct tms_nested *nested)
{
    struct tms_blocks_access access = {
        .at = {nested->block.begin_event, nested->block.location,
               nested->function ? TMS_EVENT_ENTER : TMS_EVENT_BEGIN},
        .held = tms_blocks_held_now(thread),
    };

    log_item(b, thread, ITEM_NEST, nested->block.label, &access);
}

/* Drops writes that were not final, and entries after the last access; returns how many remain. */
static size_t tidy_log(struct tms_blocks_thread *thread)
{
    size_t kept = 0, end = 0, accesses = 0;

    for (size_t i = 0; i < thread->item_count; i++) {
        if (thread->items[i].kind != ITEM_NOTHING) {
            thread->items[kept++] = thread->items[i];
            if (tms_blocks_is_access(&thread->items[kept - 1])) {
                accesses++;
                end = kept;
            }
        }
    }
    assert(end <= kept && accesses <= end);
    thread->item_count = end;
    return accesses;
}

/* The steps without their places in the trace; locks that are held already count by `held`. */
static struct tms_blocks_flow_key flow_key(const struct tms_blocks_thread *thread)
{
    XXH3_state_t state;

    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, &thread->period, sizeof(thread->period));
    XXH3_128bits_update(&state, &thread->name.label, sizeof(thread->name.label));
    XXH3_128bits_update(&state, &thread->name.unary, sizeof(thread->name.unary));
    for (size_t i = 0; i < thread->item_count; i++) {
        XXH3_128bits_update(&state, &thread->items[i], offsetof(struct tms_blocks_item, at));
    }
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    return (struct tms_blocks_flow_key){hash.low64, hash.high64};
}

void tms_blocks_keep_flow(struct tms_blocks_engine *b, struct tms_blocks_thread *thread)
{
    bool is_new;

    /* One access by itself is no 2v-block, but it can be part of a longer cycle. */
    if (tidy_log(thread) < (b->host->settings->blocks == TMS_BLOCKS_FULL ? 1 : 2)) {
        return;
    }
    struct tms_blocks_flow_key key = flow_key(thread);
    uint32_t number = tms_intern_table_add(&b->flows, &key, &is_new);
    if (number == 0) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
        return;
    }
    struct tms_blocks_flow *flow = tms_blocks_flow(b, number);
    flow->last_event = thread->name.begin_event;
    if (!is_new || !RESERVE(b, &b->items, &b->item_capacity, b->item_count + thread->item_count)) {
        return;
    }
    assert(flow->count == 0 && thread->item_count > 0);
    flow->first_event = thread->name.begin_event;
    flow->items = b->item_count;
    flow->count = (uint32_t)thread->item_count;
    flow->period = thread->period;
    flow->transaction = tms_blocks_keep_transaction(b, thread);
    memcpy(&b->items[b->item_count], thread->items, thread->item_count * sizeof(*b->items));
    b->item_count += thread->item_count;
}

/* The last of the open blocks with this label and kind, by its place among them; or none. */
static size_t find_open(const struct tms_nested *open, size_t depth,
                        const struct tms_blocks_item *item)
{
    bool function = item->at.event_kind == TMS_EVENT_EXIT;

    while (depth > 0 &&
           (open[depth - 1].function != function || open[depth - 1].block.label != item->target)) {
        depth--;
    }
    return depth;
}

static bool follow_nesting(struct tms_blocks_engine *b, const struct tms_blocks_flow *flow,
                           const struct tms_blocks_item *item)
{
    struct tms_nesting *nesting = &b->replay;

    if (item->kind == ITEM_UNNEST) {
        size_t at = find_open(nesting->open, nesting->depth, item);
        if (at > 0) { /* else it is the transaction's own block */
            memmove(&nesting->open[at - 1], &nesting->open[at],
                    (nesting->depth-- - at) * sizeof(*nesting->open));
        }
        return true;
    }
    if (!RESERVE(b, &nesting->open, &nesting->capacity, nesting->depth + 1)) {
        return false;
    }
    nesting->open[nesting->depth++] = (struct tms_nested){
        .block = {item->at.event, b->transactions[flow->transaction].thread, item->target,
                  item->at.location, false},
        .function = item->at.event_kind == TMS_EVENT_ENTER,
    };
    return true;
}

const struct tms_refuted *tms_blocks_refuted(struct tms_blocks_engine *b,
                                             const struct tms_blocks_flow *flow, uint32_t first,
                                             uint32_t second)
{
    const struct tms_blocks_item *items = &b->items[flow->items];

    assert(first < flow->count && second < flow->count);
    b->replay.depth = b->refuting.count = 0;
    for (uint32_t i = 0; i < second; i++) {
        bool nests = items[i].kind == ITEM_NEST || items[i].kind == ITEM_UNNEST;
        if (nests && !follow_nesting(b, flow, &items[i])) {
            return &b->refuting;
        }
    }
    if (!tms_nesting_refute(&b->replay, b->memory, &b->transactions[flow->transaction],
                            items[first].at.event, &b->refuting)) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
    }
    return &b->refuting;
}
