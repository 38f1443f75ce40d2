/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks open inside the running transaction of a thread, and which of them a violation
 * refutes.
 *
 * If a transaction is not atomic, the proof leaves it by one of its events and comes back into the
 * current event. A block in it that was open at both is no more atomic than the transaction is; and
 * as the blocks kept here are those open at the second, what counts is which of them had begun by
 * the first.
 *
 * Representation: a stack of the blocks that NEST opened, outermost first, so by begin. The
 * transaction's own block is not in it, so a trace without nested blocks pays one test per END.
 * `end` and `exit` close the innermost of their own kind: where the two interleave this may be the
 * transaction's own block, while others in it are still open (`headless`). A split begins another
 * transaction inside the same blocks: the stack stays, except for its first block if the
 * transaction is headless, as the new one is named after that.
 */
#ifndef TMS_ENGINE_API_NESTING_H
#define TMS_ENGINE_API_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "tmesis/tmesis.h"
#include "trace/op.h"

struct tms_nested {
    struct tms_transaction block;
    uint32_t mark; /* for the engine's own use; 0 at first */
    bool function;
};

/* All zero at first. */
struct tms_nesting {
    size_t depth;
    struct tms_nested *open;
    size_t capacity;
    bool headless; /* only with depth > 0 */
};

/* The transaction and what else is refuted with it, outermost first; empty: nothing else. */
struct tms_refuted {
    struct tms_transaction *block;
    size_t count, capacity;
};

void tms_nesting_clear(struct tms_nesting *nesting, struct tms_memory *memory);
void tms_refuted_clear(struct tms_refuted *refuted, struct tms_memory *memory);

/* Resets it for another thread. */
static inline void tms_nesting_restart(struct tms_nesting *nesting)
{
    nesting->depth = 0;
    nesting->headless = false;
}

/*
 * At NEST and at UNNEST; false if out of memory. If the depth shrinks, the block that was
 * closed is at open[depth] until the next call.
 */
bool tms_nesting_follow(struct tms_nesting *nesting, struct tms_memory *memory,
                        const struct tms_op *op);

/* At END. */
void tms_nesting_end_nested(struct tms_nesting *nesting, const struct tms_op *op);
static inline void tms_nesting_end(struct tms_nesting *nesting, const struct tms_op *op)
{
    if (nesting->depth != 0) {
        tms_nesting_end_nested(nesting, op);
    }
}

/*
 * Computes which blocks are refuted when the transaction is not atomic and the proof leaves it by
 * the event `left`, and replaces the contents of `refuted`. False if out of memory.
 */
bool tms_nesting_refute(const struct tms_nesting *nesting, struct tms_memory *memory,
                        const struct tms_transaction *transaction, uint64_t left,
                        struct tms_refuted *refuted);

/*
 * Does each step of the cycle start no earlier than the one before ended? Then its events happen
 * one before the other, and it is such a proof, which leaves by the first event of the first step.
 */
bool tms_cycle_proves(const struct tms_step *cycle, size_t length);

#endif
