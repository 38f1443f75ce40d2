/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From events to operations (engine/op.h): decides what a transaction is, once for all engines.
 *
 * Per thread it keeps the open blocks; while at least one atomic block is open the thread is
 * in a transaction. enter/exit are blocks if the function is atomic, which by default every
 * one is but `main` (and the run methods of a RoadRunner log). A wait, the departure from a
 * barrier and, where asked for, a join begin a new transaction inside the block; a fork, where
 * asked for, ends one, and the next event of the thread begins the new.
 */
#ifndef TMS_SPEC_LOWER_H
#define TMS_SPEC_LOWER_H

#include <stddef.h>
#include <string.h>

#include "base/context.h"
#include "engine/op.h"
#include "spec/objects.h"

/* Operations are handed on in batches of about this size. */
#define TMS_LOWER_BATCH 256
/* One event makes at most this many operations besides its FORGETs. */
#define TMS_LOWER_MOST 4

/* Takes the operations of a full buffer, and of the rest at a flush. */
typedef void tms_lower_emit(void *user, const struct tms_op *ops, size_t count);

struct tms_lower_thread {
    bool plain;       /* begun, not joined, no split due: an access is just an operation */
    uint8_t in_block; /* TMS_OP_IN_BLOCK or 0 */
    uint32_t atomic;  /* atomic blocks open: in a transaction iff > 0 */
    bool split_next;  /* a fork ended the transaction: the next event begins another */
    struct tms_block *blocks;
    size_t block_count, block_capacity;
};

struct tms_lower {
    struct tms_context *context;
    struct tms_memory memory;
    unsigned split;   /* enum tms_split */
    bool run_methods; /* functions called run are not atomic either */
    tms_lower_emit *emit;
    void *user;
    struct tms_lower_thread *threads; /* by id */
    size_t thread_capacity;
    uint8_t *functions; /* by label id: atomic or not, once known */
    size_t function_capacity;
    struct tms_objects objects;
    uint64_t transactions; /* outermost blocks */
    uint64_t unary;        /* events outside blocks */
    size_t batch;          /* operations before they are handed on */
    size_t count;
    struct tms_op ops[TMS_LOWER_BATCH + TMS_LOWER_MOST];
};

int tms_lower_init(struct tms_lower *lower, struct tms_context *context, unsigned split,
                   tms_lower_emit *emit, void *user);
void tms_lower_clear(struct tms_lower *lower);

/*
 * `validity` is what tms_validate said of the event, TMS_VALID or TMS_VALID_FIRST. TMS_OK or a
 * negative code.
 */
int tms_lower_event(struct tms_lower *lower, const struct tms_event *event, uint64_t number,
                    int validity);
void tms_lower_flush(struct tms_lower *lower);

/*
 * The way of nearly all events: an access, or a lock operation found valid, by a thread about
 * which there is nothing to ask. A thread is `plain` from its first event to its join, as long
 * as no split is due.
 */
static inline bool tms_lower_is_plain(const struct tms_lower *lower, uint32_t thread)
{
    return thread < lower->thread_capacity && lower->threads[thread].plain;
}

_Static_assert(sizeof(struct tms_event) ==
                       sizeof(struct tms_op) - offsetof(struct tms_op, thread) &&
                   offsetof(struct tms_event, kind) ==
                       offsetof(struct tms_op, event_kind) - offsetof(struct tms_op, thread),
               "an operation holds its event");
_Static_assert(TMS_OP_READ - TMS_EVENT_READ == TMS_OP_SHARED_RELEASE - TMS_EVENT_SHARED_RELEASE,
               "accesses and lock operations stand in the same order");

static inline void tms_lower_plain(struct tms_lower *lower, const struct tms_event *event,
                                   uint64_t number)
{
    struct tms_op *op = &lower->ops[lower->count++];
    uint8_t in_block = lower->threads[event->thread].in_block;

    op->event = number;
    memcpy(&op->thread, event, sizeof(*event));
    op->kind = (uint8_t)(event->kind + (TMS_OP_READ - TMS_EVENT_READ));
    op->flags = in_block;
    lower->unary += in_block ^ TMS_OP_IN_BLOCK;
    if (lower->count >= lower->batch) {
        tms_lower_flush(lower);
    }
}

#endif
