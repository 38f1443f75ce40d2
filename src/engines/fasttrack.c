/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FastTrack: data races, that is, two accesses to a variable by two threads, not both reads, with
 * nothing between them that orders them.
 *
 * C. Flanagan, S. N. Freund: FastTrack, efficient and precise dynamic race detection, PLDI 2009.
 * "Order" is happens-before of program order, of locks (a shared hold is ordered with exclusive
 * ones only), of fork and join, of barriers, of atomic accesses by their memory orders, and of
 * channels. Every thread has a vector clock; a release copies it to the object, an acquire joins
 * the object's clock into it.
 *
 * Of a variable only two moments are kept. The last write is one epoch: as long as there is no
 * race, writes are totally ordered, and what is after the last is after all. The reads since then
 * are one epoch too, as long as each comes after the one before; concurrent ones make a vector. An
 * access is a race iff the last write, or for a write also a read since, did not happen before it.
 *
 * Differences from the paper. Clocks count events instead of releases, so an epoch is the very
 * access that a report names, and nothing is to be ticked. "The same epoch again" becomes: the
 * recorded access is the thread's own, and the thread has released nothing since, so that any
 * access to the variable in between has raced with it. A write ends the reads before it, also a
 * single one: what is not after such a read is not after the write either. A thread that knows of a
 * release knows all that it passed on, so one comparison avoids most joins at acquires.
 *
 * Atomic accesses never race with each other, whatever their order, but do with plain ones that
 * they are not ordered with. Of these only the last plain write and the plain reads since are kept,
 * as above; of the atomic ones the last of each thread, loads and stores apart. A read-modify-write
 * without a memory order in the trace (`u`) acquires and releases. fasttrack_orders.c has the
 * clocks.
 *
 * After a race the check goes on. Whatever is reported is an unordered pair of this trace; on every
 * variable the first race is found at its event, later ones not always all.
 */

#include "engines/fasttrack.h"

#include <assert.h>

#define LEAST 64
#define AHEAD 10
_Static_assert(AHEAD <= TMS_OPS_AHEAD, "what is looked at can be read");

static inline bool is_repeated(const struct tms_fasttrack_thread *t, uint64_t epoch)
{
    return epoch - t->since < t->span;
}

/* ---- accesses that take more than two comparisons --------------------------------------- */

static void set_access(struct tms_fasttrack *f, uint64_t vector, uint64_t epoch, uint64_t access)
{
    uint64_t *entry = &tms_clocks_at(&f->reads, (uint32_t)vector)[2 * (size_t)epoch_slot(epoch)];

    entry[0] = epoch;
    entry[1] = access;
}

/* 0 when memory is short, and the host knows. */
static uint32_t make_vector(struct tms_fasttrack *f)
{
    uint32_t number = tms_clocks_make(&f->reads);

    if (number == 0) {
        tms_host_fail(f->host, TMS_ERR_MEMORY);
    }
    return number;
}

static void inflate(struct tms_fasttrack *f, struct tms_fasttrack_cell *cell,
                    const struct tms_fasttrack_places *places)
{
    uint32_t number = make_vector(f);

    if (number != 0) {
        set_access(f, number, cell->read, access_of(TMS_EVENT_READ, places->read));
        cell->read = number;
        f->inflated++;
    }
}

/* The variable's atomic accesses; NULL if it never had any. */
static struct tms_fasttrack_atomic *atomic_of(const struct tms_fasttrack *f, uint32_t variable)
{
    bool any = variable < f->atomic_capacity && f->atomics[variable].writes != 0;

    return any ? &f->atomics[variable] : NULL;
}

static void drop_reads(struct tms_fasttrack *f, struct tms_fasttrack_cell *cell)
{
    if (is_several(cell->read)) {
        tms_clocks_drop(&f->reads, (uint32_t)cell->read);
    }
    cell->read = 0;
}

static void race_with_vector(struct tms_fasttrack *f, const struct tms_fasttrack_thread *t,
                             const struct tms_op *op, uint64_t vector, enum tms_edge_kind kind)
{
    const uint64_t *row = tms_clocks_at(&f->reads, (uint32_t)vector);

    for (uint32_t slot = 1; slot < f->slot_count; slot++) {
        if (!happened_before(t, row[2 * slot])) {
            tms_fasttrack_race(f, op, row[2 * slot], row[2 * slot + 1], kind);
        }
    }
}

