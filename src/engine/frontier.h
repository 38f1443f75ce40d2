/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the frontier engine, shared by its three files: frontier.c (the algorithm),
 * frontier_cells.c (what is known of each variable, lock and barrier) and
 * frontier_witness.c (the cycle behind a violation).
 *
 * Time is the event number. A *moment* is an event of a thread: 16 bits of thread slot, 48
 * bits of event number. A transaction is the stretch of its thread from its begin event on,
 * so "the transaction of moment (u, e)" needs no number of its own: for b the begin event of
 * any transaction of u, b <= e iff that transaction is, or comes before, the one holding e.
 * This gives 16 bytes for a variable and the events of every edge for nothing.
 */
#ifndef TMS_ENGINE_FRONTIER_H
#define TMS_ENGINE_FRONTIER_H

#include "clock/edges.h"
#include "clock/reach.h"
#include "engine/engine.h"

#define MOMENT_BITS  48
#define MOMENT_MASK  ((UINT64_C(1) << MOMENT_BITS) - 1)
#define SLOT_SEVERAL 0xffffu /* in a cell's read moment: the rest is a reader set's number */
#define SLOT_MOST    0xfffeu
#define NO_ROW       UINT32_MAX

static inline uint32_t moment_slot(uint64_t moment)
{
    return (uint32_t)(moment >> MOMENT_BITS);
}

static inline uint64_t moment_event(uint64_t moment)
{
    return moment & MOMENT_MASK;
}

/* What a report says about a recorded moment; written beside it, read for witnesses only. */
struct site {
    uint64_t packed; /* begin event of its transaction, SITE_UNARY, kind of event << 56 */
    uint32_t label;
    uint32_t location;
};
#define SITE_UNARY      (UINT64_C(1) << MOMENT_BITS)
#define SITE_KIND_SHIFT 56

/* The last write and the reader, or readers, since; 0: none. Locks and barriers alike. */
struct cell {
    uint64_t write, read;
};

struct sites {
    struct site write, read;
};

struct cells {
    struct cell *cell; /* by id */
    struct sites *site;
    size_t capacity;
};

/* Several threads read since the last write: one entry per thread. */
struct readers {
    uint64_t *moment;
    struct site *site;
    uint32_t count, capacity;
    uint32_t next_free;
};

struct reader_sets {
    struct readers *set; /* [0] is unused */
    uint32_t count, free;
    size_t capacity;
};

/* What a thread did lately, a ring: enough to see whether two transactions conflict directly. */
struct log_entry {
    uint64_t packed; /* event number, kind of event or mark << 56 */
    uint32_t target;
    uint32_t location;
};
#define LOG_MOST 16384u
enum { LOG_BEGIN = TMS_EVENT_COUNT, LOG_END }; /* marks where transactions begin and end */

struct log {
    struct log_entry *entry;
    uint32_t capacity; /* a power of two, or 0 */
    uint64_t written;  /* entries ever; the last `capacity` of them are there */
};

/* The violation of a running transaction, handed over when it ends. */
struct pending {
    struct tms_violation violation;
    struct tms_step *steps;
    size_t capacity;
    bool open;
};

struct thread {
    uint64_t floor; /* own moments from here on are as good as a new one … */
    uint64_t span;  /* … that is, those with moment - floor < span */
    uint64_t begin; /* of the running transaction; 0 outside blocks */
    uint64_t *in;   /* by slot: the latest event from which an edge came into this thread */
    size_t in_capacity;
    uint32_t row; /* in the matrices, NO_ROW outside blocks */
    uint32_t slot;
    uint32_t id;
    uint32_t label; /* of the running transaction */
    uint64_t last;  /* an event of the current stretch, for join */
    struct site last_site;
    struct log log;
    struct pending pending;
};

/* Where the edges into a thread's first event come from. */
struct origin {
    uint64_t moment;
    struct site site;
};

struct touch;

struct frontier {
    struct tms_host *host;
    struct tms_memory *memory;
    bool blame;

    struct tms_edges edges;
    struct tms_reach graph; /* S: which transactions a running one reaches, without refused edges */
    struct tms_reach order; /* E: which events come after its begin, by every edge; for blame */
    uint32_t *free_rows;
    uint32_t free_row_count, row_count;
    size_t row_capacity;

    struct thread *threads; /* by slot */
    uint32_t slot_count;
    size_t slot_capacity;
    uint32_t *retired; /* slots of joined threads */
    uint32_t retired_count, retired_tried;
    size_t retired_capacity;

    uint32_t *slot_of;    /* by thread id: slot + 1; 0: no event yet */
    struct origin *forks; /* by thread id */
    size_t id_capacity;

    struct cells variables, locks, barriers;
    struct reader_sets sets;

    struct touch *touched; /* scratch of the witness search */
    size_t touched_capacity;

    uint64_t edges_seen, edges_inserted; /* counters */
};

/* Why there is an edge: its kind and what the two events conflict on. */
struct cause {
    uint8_t kind; /* enum tms_edge_kind */
    uint8_t cls;  /* enum tms_class */
    uint32_t on;
};

/* frontier_cells.c */

/* The cell of an id, made if need be; NULL when memory is short. */
bool tms_cells_grow(struct frontier *f, struct cells *cells, uint32_t id);
void tms_cells_clear(struct frontier *f, struct cells *cells);

/* Adds or renews the thread's moment among the readers of a cell. */
bool tms_cell_add_reader(struct frontier *f, struct cell *cell, struct sites *sites,
                         uint64_t moment, const struct site *site);
void tms_cell_drop_readers(struct frontier *f, struct cell *cell);
void tms_reader_sets_clear(struct frontier *f);

static inline struct readers *cell_readers(const struct frontier *f, const struct cell *cell)
{
    return &f->sets.set[moment_event(cell->read)];
}

/* frontier_witness.c */

/* Notes what the thread did, for later witnesses. */
void tms_log_grow(struct frontier *f, struct log *log);

static inline void log_add(struct frontier *f, struct log *log, const struct tms_op *op,
                           unsigned kind)
{
    if (log->written >= log->capacity && log->capacity < LOG_MOST) {
        tms_log_grow(f, log);
        if (log->capacity == 0) {
            return;
        }
    }
    log->entry[log->written++ & (log->capacity - 1)] =
        (struct log_entry){.packed = op->event | (uint64_t)kind << SITE_KIND_SHIFT,
                           .target = op->target,
                           .location = op->location};
}

/*
 * The edge `closing` from slot `from` closes a cycle in the graph (`cycle`), or shows that the
 * running transaction of `t` is not atomic (`blamed`), or both.
 */
void tms_frontier_violation(struct frontier *f, struct thread *t, const struct tms_step *closing,
                            uint32_t from, bool cycle, bool blamed);

/* The running transaction ends: hands its violation, if any, to the host. */
void tms_frontier_settle(struct frontier *f, struct thread *t);
void tms_witness_clear(struct frontier *f);

#endif
