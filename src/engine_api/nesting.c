/* SPDX-License-Identifier: Apache-2.0 */
/* Nested blocks; see nesting.h for the representation. */
#include "engine_api/nesting.h"

#include <assert.h>
#include <string.h>

#define LEAST_BLOCKS 8

void tms_nesting_clear(struct tms_nesting *nesting, struct tms_memory *memory)
{
    tms_release(memory, nesting->open, nesting->capacity, sizeof(*nesting->open));
}

void tms_refuted_clear(struct tms_refuted *refuted, struct tms_memory *memory)
{
    tms_release(memory, refuted->block, refuted->capacity, sizeof(*refuted->block));
}

static bool open_block(struct tms_nesting *nesting, struct tms_memory *memory,
                       const struct tms_op *op)
{
    if (!TMS_RESERVE(memory, &nesting->open, &nesting->capacity, nesting->depth + 1,
                     LEAST_BLOCKS)) {
        return false;
    }
    nesting->open[nesting->depth++] = (struct tms_nested){
        .block = {op->event, op->thread, op->target, op->location, false},
        .function = op->event_kind == TMS_EVENT_ENTER,
    };
    return true;
}

static void remove_block(struct tms_nesting *nesting, size_t at)
{
    nesting->depth--;
    if (at < nesting->depth) { /* mostly it is the last */
        struct tms_nested closed = nesting->open[at];
        memmove(&nesting->open[at], &nesting->open[at + 1],
                (nesting->depth - at) * sizeof(*nesting->open));
        nesting->open[nesting->depth] = closed;
    }
}

static void close_block(struct tms_nesting *nesting, const struct tms_op *op)
{
    bool function = op->event_kind == TMS_EVENT_EXIT;
    size_t at = nesting->depth;

    while (at > 0 && nesting->open[at - 1].function != function) {
        at--;
    }
    if (at > 0) {
        assert(nesting->open[at - 1].block.label == op->target);
        remove_block(nesting, at - 1);
    } else {
        assert(nesting->depth > 0 && !nesting->headless);
        nesting->headless = true;
    }
}

bool tms_nesting_follow(struct tms_nesting *nesting, struct tms_memory *memory,
                        const struct tms_op *op)
{
    if (op->kind == TMS_OP_NEST) {
        return open_block(nesting, memory, op);
    }
    assert(op->kind == TMS_OP_UNNEST);
    close_block(nesting, op);
    return true;
}

void tms_nesting_end_nested(struct tms_nesting *nesting, const struct tms_op *op)
{
    assert(op->kind == TMS_OP_END);
    if ((op->flags & TMS_OP_SYNTHETIC) == 0) {
        assert(nesting->headless && nesting->depth == 1); /* the last block closes here */
        nesting->depth = 0;
    } else if (nesting->headless) {
        remove_block(nesting, 0);
    }
    nesting->headless = false;
}

bool tms_nesting_refute(const struct tms_nesting *nesting, struct tms_memory *memory,
                        const struct tms_transaction *transaction, uint64_t left,
                        struct tms_refuted *refuted)
{
    size_t inside = 0;

    while (inside < nesting->depth && nesting->open[inside].block.begin_event <= left) {
        inside++;
    }
    refuted->count = 0;
    if (inside == 0) {
        return true;
    }
    if (!TMS_RESERVE(memory, &refuted->block, &refuted->capacity, inside + 1, LEAST_BLOCKS)) {
        return false;
    }
    refuted->block[refuted->count++] = *transaction;
    for (size_t i = 0; i < inside; i++) {
        refuted->block[refuted->count++] = nesting->open[i].block;
    }
    return true;
}

bool tms_cycle_proves(const struct tms_step *cycle, size_t length)
{
    for (size_t i = 1; i < length; i++) {
        if (cycle[i - 1].second_event > cycle[i].first_event) {
            return false;
        }
    }
    return length > 0;
}