static void race_with_write(struct tms_fasttrack *f, const struct tms_fasttrack_thread *t,
                            const struct tms_op *op, enum tms_edge_kind kind)
{
    uint64_t write = f->cells[op->target].write;

    if (!happened_before(t, write)) {
        uint64_t access = access_of(TMS_EVENT_WRITE, f->places[op->target].write);
        tms_fasttrack_race(f, op, write, access, kind);
    }
}

static void race_with_reads(struct tms_fasttrack *f, const struct tms_fasttrack_thread *t,
                            const struct tms_op *op)
{
    uint64_t read = f->cells[op->target].read;

    if (is_several(read)) {
        race_with_vector(f, t, op, read, TMS_EDGE_READ_WRITE);
    } else if (!happened_before(t, read)) {
        uint64_t access = access_of(TMS_EVENT_READ, f->places[op->target].read);
        tms_fasttrack_race(f, op, read, access, TMS_EDGE_READ_WRITE);
    }
}

/* Has the thread read the variable before, and passed nothing on since? */
static bool is_read_again(const struct tms_fasttrack *f, const struct tms_fasttrack_thread *t,
                          uint64_t read)
{
    return is_several(read) &&
           is_repeated(t, tms_clocks_at(&f->reads, (uint32_t)read)[2 * (size_t)t->slot]);
}

static __attribute__((noinline)) void
read_slowly(struct tms_fasttrack *f, struct tms_fasttrack_thread *t, const struct tms_op *op)
{
    struct tms_fasttrack_cell *cell = &f->cells[op->target];
    struct tms_fasttrack_places *places = &f->places[op->target];
    const struct tms_fasttrack_atomic *atomic = atomic_of(f, op->target);
    uint64_t epoch = epoch_of(t->slot, op->event);

    if (is_read_again(f, t, cell->read)) {
        return;
    }
    race_with_write(f, t, op, TMS_EDGE_WRITE_READ);
    if (atomic != NULL) {
        race_with_vector(f, t, op, atomic->writes, TMS_EDGE_WRITE_READ);
    }
    assert(is_several(cell->read) || epoch_slot(cell->read) < f->slot_count);
    if (!is_several(cell->read) && !happened_before(t, cell->read)) {
        inflate(f, cell, places);
    }
    if (is_several(cell->read)) {
        set_access(f, cell->read, epoch, access_of(TMS_EVENT_READ, op->location));
    } else {
        cell->read = epoch;
        places->read = op->location;
    }
}

static __attribute__((noinline)) void write_slowly(struct tms_fasttrack *f,
                                                   struct tms_fasttrack_thread *t,
                                                   const struct tms_op *op, uint64_t epoch)
{
    struct tms_fasttrack_cell *cell = &f->cells[op->target];
    const struct tms_fasttrack_atomic *atomic = atomic_of(f, op->target);

    race_with_write(f, t, op, TMS_EDGE_WRITE_WRITE);
    race_with_reads(f, t, op);
    drop_reads(f, cell);
    if (atomic != NULL) {
        race_with_vector(f, t, op, atomic->writes, TMS_EDGE_WRITE_WRITE);
        race_with_vector(f, t, op, atomic->reads, TMS_EDGE_READ_WRITE);
        cell->read = make_vector(f);
    }
    assert(atomic != NULL ? is_several(cell->read) || f->host->failed != TMS_OK : cell->read == 0);
    cell->write = epoch;
    f->places[op->target].write = op->location;
}

/* ---- operations ------------------------------------------------------------------------- */

static inline void on_read(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                           const struct tms_op *op)
{
    struct tms_fasttrack_cell *cell = &f->cells[op->target];
    uint64_t write = cell->write, read = cell->read;

    if (is_repeated(t, read) || is_repeated(t, write)) {
        return;
    }
    f->located |= op->location;
    if (!happened_before(t, write) || !happened_before(t, read)) {
        read_slowly(f, t, op);
        return;
    }
    cell->read = epoch_of(t->slot, op->event);
    if (f->located) {
        f->places[op->target].read = op->location;
    }
}

static inline void on_write(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                            const struct tms_op *op)
{
    struct tms_fasttrack_cell *cell = &f->cells[op->target];
    uint64_t epoch = epoch_of(t->slot, op->event);

    if (is_repeated(t, cell->write)) {
        return;
    }
    f->located |= op->location;
    if (!happened_before(t, cell->write) || !happened_before(t, cell->read)) {
        write_slowly(f, t, op, epoch);
        return;
    }
    *cell = (struct tms_fasttrack_cell){.write = epoch};
    if (f->located) {
        f->places[op->target].write = op->location;
    }
}

