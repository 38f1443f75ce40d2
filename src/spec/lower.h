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
#define TMS_LOWER_BATCH 512
/* One event makes at most this many operations besides its FORGETs. */
#define TMS_LOWER_MOST 4

/* Takes the operations of a full buffer, and of the rest at a flush. */
typedef void tms_lower_emit(void *user, const struct tms_op *ops, size_t count);

struct tms_lower_thread {
    uint32_t atomic; /* atomic blocks open: in a transaction iff > 0 */
    bool split_next; /* a fork ended the transaction: the next event begins another */
    struct tms_block *blocks;
    size_t block_count, block_capacity;
};

/* Of a thread that has begun and was not joined, while no split is due. */
#define TMS_PLAIN 0x80

struct tms_lower {
    struct tms_context *context;
    struct tms_memory memory;
    unsigned split;   /* enum tms_split */
    bool run_methods; /* functions called run are not atomic either */
    tms_lower_emit *emit;
    void *user;
    struct tms_lower_thread *threads; /* by id */
    uint8_t *plain;                   /* by id: TMS_PLAIN, TMS_OP_IN_BLOCK */
    size_t thread_capacity, plain_capacity;
    uint8_t *functions; /* by label id: atomic or not, once known */
    size_t function_capacity;
    struct tms_objects objects;
    uint64_t transactions; /* outermost blocks */
    uint64_t unary;        /* events outside blocks */
    size_t batch;          /* operations before they are handed on */
    size_t count;
    struct tms_op ops[TMS_LOWER_BATCH + TMS_LOWER_MOST + TMS_OPS_BEHIND];
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

/* Makes room for the threads that have names: before tms_lower_plain. */
int tms_lower_reserve(struct tms_lower *lower);

_Static_assert(sizeof(struct tms_event) ==
                       sizeof(struct tms_op) - offsetof(struct tms_op, thread) &&
                   offsetof(struct tms_event, kind) ==
                       offsetof(struct tms_op, event_kind) - offsetof(struct tms_op, thread),
               "an operation holds its event");
_Static_assert(TMS_OP_READ - TMS_EVENT_READ == TMS_OP_SHARED_RELEASE - TMS_EVENT_SHARED_RELEASE,
               "accesses and lock operations stand in the same order");

/*
 * The way of nearly all events: an access, or an operation on a lock that there is nothing to
 * ask about, by a thread that is TMS_PLAIN, as `plain` says. The caller sees to the buffer.
 */
static inline void tms_lower_plain(struct tms_op *op, const struct tms_event *event,
                                   uint64_t number, uint8_t plain)
{
    op->event = number;
    memcpy(&op->thread, event, sizeof(*event));
    op->kind = (uint8_t)(event->kind + (TMS_OP_READ - TMS_EVENT_READ));
    op->flags = plain & TMS_OP_IN_BLOCK;
}

#endif
