/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the frontier engine, shared by its files: frontier_access.c and frontier_ops.c (what
 * each operation does), frontier_edges.c (the algorithm in words, and what an edge does to the
 * matrices), frontier_threads.c (slots and rows), frontier_cells.c (the state of each variable,
 * lock and barrier), frontier_log.c (recent operations of threads), frontier_nested.c (what blocks
 * inside a transaction reach) and frontier_witness.c (the cycle of a violation). All of them are
 * the same in the library and in the runtime; frontier_port.h has what is not.
 *
 * Time is the event number. A *moment* is an event of a thread: 16 bits of thread slot, 43 bits of
 * event number, 5 bits of event kind. A transaction is the stretch of its thread from its begin
 * event on, so "the transaction of moment (u, e)" needs no number of its own: for b the begin event
 * of any transaction of u, b <= e iff that transaction is, or comes before, the one holding e. So
 * 16 bytes per variable are enough for the checks, and also name the events of every edge.
 */
#ifndef TMS_FRONTIER_FRONTIER_H
#define TMS_FRONTIER_FRONTIER_H

#include <assert.h>

#include "base/hashtable.h"
#include "clock/edge_pool.h"
#include "clock/reach_matrix.h"
#include "engine_api/nesting.h"
#include "engine_api/violation.h"
#include "frontier/frontier_port.h"
#include "trace/op_traits.h"

#define MOMENT_KIND_BITS  5
#define MOMENT_KIND_MASK  ((1u << MOMENT_KIND_BITS) - 1)
#define MOMENT_SLOT_SHIFT 48
#define MOMENT_EVENT_MOST ((UINT64_C(1) << (MOMENT_SLOT_SHIFT - MOMENT_KIND_BITS)) - 1)
#define SEVERAL_SLOT      1u /* means several readers; slot 0 means no moment */
#define FIRST_SLOT        2u
#define LAST_SLOT                                                                                  \
    0x3fffu /* a moment has room for more, but memory has none for a matrix of them                \
             */
#define NO_ROW UINT32_MAX

_Static_assert(TMS_EVENT_COUNT <= 1 << MOMENT_KIND_BITS, "a moment holds its kind");

static inline uint64_t make_moment(uint32_t slot, uint64_t event, unsigned kind)
{
    assert(slot < 1u << 16 && event <= MOMENT_EVENT_MOST && kind <= MOMENT_KIND_MASK);
    return (uint64_t)slot << MOMENT_SLOT_SHIFT | event << MOMENT_KIND_BITS | kind;
}

static inline uint32_t moment_slot(uint64_t moment)
{
    return (uint32_t)(moment >> MOMENT_SLOT_SHIFT);
}

static inline uint64_t moment_event(uint64_t moment)
{
    return moment >> MOMENT_KIND_BITS & MOMENT_EVENT_MOST;
}

static inline uint8_t moment_kind(uint64_t moment)
{
    return moment & MOMENT_KIND_MASK;
}

/* The last write, and the reader or readers since; 0: none. Also used for locks and barriers. */
enum { WRITE, READ };
struct tms_frontier_cell {
    union {
        struct {
            uint64_t write, read;
        };
        uint64_t at[2]; /* the same */
    };
};

/* Their locations; separate from the cells because only witnesses need them. */
struct tms_frontier_places {
    uint32_t at[2];
};

struct tms_frontier_cells {
    struct tms_frontier_cell *cell; /* by id */
    struct tms_frontier_places *place;
    size_t capacity, place_capacity;
};

/* Several threads read since the last write: a chain of nodes of a cache line each. */
#define NODE_READERS 4
struct tms_frontier_reader_node {
    uint64_t moment[NODE_READERS]; /* 0: free, and so are the following ones */
    uint32_t place[NODE_READERS];
    uint32_t next; /* 0: the last */
    uint32_t unused[3];
};
_Static_assert(sizeof(struct tms_frontier_reader_node) == 64, "a node is a cache line");

