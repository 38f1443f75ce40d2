/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the fasttrack engine; fasttrack.c has the algorithm in words.
 *
 * An epoch is one event: the slot of its thread and its number, in 64 bits (16, 48). So the epochs
 * of a slot are ordered as its events are, and the epoch that a report needs is the one that was
 * compared. Slot 0 is unused: epoch 0 is "none", and a cell whose `read` is below the epochs of
 * slot 1 holds the number of a vector of reads instead.
 *
 * known[s] of a thread is the last epoch of slot s that happened before what the thread does now;
 * for its own slot it is above all of them. So "did this access happen before?" is one comparison.
 *
 * A cell is for plain accesses. Atomic ones are not ordered by themselves, so that there is no last
 * one: of a variable that has any, the last of each slot is kept, loads and stores apart. The
 * cell's `read` is then always a vector, so that each plain access takes the slow path, which
 * checks these.
 *
 * Size: 25 bytes a variable (a cell, two places, what was reported), 24 more once there is an
 * atomic access; 16 bytes a slot for a variable with concurrent reads, 48 for an atomic one; 8
 * bytes a slot for each thread, and for each lock, barrier and atomic variable that was released.
 */
#ifndef TMS_ENGINES_FASTTRACK_H
#define TMS_ENGINES_FASTTRACK_H

#include <assert.h>

#include "clock/clock_pool.h"
#include "engine_api/engine.h"

#define EPOCH_SHIFT      48
#define EPOCH_EVENT_MOST ((UINT64_C(1) << 48) - 2)
#define SLOT_MOST        0xfffeu
#define NO_SLOT          0u

/* Both of them are epochs, or 0; `read` may be the number of a vector (several reads). */
struct tms_fasttrack_cell {
    uint64_t write, read;
};

/* Where they happened; apart, because only reports want to know. */
struct tms_fasttrack_places {
    uint32_t write, read;
};

/* What can be released and acquired: a lock, a barrier, an atomic variable. */
struct tms_fasttrack_sync {
    uint64_t release; /* epoch of the last exclusive release … */
    uint32_t clock;   /* … and what its thread knew then, in `syncs`; 0: none */
    uint32_t shared;  /* what was known at the shared releases since, and at arrivals; 0: none */
};

/* A variable with atomic accesses. */
struct tms_fasttrack_atomic {
    struct tms_fasttrack_sync sync; /* what acquiring loads learn */
    uint32_t reads,
        writes; /* in `reads`, by slot: its last load, its last store or update; 0: none */
};

/* From `start` on, a slot was in this block, or, if `outside`, in none. */
struct tms_fasttrack_stretch {
    uint64_t start;
    uint32_t thread, label, location;
    bool outside, needed;
};

struct tms_fasttrack_thread {
    uint64_t *known;
    uint64_t since, span; /* own epochs that no other thread knows of: span many, from since on */
    uint64_t heard;       /* the event at which it last learnt something */
    uint64_t fenced;      /* epoch of its last release fence, … */
    uint32_t fence;       /* … and what it knew then, in `syncs`; 0: none */
    uint32_t pending;     /* what its relaxed loads would have learnt, in `syncs`; 0: nothing */
    uint32_t id, slot;
    struct tms_fasttrack_stretch *past; /* by start */
    size_t past_count, past_capacity;
};

/* A slot whose thread was joined, at that epoch. */
struct tms_fasttrack_retired {
    uint64_t joined;
    uint32_t slot;
};

struct tms_fasttrack {
    struct tms_host *host;
    struct tms_memory *memory;
    struct tms_grid known; /* a row and a column per slot */
    struct tms_fasttrack_thread **threads;
    size_t thread_capacity; /* by slot */
    uint32_t slot_count;
    struct tms_fasttrack_thread **by_id;
    size_t id_capacity;
    struct tms_fasttrack_retired *retired;
    size_t retired_count, retired_capacity;

    struct tms_fasttrack_cell *cells;
    struct tms_fasttrack_places *places;
    uint8_t *reported; /* bits by enum tms_edge_kind */
    size_t cell_capacity, place_capacity, reported_capacity;
    struct tms_clocks reads; /* two words a slot: the epoch of its access; kind << 32 | place */
    struct tms_fasttrack_sync *locks, *barriers, *channels;
    struct tms_fasttrack_atomic *atomics; /* none before the first */
    size_t lock_capacity, barrier_capacity, channel_capacity, atomic_capacity;
    struct tms_clocks syncs;
    uint32_t located; /* not 0: the trace has locations */

