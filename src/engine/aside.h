/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines that can do without reads and writes, on a thread of their own: they get their
 * operations, many thousands at a time, while the events go on to the others. Nothing that they
 * use while they run is used by anybody else (see findings.h); what they found is looked at when
 * the thread has ended. A trace with few such operations is not worth a thread, and gets none.
 *
 * All functions are called by the thread that feeds the analysis.
 */
#ifndef TMS_ENGINE_ASIDE_H
#define TMS_ENGINE_ASIDE_H

#include "base/memory.h"
#include "engine/op.h"

struct tms_aside;

/* Takes operations in, in their order; called by one thread at a time. */
typedef void tms_aside_take(void *user, const struct tms_op *ops, size_t count);

/* NULL when memory is short. */
struct tms_aside *tms_aside_new(struct tms_memory *memory, tms_aside_take *take, void *user);

/* Also without a finish: what was not taken yet is dropped. NULL is fine. */
void tms_aside_free(struct tms_aside *aside, struct tms_memory *memory);

/*
 * Where the next operations can be written, `*room` of them, at least one; one more may be
 * scribbled on. They count when tms_aside_put says how many there are.
 */
struct tms_op *tms_aside_room(struct tms_aside *aside, size_t *room);
void tms_aside_put(struct tms_aside *aside, size_t count);

/* The same for operations that lie elsewhere: those of the kinds that are wanted. */
void tms_aside_pick(struct tms_aside *aside, const bool wanted[TMS_OP_COUNT],
                    const struct tms_op *ops, size_t count);

/* Waits until all have been taken; then the thread has ended. */
void tms_aside_finish(struct tms_aside *aside);

#endif