#define NODE_CHUNK 512
struct tms_frontier_reader_nodes {
    struct tms_frontier_reader_node *
        *chunk;   /* node n is chunk[n / NODE_CHUNK][n % NODE_CHUNK]; 0 unused */
    void **block; /* what was allocated: a chunk starts at a multiple of 64 */
    size_t chunk_capacity, block_capacity;
    uint32_t count, free;
};

/*
 * A ring buffer of the latest operations of a thread, to find direct conflicts of two transactions.
 */
#define LOG_LEAST 128u   /* initial entries, */
#define LOG_EASY  1024u  /* entries of a thread that has executed as many operations, */
#define LOG_MOST  65536u /* and entries in a long transaction */

struct tms_frontier_log {
    struct tms_op *next; /* where the next entry goes, unless … */
    struct tms_op *stop; /* … it is here: the end of the ring, or time to make it longer */
    struct tms_op *entry;
    uint32_t capacity;
    uint64_t rounds; /* entries written in the rounds before this one */
    uint64_t first;  /* the first entry that is there, unless it was overwritten since */
    uint64_t begun;  /* entries written when the running transaction began, TMS_NEVER outside */
};

/*
 * The past transactions of a thread that a recorded moment may still refer to. The port keeps them:
 * the library in a growing array ordered by begin, the runtime in a ring.
 */
struct tms_frontier_past {
    uint64_t begin;
    uint64_t end; /* TMS_NEVER while it runs */
    uint32_t label;
    uint32_t location;
    uint32_t kept; /* scratch of the sweep */
};

struct tms_frontier_history {
    struct tms_frontier_past *past;
    size_t count, capacity; /* of the ring: transactions ever, and 0 */
    size_t limit;           /* library: when to sweep next */
};

/* The violation of a running transaction, reported when it ends. */
struct tms_frontier_pending {
    struct tms_violation violation;
    struct tms_step *steps;
    size_t capacity;
    struct tms_refuted refuted;
    uint64_t blamed_at; /* the event that shows blame, 0: none yet */
    uint64_t left;      /* the last event by which the transaction reaches that one */
    bool open;
};

struct tms_frontier_thread {
    uint64_t base;  /* slot << MOMENT_SLOT_SHIFT */
    uint64_t floor; /* own moments from here on are equivalent to a new one … */
    uint64_t span;  /* … that is, those with moment - floor < span */
    uint64_t *in;   /* by slot: the latest moment from which an edge came in; own: the last */
    uint64_t begin; /* of the running transaction; 0 outside blocks */
    uint64_t met; /* the latest event at which another transaction came to reach the thread, or its
                     first event */
    uint32_t row; /* in the matrices, NO_ROW outside blocks */
    uint32_t slot;
    uint32_t id;
    struct tms_frontier_log log;
    struct tms_frontier_history history;
    struct tms_frontier_pending pending;
    struct tms_nesting nesting; /* only with blame */
};

/* The fork of a thread that has no event yet. */
struct tms_frontier_origin {
    uint64_t moment;
    uint32_t place;
};

struct tms_frontier_touch;

struct tms_frontier {
    const struct tms_frontier_port *port;
    void *user; /* for the port's functions */
    struct tms_memory *memory;
    bool blame;
    bool nests;       /* blame is on, and there was a nested block */
    int failed;       /* sticky: not TMS_OK after tms_frontier_fail */
    uint32_t located; /* not 0: an event had a location; before, all places are 0 */

    struct tms_edges edges;
    struct tms_reach graph; /* S: what a running transaction reaches, without refused edges */
    struct tms_reach order; /* E: which events come after its begin, by every edge; for blame.
                               Blocks inside transactions have rows here, too */
    uint32_t *free_rows;
    uint32_t free_row_count, row_count;
    size_t row_capacity;

    struct tms_frontier_thread **threads; /* by slot */
    uint64_t *in;                         /* the rows of all threads, of slot_capacity each */
    uint32_t slot_count;                  /* with those of no thread */
    uint32_t slot_most;                   /* … and no more than these */
    size_t slot_capacity;
    uint32_t *retired; /* slots of joined threads */
    uint32_t retired_count, retired_tried;
    size_t retired_capacity;

