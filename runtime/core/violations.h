/* SPDX-License-Identifier: Apache-2.0 */
/* Violations on their way into the spool (violations.c). */
#ifndef TMS_RUNTIME_VIOLATIONS_H
#define TMS_RUNTIME_VIOLATIONS_H

#include "runtime/core/heap_blocks.h"
#include "runtime/core/thread.h"

void tms_rt_violations_restart(void);
/* For the engine's port (frontier/frontier_port.h). */
int tms_rt_take_violation(struct tms_frontier *f, const struct tms_violation *violation);
/*
 * Writes the running transaction's pending violation to the spool, if it has changed. The caller
 * holds the engine's lock.
 */
void tms_rt_spool_pending(struct tms_rt_thread *thread);
struct tms_spool_transaction tms_rt_spooled(const struct tms_transaction *transaction);
/* Records the heap blocks that the steps conflict in, for the report on a violation or race. */
void tms_rt_spool_heap(const struct tms_spool_step *steps, size_t count);
/* Records one block; `object` is a lock in it since event `number`, or 0. */
void tms_rt_spool_block(const struct tms_rt_heap_block *block, uintptr_t object, uint64_t number);

#endif
