/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the engine `blocks`; blocks.c describes the algorithm.
 *
 *   blocks.c               follows the trace
 *   blocks_transaction.c   the running transactions
 *   blocks_store.c         keeps 1v-blocks
 *   blocks_flows.c         keeps flows, on request
 *   blocks_parallel.c      searches for points of parallel periods
 *   blocks_deadlocks.c     runs goodlock, first of all
 *   blocks_1v.c            compares 1v-blocks: theorem 3
 *   blocks_2v.c            makes 2v-blocks of flows and compares them: theorem 4
 *   blocks_cycles.c        searches for longer cycles of flows: theorem 5
 *   blocks_report.c        turns results into findings
 *
 * Two blocks are compared by asking whether an operation of one can come between the operations of
 * the other. So a 1v-block is kept as a *window*, its two operations and the locks held all the way
 * between them, and as two *points*, its operations with the locks held at them; the one with the
 * dummy partner is a point alone. Windows and points that differ only in thread period or label are
 * *uses* of one *class*.
 */
#ifndef TMS_LOCKSET_BLOCKS_H
#define TMS_LOCKSET_BLOCKS_H

#include "engine_api/engine.h"
#include "engine_api/nesting.h"
#include "lockset/escape.h"
#include "lockset/intern_table.h"
#include "lockset/lockset.h"
#include "lockset/periods.h"

/* What is kept of an event. */
struct tms_blocks_place {
    uint64_t event;
    uint32_t location;
    uint8_t event_kind;
};

/* A variable, until it is forgotten; numbers from 1 on. */
struct tms_blocks_cell {
    uint32_t variable;
    uint32_t windows, points; /* first class of each, or 0 */
    uint32_t thread;          /* that touched it first */
    bool shared;              /* others did, too */
    bool written;
    bool has[2];               /* of the next, by KIND_… */
    struct tms_held always[2]; /* at the finish: held at all points that read, that write */
};

enum { KIND_READ, KIND_WRITE };

/* Windows are named by their operations, in the order of the trace. */
enum tms_blocks_what {
    POINT_READ,  /* an initial one: the others read what their own transaction wrote */
    POINT_WRITE, /* there is a later one in its transaction */
    POINT_FINAL,
    WINDOW_READ_READ,
    WINDOW_READ_WRITE,
    WINDOW_WRITE_READ,
    WINDOW_WRITE_WRITE,
};

struct tms_blocks_class_key {
    uint32_t cell;
    uint32_t what; /* enum tms_blocks_what */
    struct tms_held held;
};

struct tms_blocks_class {
    struct tms_blocks_class_key key;
    uint32_t next;     /* in its cell */
    uint32_t uses;     /* the first, … */
    uint32_t last_use; /* … and the last */
    uint32_t mark_count;
    size_t marks; /* of points: where they start */
};

/* A point is known by its period only: who it is that cuts in does not matter. */
struct tms_blocks_use_key {
    struct tms_blocks_class_key of;
    uint32_t period;
    uint32_t label; /* of the transaction */
    uint32_t path;  /* hash of the labels of the blocks inside it that have both operations */
};

struct tms_blocks_use {
    struct tms_blocks_use_key key;
    uint32_t next;        /* in its class */
    uint32_t transaction; /* the first with such a window or point */
    uint32_t refuted, refuted_count;
    bool cut; /* of a window: there is a finding */
    struct tms_blocks_place first, second;
};

/* A use of a point, by its period. */
struct tms_blocks_mark {
    uint64_t number; /* in its line */
    uint32_t line;
    uint32_t use;
};

/* A lock that is held, and what is held with those that were taken before it. */
struct tms_blocks_hold {
    uint64_t event;
    uint32_t lock;
    bool shared;
    struct tms_held held;
};

struct tms_blocks_access {
    struct tms_blocks_place at;
    struct tms_held held;
};

/* What the running transaction did to a cell. */
struct tms_blocks_touch {
    uint32_t cell;
    bool read, written;
    struct tms_blocks_access last_read; /* initial: no write came before */
    struct tms_blocks_access write;     /* the last */
    uint32_t write_item;                /* the last write in the log */
};

/* A step of a flow. */
enum tms_blocks_item_kind {
    ITEM_READ,
    ITEM_WRITE,
    ITEM_ACQUIRE,
    ITEM_RELEASE,
    ITEM_NEST, /* a block inside the transaction begins, … */
    ITEM_UNNEST,
    ITEM_NOTHING,
};

struct tms_blocks_item {
    uint32_t kind;        /* enum tms_blocks_item_kind */
    uint32_t target;      /* cell, lock or label */
    struct tms_held held; /* then, a lock that is taken among them */
    struct tms_blocks_place at;
};

struct tms_blocks_thread {
    struct tms_transaction name;
    uint32_t transaction; /* its number if it is kept, else 0 */
    uint32_t period;
    struct tms_nesting nesting;
    struct tms_blocks_hold *holds; /* in the order in which they were taken */
    size_t hold_count, hold_capacity;
    struct tms_blocks_touch *touches;
    size_t touch_count, touch_capacity;
    struct tms_hashtable index;    /* of the touches, by cell: 1 + place */
    struct tms_blocks_item *items; /* log of initial reads, writes and locks */
    size_t item_count, item_capacity;
};