    struct tms_frontier_thread **by_id; /* by thread id; NULL: no event yet */
    struct tms_frontier_origin *forks;  /* by thread id */
    size_t id_capacity, fork_capacity;

    struct tms_frontier_cells cells[TMS_PLACES];
    struct tms_frontier_reader_nodes nodes;

    struct tms_frontier_log forgotten;  /* recently renewed variables */
    struct tms_frontier_touch *touched; /* scratch of the witness search */
    size_t touched_count, touched_capacity;
    struct tms_hashtable touched_index; /* by key: 1 + place in `touched` */

    uint64_t first_violation; /* the event that closed the first cycle, 0: none yet */
    uint64_t closing_edges;   /* edges that closed one */
    uint64_t edges_seen, edges_inserted, sweeps, nodes_used; /* counters */
};

/* Marks the engine as failed and notifies the port; only the first code counts. */
static inline void tms_frontier_fail(struct tms_frontier *f, int code)
{
    assert(code < TMS_OK);
    if (f->failed == TMS_OK) {
        f->failed = code;
        f->port->fail(f, code);
    }
}

/* Where an edge comes from, and why. */
struct tms_frontier_source {
    uint64_t moment;
    uint32_t place;
    uint8_t kind; /* enum tms_edge_kind */
    /* If not NULL: finds the location on demand, which is slow. */
    uint32_t (*find_place)(const struct tms_frontier *f, uint64_t moment, const struct tms_op *op);
};

/* Starts a new stretch: earlier moments of the thread are no longer equivalent to a new one. */
static inline void start_stretch(struct tms_frontier_thread *t, uint64_t event)
{
    t->floor = t->base | event << MOMENT_KIND_BITS;
    t->span = t->base + (UINT64_C(1) << MOMENT_SLOT_SHIFT) - t->floor;
}

/* Was this moment recorded by the thread itself, and in its current stretch? */
static inline bool fresh(const struct tms_frontier_thread *t, uint64_t moment)
{
    return moment - t->floor < t->span;
}

/*
 * Is an edge from this moment into the thread redundant? One test covers three cases: an edge from
 * the same or a later moment of that thread came in before; the moment is the thread's own (see
 * `in`); there is no moment (0). Several readers are never redundant.
 */
static inline bool implied(const struct tms_frontier_thread *t, uint64_t moment)
{
    return moment <= t->in[moment_slot(moment)];
}

static inline uint64_t moment_here(const struct tms_frontier_thread *t, const struct tms_op *op)
{
    return t->base | op->event << MOMENT_KIND_BITS | op->event_kind;
}

/* frontier_threads.c */

/*
 * Initialises an empty engine, whose state is zero. `port` and `memory` must outlive it, and
 * `memory` gets its allocator from the port. TMS_OK or a negative code.
 */
int tms_frontier_set_up(struct tms_frontier *f, const struct tms_frontier_port *port, void *user,
                        struct tms_memory *memory, bool blame);

/* Releases all memory except the histories, which the port owns; also after a failure. */
void tms_frontier_clear(struct tms_frontier *f);

/*
 * Limits slots to `most` and allocates all of them at once. `in` never moves afterwards, so a
 * thread may read its own row while others start and end.
 */
int tms_frontier_limit_slots(struct tms_frontier *f, uint32_t most);

/* Makes room for what is kept by thread id; on failure the engine has failed. */
bool tms_frontier_need_id(struct tms_frontier *f, uint32_t id);

/* A thread with its first event: gives it a slot. NULL: the engine has failed. */
struct tms_frontier_thread *tms_frontier_settle_in(struct tms_frontier *f, const struct tms_op *op);

/* The thread in the slot was joined. */
void tms_frontier_retire(struct tms_frontier *f, uint32_t slot);

/* One more row for the matrices. TMS_OK or a negative code. */
int tms_frontier_grow_rows(struct tms_frontier *f);

