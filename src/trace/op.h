/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations, the input of engines. The events of a trace have been validated, re-entrant acquires
 * dropped, functions turned into blocks by the specification, nested blocks folded into the
 * outermost, and blocks split at waits and barriers before an engine gets them, so that all engines
 * have the same notion of a transaction.
 *
 * An operation carries the number of its event. Numbers never decrease; two operations share
 * one when an event gives rise to both (a split, a free).
 */
#ifndef TMS_TRACE_OP_H
#define TMS_TRACE_OP_H

#include <stdint.h>

/* X(name, what `target` is, how it conflicts with operations on the same target: op_traits.h) */
#define TMS_OPS(X)                                                                                 \
    X(BEGIN, LABEL, NONE)  /* a transaction begins; it is an event of that transaction */          \
    X(END, LABEL, NONE)    /* the transaction ends; an event of it, unless TMS_OP_SYNTHETIC */     \
    X(NEST, LABEL, NONE)   /* a block inside the transaction begins: an event, for labels */       \
    X(UNNEST, LABEL, NONE) /* … ends. Not always the innermost: matched by label and kind */     \
    X(READ, VARIABLE, SHARED)                                                                      \
    X(WRITE, VARIABLE, EXCLUSIVE)                                                                  \
    X(UPDATE, VARIABLE, EXCLUSIVE) /* read-modify-write; conflicts like a write */                 \
    X(ACQUIRE, LOCK, EXCLUSIVE)    /* outermost only */                                            \
    X(RELEASE, LOCK, EXCLUSIVE)                                                                    \
    X(SHARED_ACQUIRE, LOCK, SHARED)                                                                \
    X(SHARED_RELEASE, LOCK, SHARED)                                                                \
    X(FORK, THREAD, NONE)                                                                          \
    X(JOIN, THREAD, NONE)                                                                          \
    X(ARRIVE, BARRIER, SHARED)                                                                     \
    X(DEPART, BARRIER, EXCLUSIVE) /* conflicts with all earlier arrivals at the barrier */         \
    X(STEP, NONE, NONE)       /* an event that conflicts with fork and join of its thread only */  \
    X(ESCAPE, OBJECT, NONE)   /* a STEP; informs the lockset engines */                            \
    X(FORGET, VARIABLE, NONE) /* not an event: the variable is a new one from here on */           \
    /* Not events either, and ignored by most engines: */                                          \
    X(OPEN, LABEL, NONE)  /* a function begins that is not atomic, but may be meant to be */       \
    X(CLOSE, LABEL, NONE) /* … ends: the last of those that were opened or demoted */            \
    X(DEMOTE, LABEL,                                                                               \
      NONE) /* the last block that began becomes one of those; after its END or UNNEST */          \
    X(CLEAR, NONE, NONE)      /* a rendezvous */                                                   \
    X(RETRY, VARIABLE, NONE)  /* a compare-and-swap of the variable failed */                      \
    X(DELAY, NONE, NONE)      /* the tool delayed the thread */                                    \
    X(FENCE, NONE, NONE)      /* its order is in the flags */                                      \
    X(SEND, CHANNEL, NONE)    /* comes before … */                                               \
    X(RECEIVE, CHANNEL, NONE) /* … all later ones of the channel */

enum tms_op_kind {
#define X(name, cls, conflict) TMS_OP_##name,
    TMS_OPS(X)
#undef X
        TMS_OP_COUNT
};

/* Other bits of the flags mean nothing to engines. */
enum {
    TMS_OP_IN_BLOCK = 1,  /* inside a transaction; without it the event is unary */
    TMS_OP_FIRST = 2,     /* the first event of its thread; at the start of a batch unless the
                             engine is tms_engine.concurrent */
    TMS_OP_SYNTHETIC = 4, /* BEGIN and END made by a split or a join, not written in the trace */
    TMS_OP_ORDER = 0x38,  /* of an atomic READ, WRITE or UPDATE, and of a FENCE: enum tms_order,
                             from the lowest of these bits on; 0: not atomic, or of no known order */
};
#define TMS_OP_ORDER_UNIT 8

#define TMS_OP_ORDER_OF(op) (((op)->flags & TMS_OP_ORDER) / TMS_OP_ORDER_UNIT)

#define TMS_OPS_AHEAD 16 /* readable after each batch, for engines that look ahead */

/* From `thread` on the layout is that of struct tms_event, so that conversion is a copy. */
struct tms_op {
    uint64_t event;
    uint32_t thread;
    uint32_t target;
    uint32_t location;
    uint8_t event_kind; /* enum tms_event_kind of the event it comes from; if that is an atomic
                           access, of the plain one */
    uint8_t kind;       /* enum tms_op_kind */
    uint8_t flags;
    uint8_t spared; /* bytes of the variable that it does not touch, as bits; 0: touches all */
};
#define TMS_OP_SPARES_ALL 0xff

#endif
