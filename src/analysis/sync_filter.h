/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What engines see that can do without plain reads and writes, picked out of what another thread
 * has validated, lowered (spec/lower.h) and handed over: events as they were, where they are plain,
 * and operations otherwise. Which blocks are open is known from these alone, so all must come, in
 * their order; names, specification and validator belong to the other thread and are not asked.
 */
#ifndef TMS_ANALYSIS_SYNC_FILTER_H
#define TMS_ANALYSIS_SYNC_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"
#include "tmesis/tmesis.h"
#include "trace/op.h"

#define TMS_PICK_BATCH 1024

/* Takes the operations of a full buffer, and of the rest at a flush. */
typedef void tms_pick_emit(void *user, const struct tms_op *ops, size_t count);

/* An atomic block that is open. */
struct tms_picked_block {
    uint32_t label;
    bool function;
};

struct tms_pick_thread {
    struct tms_picked_block *blocks; /* the outermost first */
    size_t count, capacity;
};

struct tms_pick {
    struct tms_memory memory;
    tms_pick_emit *emit;
    void *user;
    bool no_ends; /* nobody needs the ends of blocks, nor nested ones that are empty to them */
    bool failed;  /* memory was short: no more is picked */
    struct tms_pick_thread *threads; /* by id */
    size_t thread_capacity;
    size_t count;
    struct tms_op ops[1 + TMS_PICK_BATCH + TMS_OPS_AHEAD]; /* from 1 on; the first is none */
};

/* `pick` is zeroed. */
void tms_pick_init(struct tms_pick *pick, bool no_ends, tms_pick_emit *emit, void *user);
void tms_pick_clear(struct tms_pick *pick);

/* Events that were plain; `number` is that of the first. */
void tms_pick_events(struct tms_pick *pick, const struct tms_event *events, size_t count,
                     uint64_t number);

/* Operations, less the reads and writes that are not atomic. */
void tms_pick_ops(struct tms_pick *pick, const struct tms_op *ops, size_t count);

void tms_pick_flush(struct tms_pick *pick);

#endif
