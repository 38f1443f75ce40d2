/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this a trace that a program can have? The rules are in docs/semantics.md ("Well-formed
 * traces"). Always on: one look at the thread for an access, one more at the lock for a lock
 * operation.
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

/* What tms_validate does not decide at a glance. */
int tms_validate_fully(struct tms_validator *validator, const struct tms_event *event);

/* An enum tms_validity, or a negative code. Kind and ids of the event must be in range. */
static inline int tms_validate(struct tms_validator *validator, const struct tms_event *event)
{
    unsigned kind = event->kind;

    if (__builtin_expect(event->thread < validator->thread_capacity, 1) &&
        (kind == TMS_EVENT_READ || kind == TMS_EVENT_WRITE || kind == TMS_EVENT_UPDATE)) {
        const struct tms_valid_thread *thread = &validator->threads[event->thread];
        if (__builtin_expect(thread->seen && !thread->joined, 1)) {
            return TMS_VALID;
        }
    }
    return tms_validate_fully(validator, event);
}

/* Why the last event was invalid: a clause that follows "FILE:LINE: ". */
const char *tms_validator_reason(const struct tms_validator *validator);

#endif