/* frontier_edges.c */

/* An edge that is not implied comes into the thread with this operation. */
void tms_frontier_add_edge(struct tms_frontier *f, struct tms_frontier_thread *t,
                           const struct tms_op *op, const struct tms_frontier_source *source);

static inline void tms_frontier_edge(struct tms_frontier *f, struct tms_frontier_thread *t,
                                     const struct tms_op *op, uint64_t moment, uint32_t place,
                                     uint8_t kind)
{
    if (!implied(t, moment)) {
        const struct tms_frontier_source source = {moment, place, kind, NULL};
        tms_frontier_add_edge(f, t, op, &source);
    }
}

/* frontier_access.c */

/* Takes operations; each one's cell exists, and TMS_OPS_AHEAD more operations are readable. */
void tms_frontier_take(struct tms_frontier *f, const struct tms_op *ops, size_t count);

/* frontier_ops.c */

/* The thread's first event: gives it a slot; if it is a begin, the transaction has begun. */
struct tms_frontier_thread *tms_frontier_first(struct tms_frontier *f, const struct tms_op *op);
void tms_frontier_begin(struct tms_frontier *f, struct tms_frontier_thread *t,
                        const struct tms_op *op);
/* A row of the matrices that is in use from now on; false: the engine has failed. */
bool tms_frontier_take_row(struct tms_frontier *f, uint32_t *row);
/* Gives the thread's transaction, begun with this event, a row; that makes it visible to others. */
bool tms_frontier_open(struct tms_frontier *f, struct tms_frontier_thread *t, uint64_t event);
void tms_frontier_end(struct tms_frontier *f, struct tms_frontier_thread *t,
                      const struct tms_op *op);
void tms_frontier_fork(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op);
void tms_frontier_join(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op);
/* An event that conflicts with no other. */
void tms_frontier_step(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op);

/* frontier_nested.c */

/* An edge is about to leave the thread in this slot from this event; only if `nests`. */
void tms_frontier_nested_leave(struct tms_frontier *f, uint32_t slot, uint64_t event);
/* A block inside the transaction begins or ends. */
void tms_frontier_nest(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op);
/* The transaction ends, and with it what its blocks reach. */
void tms_frontier_close_nested(struct tms_frontier *f, struct tms_frontier_thread *t);
/* The begin of the innermost block that leads to this event of another thread; 0: none does. */
uint64_t tms_frontier_nested_to(const struct tms_frontier *f, const struct tms_frontier_thread *t,
                                uint32_t slot, uint64_t event);

/* frontier_cells.c */

/* Makes room for a cell; false if out of memory. */
bool tms_cells_grow(struct tms_frontier *f, struct tms_frontier_cells *cells, uint32_t id);
void tms_cells_clear(struct tms_frontier *f, struct tms_frontier_cells *cells);

/* Adds the thread's moment to the readers, in the place of one that is implied by it. */
bool tms_cell_add_reader(struct tms_frontier *f, const struct tms_frontier_thread *t,
                         struct tms_frontier_cell *cell, struct tms_frontier_places *places,
                         uint64_t moment, uint32_t place);
/* Gives back the nodes of a chain. */
void tms_reader_nodes_drop(struct tms_frontier *f, uint32_t first);
void tms_reader_nodes_clear(struct tms_frontier *f);

static inline struct tms_frontier_reader_node *reader_node(const struct tms_frontier *f,
                                                           uint32_t number)
{
    assert(number != 0);
    return &f->nodes.chunk[number / NODE_CHUNK][number % NODE_CHUNK];
}

/*
 * The value of a cell's reader that means several: those in this node and in the nodes linked to
 * it.
 */
static inline uint64_t make_several(uint32_t node)
{
    return (uint64_t)SEVERAL_SLOT << MOMENT_SLOT_SHIFT | node;
}

static inline bool is_several(uint64_t moment)
{
    return moment_slot(moment) == SEVERAL_SLOT;
}