/*
 * A transaction with nothing left but its initial reads, final writes and lock operations
 * (IR-FW in the paper). Those that are alike, but for their place in the trace, are one.
 */
struct tms_blocks_flow_key {
    uint64_t low, high; /* hash of the steps, and of label and period */
};

struct tms_blocks_flow {
    struct tms_blocks_flow_key key;
    uint64_t first_event, last_event; /* the first and the last such transaction began */
    size_t items;                     /* where its steps start, in the first */
    uint32_t count;
    uint32_t transaction;
    uint32_t period;
    bool cut; /* there is a finding */
};

struct tms_blocks_engine {
    struct tms_host *host;
    struct tms_host inner; /* of goodlock */
    void *goodlock;        /* its state, until it has finished */
    uint64_t deadlocks;    /* that it found */
    struct tms_memory *memory;
    struct tms_locksets locksets;
    struct tms_periods periods;
    struct tms_escapes escapes;
    struct tms_blocks_thread *threads; /* by id */
    size_t thread_capacity;
    uint32_t *cell_of; /* by variable */
    size_t cell_of_capacity;
    struct tms_blocks_cell *cells;
    size_t cell_count, cell_capacity;
    struct tms_intern_table classes, uses, flows;
    struct tms_blocks_mark *marks; /* of all points, class by class; at the finish */
    size_t mark_count, mark_capacity;
    struct tms_transaction *transactions; /* those that uses and flows name */
    size_t transaction_count, transaction_capacity;
    struct tms_transaction *refuted; /* lists, one after the other */
    size_t refuted_count, refuted_capacity;
    struct tms_refuted refuting;
    struct tms_nesting replay; /* of a flow */
    bool *blamed;              /* by label: there is a finding; not for blocks without label */
    size_t blamed_capacity;
    struct tms_blocks_item *items; /* of flows */
    size_t item_count, item_capacity;
    struct {
        uint64_t windows, points, known, compared, twos, pair_steps, cycle_steps;
    } seen;
};

#define BLOCKS_LEAST 16

/* False when memory is short, and the host knows. */
#define RESERVE(b, array, capacity, wanted)                                                        \
    (TMS_RESERVE((b)->memory, array, capacity, wanted, BLOCKS_LEAST) ||                            \
     (tms_host_fail((b)->host, TMS_ERR_MEMORY), false))

static inline struct tms_blocks_use *tms_blocks_use(const struct tms_blocks_engine *b,
                                                    uint32_t number)
{
    return tms_intern_table_row(&b->uses, number);
}

static inline struct tms_blocks_class *tms_blocks_class(const struct tms_blocks_engine *b,
                                                        uint32_t number)
{
    return tms_intern_table_row(&b->classes, number);
}

static inline struct tms_blocks_flow *tms_blocks_flow(const struct tms_blocks_engine *b,
                                                      uint32_t number)
{
    return tms_intern_table_row(&b->flows, number);
}

/* Can't the two be held at the same time? */
static inline bool tms_blocks_apart(struct tms_blocks_engine *b, struct tms_held x,
                                    struct tms_held y)
{
    return tms_held_exclude(&b->locksets, x, y);
}

static inline struct tms_held tms_blocks_held_either(struct tms_blocks_engine *b, struct tms_held x,
                                                     struct tms_held y)
{
    return (struct tms_held){
        .any = tms_lockset_union(&b->locksets, x.any, y.any),
        .exclusive = tms_lockset_union(&b->locksets, x.exclusive, y.exclusive),
    };
}

static inline bool tms_blocks_is_access(const struct tms_blocks_item *item)
{
    return item->kind == ITEM_READ || item->kind == ITEM_WRITE;
}

/* Can two threads conflict on it at all? */
static inline bool tms_blocks_contended(const struct tms_blocks_engine *b, uint32_t cell)
{
    return b->cells[cell].shared && b->cells[cell].written;
}

static inline bool tms_blocks_wants_flows(const struct tms_blocks_engine *b)
{
    return b->host->settings->blocks != TMS_BLOCKS_1V;
}

static inline struct tms_held tms_blocks_held_now(const struct tms_blocks_thread *thread)
{
    size_t count = thread->hold_count;

    return count > 0 ? thread->holds[count - 1].held : (struct tms_held){0};
}

/* ---- blocks_transaction.c ------------------------------------------------------------- */

/* A transaction begins, with the name that the thread has, and ends. */
void tms_blocks_start(struct tms_blocks_engine *b, struct tms_blocks_thread *thread);
void tms_blocks_end(struct tms_blocks_engine *b, struct tms_blocks_thread *thread);

/* An access of the running transaction to something that has escaped. */
void tms_blocks_access(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                       const struct tms_op *op);

/* ---- blocks_store.c ------------------------------------------------------------------------ */

/* Both 0 when memory is short, and the host knows. The running transaction is kept from now on. */
uint32_t tms_blocks_cell(struct tms_blocks_engine *b, uint32_t variable);
uint32_t tms_blocks_keep_transaction(struct tms_blocks_engine *b, struct tms_blocks_thread *thread);

