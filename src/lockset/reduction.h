/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the engine reduction, shared by its files: reduction.c (the algorithm in words, and
 * the engine), reduction_transaction.c (what is kept of a running transaction) and
 * reduction_shapes.c (distinct transactions, and how they are judged).
 *
 * A transaction fails iff somewhere in it an operation that is no right mover (a release, an access
 * that may race) comes before one that is no left mover (an acquire, an access that may race).
 * Which operations these are is known at the end of the trace only, but in any case an operation on
 * A comes before one on B iff the *first* on A comes before the *last* on B. So of all operations
 * on one thing (an *item*) the first and the last are enough, however long the transaction is. The
 * second is kept too: it makes for better reports.
 *
 * Items are the variables accessed and the *sections*: the stretches over which a lock is held,
 * distinguished by the lock and by their *content*, the set of variables accessed meanwhile. They
 * are the nodes of the paper's transaction trees, with the variables of all nodes below. A section
 * whose variables turn out to have no contacts is left out (theorem 2).
 */
#ifndef TMS_LOCKSET_REDUCTION_H
#define TMS_LOCKSET_REDUCTION_H

#include "base/hashtable.h"
#include "engine_api/engine.h"
#include "lockset/movers.h"

/* Which operation on an item a spot is. Of a section the first three are acquires. */
enum { FIRST, SECOND, LAST, RELEASED, SPOTS };

struct tms_reduction_spot {
    uint64_t event; /* 0: none */
    uint32_t location;
    uint8_t event_kind;
    uint8_t which;
};

/* Contents beside the numbers of sets of variables. */
#define ACCESS UINT32_MAX       /* no section: the target is a variable */
#define BUSY   (UINT32_MAX - 1) /* a section that must stay, whatever else is found out */

struct tms_reduction_item {
    uint32_t target, content;
    struct tms_reduction_spot spots[SPOTS];
};

/* A spot of a transaction, in the order of events. */
struct tms_reduction_token {
    uint32_t target, content;
    struct tms_reduction_spot spot;
};

/* A block inside the transaction. */
struct tms_reduction_nested {
    struct tms_transaction block;
    uint64_t end;      /* UINT64_MAX: it is open */
    uint32_t outer;    /* 1 + the index of the open one of its kind that it is in; 0: none */
    uint32_t from, to; /* the first and the last token in it, once they are in order */
    bool function;
};

/* A lock taken in the running transaction. */
struct tms_reduction_section {
    uint32_t lock;
    size_t start; /* of what was accessed meanwhile, in `inside` */
    struct tms_reduction_spot acquired;
};

struct tms_reduction_running {
    struct tms_transaction name;
    bool active;
    bool headless; /* the block that it is named after was closed, others in it are open */
    struct tms_reduction_item *items;
    size_t item_count, item_capacity;
    struct tms_hashtable index; /* of the items, by target and content: 1 + place */
    struct tms_reduction_section *sections;
    size_t section_count, section_capacity;
    uint32_t *inside; /* variables accessed since the first open section was entered */
    size_t inside_count, inside_capacity, inside_limit;
    uint64_t busy;                       /* the last access to a variable with contacts */
    struct tms_reduction_nested *nested; /* in the order of their begins */
    size_t nested_count, nested_capacity, nested_limit;
    uint32_t innermost[2]; /* 1 + the index of the innermost open block and function; 0: none */
};

/* A distinct transaction that may turn out to fail. */
struct tms_reduction_shape {
    struct tms_transaction name; /* the first of them */
    uint64_t repeats;
    size_t token_start, nested_start;
    uint32_t token_count, nested_count;
};

struct tms_reduction {
    struct tms_host *host;
    struct tms_movers movers;
    struct tms_locksets contents;          /* sets of variables, kept as sets of locks are */
    struct tms_reduction_running *running; /* by thread */
    size_t running_capacity;
    struct tms_reduction_token *word; /* of the current transaction */
    size_t word_count, word_capacity;
    struct tms_reduction_shape *shapes;
    size_t shape_count, shape_capacity;
    struct tms_hashtable index;         /* of shapes, by content: 1 + place */
    struct tms_reduction_token *tokens; /* of all shapes */
    size_t token_count, token_capacity;
    struct tms_reduction_nested *nested;
    size_t nested_count, nested_capacity;
    struct tms_transaction *refuted;
    size_t refuted_capacity;
    uint64_t transactions, accesses, left_out;
};

static inline bool tms_rd_check(struct tms_reduction *r, bool done)
{
    if (!done) {
        tms_host_fail(r->host, TMS_ERR_MEMORY);
    }
    return done;
}

/* Room for so many elements; if false, the host knows. */
#define LEAST_ITEMS 16
#define RESERVE(r, array, capacity, wanted)                                                        \
    tms_rd_check(r, TMS_RESERVE(&(r)->host->memory, array, capacity, (size_t)(wanted), LEAST_ITEMS))

/* reduction_transaction.c */

void tms_rd_start(struct tms_reduction_running *running);
void tms_rd_access(struct tms_reduction *r, struct tms_reduction_running *running,
                   const struct tms_op *op);
void tms_rd_acquire(struct tms_reduction *r, struct tms_reduction_running *running,
                    const struct tms_op *op);
void tms_rd_release(struct tms_reduction *r, struct tms_reduction_running *running,
                    const struct tms_op *op);
void tms_rd_nest(struct tms_reduction *r, struct tms_reduction_running *running,
                 const struct tms_op *op);
void tms_rd_unnest(struct tms_reduction_running *running, const struct tms_op *op);
void tms_rd_link_nested(struct tms_reduction_running *running);

/* The transaction has ended: puts its tokens in order into r->word, and says what is in which of
 * its nested blocks. False when memory is short. */
bool tms_rd_spell(struct tms_reduction *r, struct tms_reduction_running *running);
void tms_rd_clear_running(struct tms_reduction *r, struct tms_reduction_running *running);

/* reduction_shapes.c */

/* Judges the transaction in r->word: reports it, keeps it, or drops it. */
void tms_rd_judge(struct tms_reduction *r, struct tms_reduction_running *running);

/* At the end of the trace: judges all that were kept. */
void tms_rd_judge_kept(struct tms_reduction *r);
void tms_rd_clear_shapes(struct tms_reduction *r);

#endif
