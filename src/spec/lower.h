/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowers events to operations (trace/op.h): decides what a transaction is, once for all engines.
 *
 * Per thread it keeps the open blocks; while at least one atomic block is open the thread is in a
 * transaction. The specification says which blocks are atomic, for enter/exit as for begin/end;
 * without one every block is, and every function except `main` (and the run methods of a RoadRunner
 * log). The begin and end of a block that is not atomic become operations that conflict with
 * nothing. A wait, the departure from a barrier and, on request, a join begin a new transaction
 * inside the block; a fork, on request, ends one, and the next event of the thread begins the new
 * one.
 *
 * Operations on locks that a suppression matches become STEPs, which conflict with nothing.
 */
#ifndef TMS_SPEC_LOWER_H
#define TMS_SPEC_LOWER_H

#include <stddef.h>
#include <string.h>

#include "base/context.h"
#include "spec/object_fields.h"
#include "spec/spec.h"
#include "spec/suppressions.h"
#include "trace/op.h"

/* Operations are passed on in batches of about this size. */
#define TMS_LOWER_BATCH 512
/* One event makes at most this many operations besides its FORGETs. */
#define TMS_LOWER_MOST 4

/* Takes the operations of a full buffer, and of the rest at a flush. */
typedef void tms_lower_emit(void *user, const struct tms_op *ops, size_t count);

/* How a block was opened: by begin, by enter, or by call (and demote). */
enum tms_block_source { TMS_FROM_BEGIN, TMS_FROM_ENTER, TMS_FROM_CALL, TMS_BLOCK_SOURCES };

/* A block that is open. */
struct tms_block {
    uint32_t label;
    uint8_t source; /* enum tms_block_source */
    bool atomic;    /* part of a transaction */
    bool candidate; /* not atomic, but `judge` examines it */
};

struct tms_lower_thread {
    uint32_t atomic;          /* atomic blocks open: in a transaction iff > 0 */
    bool split_next;          /* a fork ended the transaction: the next event begins another */
    struct tms_block *blocks; /* from 1, so that blocks[count] is always readable */
    size_t block_count, block_capacity;
};

/* A candidate is a function that no rule names, and that is not atomic by default. */
enum tms_label_state {
    TMS_LABEL_UNKNOWN,
    TMS_LABEL_ATOMIC,
    TMS_LABEL_CANDIDATE,
    TMS_LABEL_NOT_ATOMIC
};

enum tms_lock_state { TMS_LOCK_UNKNOWN, TMS_LOCK_KEPT, TMS_LOCK_IGNORED };

/* The thread has begun and was not joined, and no split is pending. */
#define TMS_PLAIN 0x80

struct tms_lower {
    struct tms_context *context;
    struct tms_memory memory;
    struct tms_spec *spec;            /* NULL: the default */
    unsigned split;                   /* enum tms_split */
    struct tms_suppressions *ignored; /* locks; NULL: none. Not used by tms_lower_plain */
    bool run_methods;                 /* by default, functions called run are not atomic either */
    tms_lower_emit *emit;
    void *user;
    struct tms_lower_thread *threads; /* by id */
    uint8_t *plain;                   /* by id: TMS_PLAIN, TMS_OP_IN_BLOCK */
    size_t thread_capacity, plain_capacity;
    uint8_t *labels; /* by label id and source: enum tms_label_state */
    size_t label_capacity;
    uint8_t *locks; /* by id: enum tms_lock_state */
    size_t lock_capacity;
    struct tms_object_fields objects;
    uint64_t transactions; /* outermost blocks */
    uint64_t not_atomic;   /* blocks and functions that are not atomic */
    uint64_t unary;        /* events outside blocks */
    size_t batch;          /* operations before they are passed on */
    size_t count;
    struct tms_op ops[TMS_LOWER_BATCH + TMS_LOWER_MOST + TMS_OPS_AHEAD];
};

int tms_lower_init(struct tms_lower *lower, struct tms_context *context,
                   const struct tms_settings *settings, tms_lower_emit *emit, void *user);
void tms_lower_clear(struct tms_lower *lower);

/*
 * `validity` is the result of tms_validate for the event, TMS_VALID or TMS_VALID_FIRST. TMS_OK or a
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
               "accesses and lock operations are in the same order");

/* An access, or an operation on a lock, for consumers that do not need flags. */
static inline void tms_lower_bare(struct tms_op *op, const struct tms_event *event, uint64_t number)
{
    uint8_t kind = (uint8_t)(event->kind + (TMS_OP_READ - TMS_EVENT_READ));

    op->event = number;
    memcpy(&op->thread, event, sizeof(*event));
    op->kind = kind;
}

