/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the frontier engine needs from its host: the library, which checks a trace
 * (engines/frontier_engine.c), or the runtime, which checks its own process
 * (runtime/core/engine_online.c). Each has one const struct of these; nothing else differs between
 * them.
 *
 * The engine keeps the pointer and never changes what it points to. All members except
 * `wake_source` and `wake` must be set. Each function is called in the middle of an operation of
 * the engine, on the thread that submitted the operation and under the lock that serialises the
 * engine (the runtime's tms_rt_engine_lock; the library needs none), so it must not submit another
 * operation. None may keep a pointer to an argument other than `f` and `t`.
 */
#ifndef TMS_FRONTIER_FRONTIER_PORT_H
#define TMS_FRONTIER_FRONTIER_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "engine_api/violation.h"
#include "tmesis/tmesis.h"
#include "trace/op.h"

struct tms_frontier;
struct tms_frontier_thread;

struct tms_frontier_port {
    /*
     * The history of transactions, in `t->history`, which belongs to these three: the engine only
     * empties it (`count` = 0) where a thread takes over the slot of another.
     *
     * begin: a transaction of the thread begins with this operation; `op->target` is its label.
     * Returns false if out of memory: then nothing has begun, and the engine fails.
     */
    bool (*begin)(struct tms_frontier *f, struct tms_frontier_thread *t, const struct tms_op *op);
    /* The thread's running transaction, the last one that began, ends with this event. */
    void (*end)(struct tms_frontier_thread *t, uint64_t event);
    /*
     * The transaction that an event of the thread belongs to, or, if it belongs to none, the event
     * as a transaction of its own at `place`. For each edge that is kept, and for witnesses; only
     * for events from which or to which a running transaction leads.
     */
    struct tms_transaction (*find)(const struct tms_frontier_thread *t, uint64_t event,
                                   uint32_t place);

    /*
     * A transaction that was found in a cycle has ended, or the engine is being settled. The
     * violation and all that it points to are the engine's, and valid during the call. TMS_OK, or
     * the code with which the engine fails.
     */
    int (*violation)(struct tms_frontier *f, const struct tms_violation *violation);
    /*
     * The engine has failed for lack of memory (TMS_ERR_MEMORY) or of slots or numbers
     * (TMS_ERR_LIMIT). Called once; `f->failed` is set, and the operation returns soon.
     */
    void (*fail)(struct tms_frontier *f, int code);
    /*
     * Was the variable of both operations, or may it have been, freed and allocated again between
     * them? Called for each candidate of a witness of two steps.
     */
    bool (*renewed)(const struct tms_frontier *f, const struct tms_op *first,
                    const struct tms_op *second);

    /*
     * Both for a port whose transactions have no row in the matrices until one is wanted; NULL:
     * tms_frontier_begin gives each one its row. Either may call tms_frontier_open.
     *
     * wake_source: before an edge from this event is looked at, if it is not implied by an earlier
     * one; the transaction that the event belongs to must have a row afterwards if it still runs.
     */
    void (*wake_source)(struct tms_frontier *f, uint32_t slot, uint64_t event);
    /* Then, if the edge matters, the same for the running transaction of the thread it enters. */
    void (*wake)(struct tms_frontier *f, struct tms_frontier_thread *t);

    /*
     * May the thread whose first operation this is reuse the slot of a joined thread that no
     * running transaction reaches? NULL: always. The engine itself needs no further condition, but
     * a port may use slots too.
     */
    bool (*may_reuse)(const struct tms_frontier *f, uint32_t slot, const struct tms_op *op);

    /* The allocator for all memory of the engine; NULL: the C library. */
    const struct tms_allocator *memory;
};

#endif
