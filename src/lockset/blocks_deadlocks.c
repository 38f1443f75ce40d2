/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The theorems hold for transactions that can't deadlock: a trace that ends in a deadlock inside a
 * transaction is not serial either, and threads on their way to a deadlock may not reach points
 * that locks alone would let them reach. So the engine `goodlock` runs inside this one. Its
 * findings count as findings of this engine, and are a caveat on every pattern.
 */
#include "lockset/blocks.h"

extern const struct tms_engine tms_engine_goodlock;

int tms_blocks_watch_deadlocks(struct tms_blocks_engine *b)
{
    b->inner = (struct tms_host){
        .context = b->host->context,
        .settings = b->host->settings,
        .findings = b->host->findings,
    };
    b->goodlock = tms_resize(&b->inner.memory, NULL, 0, 1, tms_engine_goodlock.state_size);
    return b->goodlock == NULL ? TMS_ERR_MEMORY
                               : tms_engine_goodlock.create(b->goodlock, &b->inner);
}

/* A failure of the inner engine is a failure of this one. */
static void pass_on(struct tms_blocks_engine *b)
{
    if (b->inner.failed != TMS_OK) {
        tms_host_fail(b->host, b->inner.failed);
    }
}

void tms_blocks_follow_deadlocks(struct tms_blocks_engine *b, const struct tms_op *op)
{
    if (b->inner.failed == TMS_OK) {
        tms_engine_goodlock.on[op->kind](b->goodlock, op);
    }
    pass_on(b);
}

void tms_blocks_drop_deadlocks(struct tms_blocks_engine *b)
{
    if (b->goodlock != NULL) {
        tms_engine_goodlock.destroy(b->goodlock);
        tms_release(&b->inner.memory, b->goodlock, 1, tms_engine_goodlock.state_size);
        b->goodlock = NULL;
    }
    assert(b->inner.memory.bytes == 0);
}

void tms_blocks_find_deadlocks(struct tms_blocks_engine *b)
{
    uint64_t before = tms_host_violations(b->host);

    tms_engine_goodlock.finish(b->goodlock);
    b->deadlocks = tms_host_violations(b->host) - before;
    b->host->loss = b->inner.loss;
    pass_on(b);
    if (b->memory->peak < b->memory->bytes + b->inner.memory.peak) {
        b->memory->peak = b->memory->bytes + b->inner.memory.peak;
    }
    tms_blocks_drop_deadlocks(b);
}