/* From now on all accesses to the variable take the slow path. NULL when memory is short. */
static struct tms_fasttrack_atomic *make_atomic(struct tms_fasttrack *f, uint32_t variable)
{
    struct tms_fasttrack_cell *cell = &f->cells[variable];

    if (!TMS_RESERVE(f->memory, &f->atomics, &f->atomic_capacity, f->cell_capacity, LEAST)) {
        tms_host_fail(f->host, TMS_ERR_MEMORY);
        return NULL;
    }
    struct tms_fasttrack_atomic *atomic = &f->atomics[variable];
    if (!is_several(cell->read)) {
        inflate(f, cell, &f->places[variable]);
    }
    assert(atomic->reads == 0 && atomic->writes == 0);
    atomic->reads = make_vector(f);
    atomic->writes = make_vector(f);
    return f->host->failed == TMS_OK ? atomic : NULL;
}

/* What is acquired counts for the access itself. */
static void on_atomic(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                      const struct tms_op *op)
{
    struct tms_fasttrack_atomic *atomic = atomic_of(f, op->target);
    unsigned order = TMS_OP_ORDER_OF(op);
    bool reads = op->kind == TMS_OP_READ, writes = op->kind == TMS_OP_WRITE;
    uint64_t access = access_of(fasttrack_kind(op), op->location);

    atomic = atomic != NULL ? atomic : make_atomic(f, op->target);
    if (atomic == NULL) {
        return;
    }
    f->located |= op->location;
    order = order == TMS_ORDER_NONE ? TMS_ORDER_ACQ_REL : order;
    if (!writes) {
        tms_fasttrack_load(f, t, &atomic->sync, order, op->event);
    }
    race_with_write(f, t, op, reads ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE);
    if (!reads) {
        race_with_reads(f, t, op);
    }
    set_access(f, reads ? atomic->reads : atomic->writes, epoch_of(t->slot, op->event), access);
    if (!reads) {
        (writes ? tms_fasttrack_store : tms_fasttrack_modify)(f, t, &atomic->sync, order,
                                                              op->event);
    }
}

/* A thread that has done nothing else so far has no slot yet. NULL: there is no room for it. */
static struct tms_fasttrack_thread *settled(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                                            const struct tms_op *op)
{
    return t != NULL || tms_fasttrack_start(f, op->thread, NULL, op->event) ? f->by_id[op->thread]
                                                                            : NULL;
}

static void on_fence(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                     const struct tms_op *op)
{
    t = settled(f, t, op);
    if (t != NULL) {
        tms_fasttrack_fence(f, t, TMS_OP_ORDER_OF(op), op->event);
    }
}

static void on_send(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                    const struct tms_op *op)
{
    t = settled(f, t, op);
    if (t != NULL) {
        tms_fasttrack_release_shared(f, t, &f->channels[op->target], op->event);
    }
}

static void on_receive(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                       const struct tms_op *op)
{
    t = settled(f, t, op);
    if (t != NULL) {
        tms_fasttrack_acquire(f, t, &f->channels[op->target], op->event);
    }
}

static void on_acquire(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                       const struct tms_op *op)
{
    tms_fasttrack_acquire(f, t, &f->locks[op->target], op->event);
}

static void on_release(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                       const struct tms_op *op)
{
    tms_fasttrack_release(f, t, &f->locks[op->target], op->event);
}

static void on_shared_acquire(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                              const struct tms_op *op)
{
    tms_fasttrack_acquire_shared(f, t, &f->locks[op->target], op->event);
}

static void on_shared_release(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                              const struct tms_op *op)
{
    tms_fasttrack_release_shared(f, t, &f->locks[op->target], op->event);
}

static void on_arrive(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                      const struct tms_op *op)
{
    tms_fasttrack_release_shared(f, t, &f->barriers[op->target], op->event);
}

static void on_depart(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                      const struct tms_op *op)
{
    tms_fasttrack_acquire(f, t, &f->barriers[op->target], op->event);
}

static void on_fork(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                    const struct tms_op *op)
{
    assert(t != NULL && op->target != op->thread);
    if (tms_fasttrack_start(f, op->target, t, op->event)) {
        tms_fasttrack_publish(t, op->event);
    }
}

/* The thread may have been forked by none, and may have done nothing. */
static void on_join(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                    const struct tms_op *op)
{
    if (f->by_id[op->target] != NULL) {
        tms_fasttrack_join(f, t, f->by_id[op->target], op->event);
    }
}

