/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this a trace that a program can have? The rules are in docs/semantics.md ("Well-formed
 * traces"). Always on.
 */
#ifndef TMS_TRACE_VALIDATE_H
#define TMS_TRACE_VALIDATE_H

#include "base/context.h"

enum tms_validity {
    TMS_VALID = 0,   /* a proper event */
    TMS_VALID_FIRST, /* proper, and the first of its thread */
    TMS_VALID_INNER, /* fine, but the inside of a re-entrant lock: not an event */
    TMS_INVALID,     /* not well-formed: tms_validator_reason says why; state is unchanged */
};

struct tms_valid_thread {
    bool seen, forked, joined;
    uint32_t blocks;    /* begins open */
    uint32_t functions; /* enters open */
};

/* How one thread shares a lock, and how often over. */
struct tms_hold {
    uint32_t thread;
    uint32_t depth;
};

struct tms_valid_lock {
    uint32_t holder; /* of the exclusive side, 0: none */
    uint32_t depth;
    struct tms_hold *shared;
    size_t sharing, capacity;
};

struct tms_validator {
    struct tms_context *context;
    struct tms_memory memory;
    struct tms_valid_thread *threads; /* by id */
    size_t thread_capacity;
    struct tms_valid_lock *locks; /* by id */
    size_t lock_capacity;
    char reason[TMS_MESSAGE_SIZE];
};

void tms_validator_init(struct tms_validator *validator, struct tms_context *context);
void tms_validator_clear(struct tms_validator *validator);

/*
 * An enum tms_validity, or a negative code. Kind and ids of the event must be in range. Asked of
 * everything but plain accesses (see spec/lower.h), about which there is no rule.
 */
int tms_validate(struct tms_validator *validator, const struct tms_event *event);

/*
 * The two cases that make up nearly all lock operations: a free lock is taken, and given back.
 * True if the event is one of them, and done with; its thread must have begun and not ended.
 */
static inline bool tms_validate_lock(struct tms_validator *validator, const struct tms_event *event)
{
    if (event->target >= validator->lock_capacity) {
        return false;
    }
    struct tms_valid_lock *lock = &validator->locks[event->target];
    if (event->kind == TMS_EVENT_ACQUIRE && (lock->holder | lock->sharing) == 0) {
        lock->holder = event->thread;
        lock->depth = 1;
        return true;
    }
    if (event->kind == TMS_EVENT_RELEASE && lock->holder == event->thread && lock->depth == 1) {
        lock->holder = 0;
        return true;
    }
    return false;
}

/* Why the last event was invalid: a clause that follows "FILE:LINE: ". */
const char *tms_validator_reason(const struct tms_validator *validator);

#endif
