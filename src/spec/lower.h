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

#include "base/context.h"
#include "engine/op.h"
#include "spec/objects.h"

/* Operations are handed on in batches of about this size. */
#define TMS_LOWER_BATCH 1024
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

#endif