/*
 * The fast path for nearly all events: an access, or a plain operation on a lock, by a thread whose
 * `plain` has TMS_PLAIN. The caller ensures room in the buffer.
 */
static inline void tms_lower_plain(struct tms_op *op, const struct tms_event *event,
                                   uint64_t number, uint8_t plain)
{
    tms_lower_bare(op, event, number);
    op->flags = plain; /* the extra bit TMS_PLAIN is harmless */
}

static inline bool tms_is_function(const struct tms_event *event)
{
    return event->kind >= TMS_EVENT_ENTER;
}

/* The source of an event that opens or closes a block. */
static inline uint8_t tms_block_source(const struct tms_event *event)
{
    return tms_is_function(event)                                             ? TMS_FROM_ENTER
           : event->kind == TMS_EVENT_CALL || event->kind == TMS_EVENT_RETURN ? TMS_FROM_CALL
                                                                              : TMS_FROM_BEGIN;
}

/* Does the event open a block, rather than close one? */
static inline bool tms_opens_block(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_BEGIN || event->kind == TMS_EVENT_ENTER;
}

/* A block begins or ends, by a thread that is TMS_PLAIN. */
static inline bool tms_is_plain_block(const struct tms_event *event, uint8_t plain)
{
    return (plain & TMS_PLAIN) != 0 && (event->kind <= TMS_EVENT_END || tms_is_function(event));
}

_Static_assert(TMS_EVENT_BEGIN == 0 && TMS_EVENT_END == 1 &&
                   TMS_EVENT_EXIT == TMS_EVENT_ENTER + 1 && TMS_EVENT_EXIT == TMS_EVENT_COUNT - 1,
               "blocks are at the start, functions at the end");
_Static_assert(TMS_OP_END == TMS_OP_BEGIN + 1 && TMS_OP_NEST == TMS_OP_BEGIN + 2 &&
                   TMS_OP_UNNEST == TMS_OP_END + 2,
               "what opens, what closes; outermost, nested");

static inline void tms_lower_block_op(struct tms_op *op, const struct tms_event *event,
                                      uint64_t number, uint32_t label, unsigned kind)
{
    op->event = number;
    memcpy(&op->thread, event, sizeof(*event));
    op->target = label;
    op->kind = (uint8_t)kind;
    op->flags = TMS_OP_IN_BLOCK;
}

/*
 * The fast path for nearly all blocks, by a thread whose `plain` has TMS_PLAIN: opens a block that
 * is known to be atomic, or closes the last opened block, which is atomic. Returns false, and does
 * nothing, in all other cases.
 */
static inline bool tms_lower_open(struct tms_lower *lower, struct tms_op *op,
                                  const struct tms_event *event, uint64_t number, uint8_t *plain)
{
    struct tms_lower_thread *thread = &lower->threads[event->thread];
    uint8_t source = tms_block_source(event);
    size_t at = (size_t)event->target * TMS_BLOCK_SOURCES + source;

    if (thread->block_count + 1 >= thread->block_capacity || at >= lower->label_capacity ||
        lower->labels[at] != TMS_LABEL_ATOMIC) {
        return false;
    }
    bool nested = thread->atomic++ > 0;
    thread->blocks[++thread->block_count] = (struct tms_block){event->target, source, true, false};
    lower->transactions += !nested;
    tms_lower_block_op(op, event, number, event->target, TMS_OP_BEGIN + 2u * nested);
    *plain = TMS_PLAIN | TMS_OP_IN_BLOCK;
    return true;
}

static inline bool tms_lower_close(struct tms_lower *lower, struct tms_op *op,
                                   const struct tms_event *event, uint64_t number, uint8_t *plain)
{
    struct tms_lower_thread *thread = &lower->threads[event->thread];

    if (thread->block_count == 0) {
        return false;
    }
    struct tms_block last = thread->blocks[thread->block_count];
    if (!last.atomic || last.source != tms_block_source(event)) {
        return false;
    }
    bool nested = --thread->atomic > 0;
    thread->block_count--;
    tms_lower_block_op(op, event, number, last.label, TMS_OP_END + 2u * nested);
    *plain = TMS_PLAIN | (nested ? TMS_OP_IN_BLOCK : 0);
    return true;
}

static inline bool tms_lower_block(struct tms_lower *lower, struct tms_op *op,
                                   const struct tms_event *event, uint64_t number, uint8_t *plain,
                                   bool opens)
{
    return (opens ? tms_lower_open : tms_lower_close)(lower, op, event, number, plain);
}

#endif
