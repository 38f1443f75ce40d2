/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines that can do without reads and writes, on a thread of their own: they get what they need
 * (sync_filter.h), many thousands of events at a time, while the events go on to the others.
 * Nothing that they use while they run is used by anybody else (see findings.h); what they found is
 * looked at when the thread has ended. A trace with few events is not worth a thread, and gets
 * none.
 *
 * All functions are called by the thread that feeds the analysis.
 */
#ifndef TMS_ANALYSIS_ENGINE_THREAD_H
#define TMS_ANALYSIS_ENGINE_THREAD_H

#include "base/memory.h"
#include "tmesis/tmesis.h"
#include "trace/op.h"

struct tms_aside;

/* What takes them in, in their order; called by one thread at a time. */
struct tms_aside_taker {
    void (*events)(void *user, const struct tms_event *events, size_t count, uint64_t number);
    void (*ops)(void *user, const struct tms_op *ops, size_t count);
    void *user;
};

/* NULL when memory is short. */
struct tms_aside *tms_aside_new(struct tms_memory *memory, const struct tms_aside_taker *taker);

/* From now on, operations that are reads and writes are handed over as well. */
void tms_aside_accesses(struct tms_aside *aside);

/* Also without a finish: what was not taken yet is dropped. NULL is fine. */
void tms_aside_free(struct tms_aside *aside, struct tms_memory *memory);

/*
 * Where a batch of TMS_BATCH events may be written that are to be handed over later, all or some:
 * there they need not be copied. They stay as they are until the next call, or until events from
 * elsewhere are handed over.
 */
struct tms_event *tms_aside_room(struct tms_aside *aside);

/* Events, the first of which has this number. */
void tms_aside_events(struct tms_aside *aside, const struct tms_event *events, size_t count,
                      uint64_t number);

/* Operations; reads and writes among them are left out, unless they are wanted. */
void tms_aside_ops(struct tms_aside *aside, const struct tms_op *ops, size_t count);

/* Waits until all have been taken; then the thread has ended. */
void tms_aside_finish(struct tms_aside *aside);

#endif