static void on_begin(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                     const struct tms_op *op)
{
    tms_fasttrack_enter(f, t, op);
}

/* After a split's end there comes its begin, after a join's nothing. */
static void on_end(struct tms_fasttrack *f, struct tms_fasttrack_thread *t, const struct tms_op *op)
{
    if ((op->flags & TMS_OP_SYNTHETIC) == 0) {
        tms_fasttrack_leave(f, t, op->event + 1);
    }
}

static void on_forget(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                      const struct tms_op *op)
{
    (void)t;
    drop_reads(f, &f->cells[op->target]);
    f->cells[op->target].write = 0;
    f->reported[op->target] = 0;
    struct tms_fasttrack_atomic *atomic = atomic_of(f, op->target);
    if (atomic != NULL) {
        tms_clocks_drop(&f->syncs, atomic->sync.clock);
        tms_clocks_drop(&f->syncs, atomic->sync.shared);
        tms_clocks_drop(&f->reads, atomic->reads);
        tms_clocks_drop(&f->reads, atomic->writes);
        *atomic = (struct tms_fasttrack_atomic){0};
    }
}

typedef void handler(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                     const struct tms_op *op);

static handler *const handlers[TMS_OP_COUNT] = {
    [TMS_OP_BEGIN] = on_begin,
    [TMS_OP_END] = on_end,
    [TMS_OP_READ] = on_read,
    [TMS_OP_WRITE] = on_write,
    [TMS_OP_UPDATE] = on_atomic,
    [TMS_OP_ACQUIRE] = on_acquire,
    [TMS_OP_RELEASE] = on_release,
    [TMS_OP_SHARED_ACQUIRE] = on_shared_acquire,
    [TMS_OP_SHARED_RELEASE] = on_shared_release,
    [TMS_OP_FORK] = on_fork,
    [TMS_OP_JOIN] = on_join,
    [TMS_OP_ARRIVE] = on_arrive,
    [TMS_OP_DEPART] = on_depart,
    [TMS_OP_FORGET] = on_forget,
    [TMS_OP_FENCE] = on_fence,
    [TMS_OP_SEND] = on_send,
    [TMS_OP_RECEIVE] = on_receive,
};

/* ---- the engine ------------------------------------------------------------------------- */

/* All that has a name has its place. */
static bool make_room(struct tms_fasttrack *f)
{
    const struct tms_context *context = f->host->context;
    size_t variables = (size_t)tms_name_count(context, TMS_CLASS_VARIABLE) + 1;
    size_t locks = (size_t)tms_name_count(context, TMS_CLASS_LOCK) + 1;
    size_t barriers = (size_t)tms_name_count(context, TMS_CLASS_BARRIER) + 1;
    size_t channels = (size_t)tms_name_count(context, TMS_CLASS_CHANNEL) + 1;
    size_t threads = (size_t)tms_name_count(context, TMS_CLASS_THREAD) + 1;

    return TMS_RESERVE(f->memory, &f->cells, &f->cell_capacity, variables, LEAST) &&
           TMS_RESERVE(f->memory, &f->places, &f->place_capacity, variables, LEAST) &&
           TMS_RESERVE(f->memory, &f->reported, &f->reported_capacity, variables, LEAST) &&
           TMS_RESERVE(f->memory, &f->locks, &f->lock_capacity, locks, LEAST) &&
           TMS_RESERVE(f->memory, &f->barriers, &f->barrier_capacity, barriers, LEAST) &&
           TMS_RESERVE(f->memory, &f->channels, &f->channel_capacity, channels, LEAST) &&
           TMS_RESERVE(f->memory, &f->by_id, &f->id_capacity, threads, LEAST);
}

/* A thread that was forked is there already. */
static bool is_there(struct tms_fasttrack *f, const struct tms_op *op)
{
    return f->by_id[op->thread] != NULL || tms_fasttrack_start(f, op->thread, NULL, op->event);
}