void tms_blocks_keep_point(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                           uint32_t cell, enum tms_blocks_what what,
                           const struct tms_blocks_access *access);
/* The second access is the current one. */
void tms_blocks_keep_window(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                            uint32_t cell, enum tms_blocks_what what,
                            const struct tms_blocks_access *first,
                            const struct tms_blocks_access *second);

/* ---- blocks_flows.c ----------------------------------------------------------------------- */

/*
 * The first initial read. If a foreign write can come between it and a later one, that is a pattern
 * on one variable; if not, all of them are before the write or after it.
 */
void tms_blocks_log_read(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                         const struct tms_blocks_touch *touch,
                         const struct tms_blocks_access *access);
/* A write is final until the next. */
void tms_blocks_log_write(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                          struct tms_blocks_touch *touch, const struct tms_blocks_access *access);
/* Anything else, after it was done. */
void tms_blocks_log_op(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                       enum tms_blocks_item_kind kind, const struct tms_op *op);
/* A block that was open when the transaction began. */
void tms_blocks_log_nest(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                         const struct tms_nested *nested);

/* At the end of the transaction. */
void tms_blocks_keep_flow(struct tms_blocks_engine *b, struct tms_blocks_thread *thread);

/* The blocks that have both items of the flow (nesting.h). Lives until the next call. */
const struct tms_refuted *tms_blocks_refuted(struct tms_blocks_engine *b,
                                             const struct tms_blocks_flow *flow, uint32_t first,
                                             uint32_t second);

/* ---- blocks_deadlocks.c ------------------------------------------------------------------- */

/* Before the first operation, at those on locks, threads, barriers and transactions, … */
int tms_blocks_watch_deadlocks(struct tms_blocks_engine *b);
void tms_blocks_follow_deadlocks(struct tms_blocks_engine *b, const struct tms_op *op);
/* … and at the finish: potential deadlocks become findings. */
void tms_blocks_find_deadlocks(struct tms_blocks_engine *b);
void tms_blocks_drop_deadlocks(struct tms_blocks_engine *b);

/* ---- blocks_parallel.c -------------------------------------------------------------------- */

/* At the finish, before the next two. */
void tms_blocks_mark_points(struct tms_blocks_engine *b);

/* Does a lock that is always held keep out all points of that kind, where these are held? */
bool tms_blocks_kept_out(struct tms_blocks_engine *b, uint32_t cell, int kind,
                         struct tms_held held);

/* A use of this class of points whose period is parallel to that one; 0: none. */
uint32_t tms_blocks_parallel_use(struct tms_blocks_engine *b, const struct tms_blocks_class *class,
                                 uint32_t period);

/* ---- blocks_1v.c, blocks_2v.c, blocks_cycles.c -------------------------------------------- */

/* Theorem 3: every window against every point on the same variable. */
void tms_blocks_compare_one(struct tms_blocks_engine *b);

/* A point of `culprit` comes between the two operations of `cut`. */
void tms_blocks_report_one(struct tms_blocks_engine *b, const struct tms_blocks_use *cut,
                           const struct tms_blocks_use *culprit);

/* Theorem 4, the part with two variables. */
void tms_blocks_compare_two(struct tms_blocks_engine *b);
#define TMS_BLOCKS_GAVE_UP_PAIRS                                                                   \
    "too many pairs of operations on two variables, not all were compared; --blocks=1v takes any"

#define TMS_BLOCKS_LINKS 16 /* threads in a cycle */
#define TMS_BLOCKS_TURNS (2 * TMS_BLOCKS_LINKS)

/* Theorem 5: cycles of more than two transactions. */
void tms_blocks_compare_full(struct tms_blocks_engine *b);
#define TMS_BLOCKS_GAVE_UP_CYCLES                                                                  \
    "the search for cycles of three and more transactions was not finished; --blocks=2v does "     \
    "without it"

/* An operation of a finding. */
struct tms_blocks_operation {
    uint32_t transaction;
    uint32_t cell;
    const struct tms_blocks_place *at;
};

/*
 * The two operations of the transaction that is cut, then those of the culprit; on the same two
 * variables, in the same order if `aligned`. `inside`: the cut one waits until both have come.
 */
void tms_blocks_report_two(struct tms_blocks_engine *b,
                           const struct tms_blocks_operation *operation,
                           const struct tms_refuted *refuted, bool aligned, bool inside);

/* The cycle, and the operations in it in the order of a schedule. */
void tms_blocks_report_cycle(struct tms_blocks_engine *b, const struct tms_step *cycle,
                             size_t length, const struct tms_refuted *refuted,
                             const struct tms_blocks_operation *order, size_t count);

/* Steps of such a cycle: the operations conflict, or one comes after the other in its thread. */
struct tms_step tms_blocks_step(const struct tms_blocks_engine *b,
                                const struct tms_blocks_operation *first,
                                const struct tms_blocks_operation *second);
struct tms_step tms_blocks_step_on(const struct tms_blocks_engine *b,
                                   const struct tms_blocks_operation *first,
                                   const struct tms_blocks_operation *second);

#endif
