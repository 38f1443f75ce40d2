/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this a trace that a program can have? The rules are in docs/semantics.md ("Well-formed
 * traces"). Always on: one look at the thread for an access, one more at the lock for a lock
 * operation.
 */
#ifndef TMS_TRACE_VALIDATE_H
#define TMS_TRACE_VALIDATE_H

#include "base/context.h"

struct tms_validator;

struct tms_validator *tms_validator_new(struct tms_context *context);
void tms_validator_free(struct tms_validator *validator);

enum {
    TMS_VALID = 0,     /* a proper event */
    TMS_VALID_INNER,   /* fine, but the inside of a re-entrant lock: not an event */
    TMS_VALID_FIRST,   /* proper, and the first of its thread */
    TMS_INVALID,       /* not well-formed: tms_validator_reason says why; state is unchanged */
};

/* One of the above, or a negative code. The event's ids must be in range. */
int tms_validate(struct tms_validator *validator, const struct tms_event *event);

/* Why the last event was invalid: a clause that follows "FILE:LINE: ", with what to do. */
const char *tms_validator_reason(const struct tms_validator *validator);

#endif