static void batch(void *state, const struct tms_op *ops, size_t count)
{
    struct tms_fasttrack *f = state;

    if (ops[count - 1].event > EPOCH_EVENT_MOST || !make_room(f)) {
        tms_host_fail(f->host,
                      ops[count - 1].event > EPOCH_EVENT_MOST ? TMS_ERR_LIMIT : TMS_ERR_MEMORY);
        return;
    }
    if (!is_there(f, &ops[0])) { /* only the first of a batch may be the first of its thread */
        return;
    }
    for (size_t i = 0; i < count && f->host->failed == TMS_OK; i++) {
        struct tms_fasttrack_thread *t = f->by_id[ops[i].thread];
        __builtin_prefetch(&f->cells[ops[i + AHEAD].target]);
        if ((ops[i].flags & TMS_OP_ORDER) != 0 && ops[i].kind != TMS_OP_FENCE) {
            on_atomic(f, t, &ops[i]);
        } else if (ops[i].kind == TMS_OP_READ) {
            on_read(f, t, &ops[i]);
        } else if (ops[i].kind == TMS_OP_WRITE) {
            on_write(f, t, &ops[i]);
        } else if (handlers[ops[i].kind] != NULL) {
            handlers[ops[i].kind](f, t, &ops[i]);
        }
    }
}

static int create(void *state, struct tms_host *host)
{
    struct tms_fasttrack *f = state;

    f->host = host;
    f->memory = &host->memory;
    f->slot_count = 1;
    f->past_most = PAST_LEAST_SWEPT;
    tms_clocks_init(&f->reads, f->memory);
    tms_clocks_init(&f->syncs, f->memory);
    return TMS_OK;
}

/* Every race was reported when it was seen. */
static void finish(void *state)
{
    (void)state;
}

static void stats(const void *state, struct tms_counters *counters)
{
    const struct tms_fasttrack *f = state;
    const struct tms_counter kept[] = {
        {"races", "accesses that were not ordered with an earlier one", f->host->closing_edges},
        {"racy_variables", "variables with a race, once for each time they became new", f->racy},
        {"slots", "most threads distinguished", f->slot_count - 1},
        {"inflated", "times that reads of a variable were concurrent", f->inflated},
        {"learnt", "times that a thread joined the clock of another one", f->learnt},
        {"sweeps", "times that the past of all threads was swept", f->sweeps},
    };

    TMS_COUNTERS_PUT(counters, kept);
}

static void destroy(void *state)
{
    struct tms_fasttrack *f = state;
    struct tms_memory *memory = f->memory;

    for (uint32_t slot = 1; slot < f->slot_count; slot++) {
        struct tms_fasttrack_thread *t = f->threads[slot];
        tms_release(memory, t->past, t->past_capacity, sizeof(*t->past));
        tms_release(memory, t, 1, sizeof(*t));
    }
    tms_release(memory, f->threads, f->thread_capacity, sizeof(*f->threads));
    tms_release(memory, f->by_id, f->id_capacity, sizeof(*f->by_id));
    tms_release(memory, f->retired, f->retired_capacity, sizeof(*f->retired));
    tms_release(memory, f->cells, f->cell_capacity, sizeof(*f->cells));
    tms_release(memory, f->places, f->place_capacity, sizeof(*f->places));
    tms_release(memory, f->reported, f->reported_capacity, sizeof(*f->reported));
    tms_release(memory, f->locks, f->lock_capacity, sizeof(*f->locks));
    tms_release(memory, f->barriers, f->barrier_capacity, sizeof(*f->barriers));
    tms_release(memory, f->channels, f->channel_capacity, sizeof(*f->channels));
    tms_release(memory, f->atomics, f->atomic_capacity, sizeof(*f->atomics));
    tms_grid_clear(memory, &f->known);
    tms_clocks_clear(&f->reads);
    tms_clocks_clear(&f->syncs);
}

const struct tms_engine tms_engine_fasttrack = {
    .info =
        {
            .name = "fasttrack",
            .summary = "data races, by happens-before with epochs",
            .paper = "Flanagan, Freund: FastTrack, PLDI 2009",
            .guarantee = "precise. A race is reported if and only if this run has two conflicting "
                         "accesses that no synchronisation orders; the first on each variable is "
                         "found. Other schedules may have more.",
            .reports = "at the event",
            .time = "O(1) per access typically, O(k) per synchronisation (k: threads)",
            .memory = "25 bytes per variable, 16k with concurrent reads, 8k per lock and thread",
            .flags = TMS_ENGINE_AT_EVENT | TMS_ENGINE_WITNESS | TMS_ENGINE_PREDICTIVE |
                     TMS_ENGINE_BOUNDED,
            .found = TMS_VERDICT_RACE,
            .clean = TMS_VERDICT_NO_RACE,
        },
    .without_blocks = true,
    .state_size = sizeof(struct tms_fasttrack),
    .create = create,
    .batch = batch,
    .finish = finish,
    .stats = stats,
    .destroy = destroy,
};