    size_t past_count, past_most; /* stretches of all slots; how many before the next sweep */
    uint64_t racy, inflated, learnt, sweeps;
};

static inline uint64_t epoch_of(uint32_t slot, uint64_t event)
{
    assert(event <= EPOCH_EVENT_MOST + 1);
    return (uint64_t)slot << EPOCH_SHIFT | event;
}

static inline uint32_t epoch_slot(uint64_t epoch)
{
    return (uint32_t)(epoch >> EPOCH_SHIFT);
}

static inline uint64_t epoch_event(uint64_t epoch)
{
    return epoch & ((UINT64_C(1) << EPOCH_SHIFT) - 1);
}

static inline bool happened_before(const struct tms_fasttrack_thread *t, uint64_t epoch)
{
    return epoch <= t->known[epoch_slot(epoch)];
}

static inline bool is_several(uint64_t read)
{
    return read != 0 && epoch_slot(read) == NO_SLOT;
}

/* fasttrack_threads.c: false when it can't be done, and the host knows. */

/* A thread begins; `parent` forked it at this event, or is NULL. */
bool tms_fasttrack_start(struct tms_fasttrack *f, uint32_t id,
                         const struct tms_fasttrack_thread *parent, uint64_t event);
void tms_fasttrack_join(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                        const struct tms_fasttrack_thread *child, uint64_t event);

/* What was released comes before what the thread does from now on. */
void tms_fasttrack_acquire(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                           const struct tms_fasttrack_sync *sync, uint64_t event);
void tms_fasttrack_acquire_shared(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                                  const struct tms_fasttrack_sync *sync, uint64_t event);

/* … what it did so far before what acquires come. Exclusive ones end what was shared. */
bool tms_fasttrack_release(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                           struct tms_fasttrack_sync *sync, uint64_t event);
bool tms_fasttrack_release_shared(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                                  struct tms_fasttrack_sync *sync, uint64_t event);

/* C := C ⊔ row */
void tms_fasttrack_learn(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                         const uint64_t *row, uint64_t event);

/* A clock of `syncs`, made if there is none. */
bool tms_fasttrack_make_clock(struct tms_fasttrack *f, uint32_t *clock);

/* fasttrack_orders.c: what atomic accesses and fences do to clocks, by enum tms_order */

void tms_fasttrack_load(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                        const struct tms_fasttrack_sync *sync, unsigned order, uint64_t event);
void tms_fasttrack_store(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                         struct tms_fasttrack_sync *sync, unsigned order, uint64_t event);
/* The second half of a read-modify-write, after tms_fasttrack_load. */
void tms_fasttrack_modify(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                          struct tms_fasttrack_sync *sync, unsigned order, uint64_t event);
void tms_fasttrack_fence(struct tms_fasttrack *f, struct tms_fasttrack_thread *t, unsigned order,
                         uint64_t event);

/* Others will hear of what the thread did up to this event, so nothing repeats it any more. */
static inline void tms_fasttrack_publish(struct tms_fasttrack_thread *t, uint64_t event)
{
    assert(event < EPOCH_EVENT_MOST);
    t->since = epoch_of(t->slot, event + 1);
    t->span = epoch_of(t->slot + 1, 0) - t->since;
}

/* fasttrack_report.c */

#define PAST_LEAST_SWEPT 32768

bool tms_fasttrack_enter(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                         const struct tms_op *op);
bool tms_fasttrack_leave(struct tms_fasttrack *f, struct tms_fasttrack_thread *t, uint64_t start);

/* An access: kind << 32 | place, as in the vectors of `reads`. */
static inline uint64_t access_of(enum tms_event_kind kind, uint32_t place)
{
    return (uint64_t)kind << 32 | place;
}

/* The access of this epoch races with the current one. */
void tms_fasttrack_race(struct tms_fasttrack *f, const struct tms_op *op, uint64_t epoch,
                        uint64_t access, enum tms_edge_kind kind);

/* What the trace calls it: lowering turns atomic accesses into plain ones. */
static inline enum tms_event_kind fasttrack_kind(const struct tms_op *op)
{
    return op->event_kind +
           ((op->flags & TMS_OP_ORDER) != 0 ? TMS_EVENT_ATOMIC_READ - TMS_EVENT_READ : 0);
}

#endif
