/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transactions of each thread, as a ring that others read without a lock (transaction_ring.c).
 */
#ifndef TMS_RUNTIME_TRANSACTION_RING_H
#define TMS_RUNTIME_TRANSACTION_RING_H

#include "runtime/core/thread.h"

/* Publishes the begin of the thread's running transaction to other threads; 0: none runs. */
void tms_rt_publish_begin(struct tms_rt_thread *thread, uint64_t begin);
/* For the engine's port (frontier/frontier_port.h). */
bool tms_rt_ring_begin(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op);
void tms_rt_ring_end(struct tms_frontier_thread *t, uint64_t event);
struct tms_transaction tms_rt_ring_find(const struct tms_frontier_thread *t, uint64_t event,
                                        uint32_t place);
/* Like BEGIN and END, but known only to the thread itself until an edge needs the transaction. */
void tms_rt_begin_locally(struct tms_rt_thread *thread, uint32_t label, uint32_t site);
/*
 * False if the engine knows of the transaction by now: then the end must pass through the engine.
 */
bool tms_rt_end_locally(struct tms_rt_thread *thread, uint32_t label, uint32_t site);

#endif