static inline uint32_t moment_node(uint64_t moment)
{
    assert(is_several(moment));
    return (uint32_t)moment;
}

static inline void drop_readers(struct tms_frontier *f, struct tms_frontier_cell *cell)
{
    if (is_several(cell->read)) {
        tms_reader_nodes_drop(f, moment_node(cell->read));
    }
    cell->read = 0;
}

/* frontier_log.c */

/* Resets a ring, as if nothing had been written; false when there is no memory for it. */
bool tms_log_start(struct tms_frontier *f, struct tms_frontier_log *log);

/* The log has reached its `stop`: begins the next round, or makes the ring longer. */
void tms_log_rotate(struct tms_frontier *f, struct tms_frontier_log *log);

/*
 * The first entry that was not overwritten, and the first entry whose event is at or after `event`.
 */
uint64_t tms_log_first(const struct tms_frontier_log *log);
uint64_t tms_log_find(const struct tms_frontier_log *log, uint64_t event);

/* Where the next entry goes: an operation that is made right there need not be copied. */
static inline struct tms_op *log_room(struct tms_frontier *f, struct tms_frontier_log *log)
{
    if (__builtin_expect(log->next == log->stop, 0)) {
        tms_log_rotate(f, log);
    }
    return log->next;
}

/* Logs an operation of the thread, for witnesses and for its join. */
static inline void log_add(struct tms_frontier *f, struct tms_frontier_log *log,
                           const struct tms_op *op)
{
    struct tms_op *room = log_room(f, log);

    if (room != op) {
        *room = *op;
    }
    log->next++;
}

/* Entries ever written. */
static inline uint64_t log_written(const struct tms_frontier_log *log)
{
    return log->rounds + (uint64_t)(log->next - log->entry);
}

/* Outside transactions the ring never grows; inside one it may, up to LOG_MOST. */
static inline void log_begin(struct tms_frontier *f, struct tms_frontier_log *log,
                             const struct tms_op *op)
{
    log->begun = log_written(log);
    log_add(f, log, op);
}

/* Transactions that a split or a join ends need no entry; the begin after a split marks the end. */
static inline void log_end(struct tms_frontier *f, struct tms_frontier_log *log,
                           const struct tms_op *op)
{
    log->begun = TMS_NEVER;
    if ((op->flags & TMS_OP_SYNTHETIC) == 0) {
        log_add(f, log, op);
    }
}

/* Entries are numbered from 0 in the order of writing. */
static inline const struct tms_op *log_at(const struct tms_frontier_log *log, uint64_t index)
{
    assert(index < log->rounds + log->capacity && index + log->capacity >= log->rounds);
    return &log->entry[index - log->rounds + (index < log->rounds ? log->capacity : 0)];
}

/* frontier_witness.c */

/*
 * The edge `closing` from slot `from` closes a cycle in the graph (`cycle`), or shows that the
 * running transaction of `t` is not atomic (`blamed`), or both.
 */
void tms_frontier_violation(struct tms_frontier *f, struct tms_frontier_thread *t,
                            const struct tms_step *closing, uint32_t from, bool cycle, bool blamed);

/*
 * Would such an edge into the thread, at this operation, add to the report? Only the first event
 * that closes a cycle and the first that shows blame are reported.
 */
static inline bool tms_frontier_is_news(const struct tms_frontier_thread *t,
                                        const struct tms_op *op, bool blamed)
{
    const struct tms_violation *violation = &t->pending.violation;
    bool blames = !violation->not_atomic || t->pending.blamed_at == op->event;

    return !t->pending.open || (blamed && blames) ||
           (violation->event == op->event && violation->cycle_length != 2);
}

/* The violation of the running transaction so far; NULL: none. */
const struct tms_violation *tms_frontier_pending(struct tms_frontier_thread *t);
/* The running transaction ends: reports its violation, if any, to the port. */
void tms_frontier_settle(struct tms_frontier *f, struct tms_frontier_thread *t);
void tms_witness_clear(struct tms_frontier *f);

#endif
