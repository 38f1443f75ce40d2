/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From events to operations (engine/op.h): decides what a transaction is, once for all engines.
 *
 * Per thread it keeps the stack of open blocks; the outermost atomic block is the transaction.
 * enter/exit are blocks if the specification says that the function is atomic. A wait, the
 * departure from a barrier, and where asked for a join, begin a new transaction inside the
 * block; a fork ends one, and the next event begins the new.
 */
#ifndef TMS_SPEC_LOWER_H
#define TMS_SPEC_LOWER_H

#include "base/context.h"
#include "engine/op.h"

/* One event makes at most this many operations besides its FORGETs. */
#define TMS_LOWER_MOST 4

struct tms_lower;

/* `emit` takes the operations of a full buffer, and of the rest at a flush. */
typedef void tms_lower_emit(void *user, const struct tms_op *ops, size_t count);

struct tms_lower *tms_lower_new(struct tms_context *context, unsigned split, tms_lower_emit *emit,
                                void *user);
void tms_lower_free(struct tms_lower *lower);

/* `validity` is what tms_validate said of the event (not TMS_INVALID). 0 or a negative code. */
int tms_lower_event(struct tms_lower *lower, const struct tms_event *event, uint64_t number,
                    int validity);
void tms_lower_flush(struct tms_lower *lower);

uint64_t tms_lower_transactions(const struct tms_lower *lower); /* outermost blocks */
uint64_t tms_lower_unary(const struct tms_lower *lower);

#endif
