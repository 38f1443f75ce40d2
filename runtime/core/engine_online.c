/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frontier engine inside the program: the same matrices, logs and witnesses as for a trace
 * (frontier/frontier.h), but with the cells of variables in shadow memory.
 *
 * Event numbers are clocks of the threads, because a global counter would cost more than everything
 * else. A thread counts its own events. An event with an edge from another thread, or that passes
 * through the engine for another reason, gets a number larger than those of all earlier such
 * events, under the engine's lock. So of two conflicting events the earlier has the smaller number,
 * which is all that the engine requires, and events that may close a cycle are numbered in the
 * order in which they happened.
 */
#include "runtime/core/engine_online.h"
#include "runtime/core/raw_system_call.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/transaction_ring.h"
#include "runtime/core/violations.h"
#include "runtime/shadow/variable_ids.h"
#include "runtime/spool/spool_writer.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct tms_rt_mutex tms_rt_engine_lock;
struct tms_frontier tms_rt_engine;
struct tms_rt_mode tms_rt_mode;

struct tms_rt_thread *tms_rt_by_slot[TMS_RT_SLOTS_MOST + 1];
static uint8_t *shared_locks; /* by id: several threads held it at a time, or might have */
static struct tms_memory memory = TMS_RT_MEMORY;
static _Atomic uint64_t latest;

/* ---- numbers ---------------------------------------------------------------------------- */

uint64_t tms_rt_now(void)
{
    return atomic_load_explicit(&latest, memory_order_relaxed);
}

uint64_t tms_rt_next_global_number(struct tms_rt_thread *t, uint64_t source)
{
    uint64_t before = atomic_load_explicit(&latest, memory_order_relaxed), number;

    source = source > t->number ? source : t->number;
    do {
        number = (before > source ? before : source) + 1;
    } while (!atomic_compare_exchange_weak(&latest, &before, number));
    if (number > WORD_EVENT_MOST) {
        tms_rt_record_loss(TMS_SPOOL_LOST_NUMBERS);
    }
    assert(number > t->number && number > source);
    t->number = number;
    t->events_seen++;
    return number;
}

void tms_rt_advance_clock(struct tms_rt_thread *t)
{
    tms_rt_next_global_number(t, 0);
    t->events_seen--;
}

void tms_rt_yield(void)
{
    tms_rt_raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* ---- the engine ------------------------------------------------------------------------- */

/* Was the memory cleared in between? Checks whole pages, so it may say yes too often. */
static bool renewed(const struct tms_frontier *f, const struct tms_op *first,
                    const struct tms_op *second)
{
    (void)f;
    (void)second;
    return tms_event_class(first->event_kind) == TMS_CLASS_VARIABLE &&
           tms_rt_variable_cleared_at(first->target) >= first->event;
}

void tms_rt_record_loss(unsigned loss)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header != NULL) {
        __atomic_fetch_or(&header->lost, loss, __ATOMIC_RELAXED);
    }
    tms_rt_mode.checks = false; /* an incomplete execution is not checked at all */
}

static void fail(struct tms_frontier *f, int code)
{
    (void)f;
    tms_rt_record_loss(code == TMS_ERR_LIMIT ? TMS_SPOOL_LOST_THREADS : TMS_SPOOL_LOST_MEMORY);
}

void tms_rt_refresh_filter(struct tms_rt_thread *t)
{
    uint64_t first = moment_event(t->engine->floor) << WORD_EVENT;

    t->stretch = t->word_base | first;
    t->stretch_span = tms_rt_mode.full ? 0 : (UINT64_C(1) << WORD_SLOT) - first;
}

/* Initialises what depends on the thread's slot. */
static void settle_in(struct tms_rt_thread *t)
{
    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    assert(t->engine->id == t->index);
    assert(t->engine->slot >= FIRST_SLOT && t->engine->slot <= TMS_RT_SLOTS_MOST);
    t->word_base = (uint64_t)t->engine->slot << WORD_SLOT;
    tms_rt_clock_start(t);
    __atomic_store_n(&tms_rt_by_slot[t->engine->slot], t, __ATOMIC_RELEASE);
}

/* Fills in the nested blocks in the engine's form, which it needs to assign blame. */
static void lay_out_blocks(struct tms_rt_thread *t)
{
    struct tms_nesting *nesting = &t->engine->nesting;
    size_t depth = t->open_count > 1 ? t->open_count - 1 : 0;

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    nesting->depth = 0;
    if (!tms_rt_engine.blame ||
        !TMS_RESERVE(&memory, &nesting->open, &nesting->capacity, depth, 8)) {
        return;
    }
    for (size_t i = 0; i < depth; i++) {
        const struct tms_rt_open *open = &t->open[i + 1];
        nesting->open[i].block = (struct tms_transaction){.begin_event = open->number,
                                                          .thread = t->index,
                                                          .label = open->label,
                                                          .location = open->site};
        nesting->open[i].mark = 0;
    }
    nesting->depth = depth;
}

#define SLOTS_ENOUGH 128u /* from here on, rather lose a race than let the clocks grow */

static const struct tms_rt_thread *newcomer; /* the thread that is about to have its first event */

/* Two threads of one slot must be ordered, because their events look like those of one thread. */
static bool may_reuse(const struct tms_frontier *f, uint32_t slot, const struct tms_op *op)
{
    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock) && slot < f->slot_count);
    (void)op;
    return f->slot_count >= SLOTS_ENOUGH || newcomer == NULL ||
           tms_rt_clock_knows_end(&newcomer->forked, slot);
}

/*
 * ---- transactions that only their thread knows ------------------------------------------
 */

/* The caller holds the lock. */
static void open_transaction(struct tms_rt_thread *t)
{
    uint64_t begin = atomic_load_explicit(&t->unopened, memory_order_acquire);

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    if (begin != 0 && atomic_compare_exchange_strong(&t->unopened, &begin, 0)) {
        tms_frontier_open(&tms_rt_engine, t->engine, begin);
    }
}

bool tms_rt_edge_is_irrelevant(uint64_t moment)
{
    const struct tms_frontier *f = &tms_rt_engine;
    uint32_t slot = moment_slot(moment);
    uint64_t event = moment_event(moment);
    const struct tms_rt_thread *u = tms_rt_thread_of_slot(slot);
    uint64_t begin = u == NULL ? 0 : atomic_load_explicit(&u->running, memory_order_acquire);

    assert(slot <= TMS_RT_SLOTS_MOST);
    return (begin == 0 || begin > event) &&
           __atomic_load_n(&f->graph.least[slot], __ATOMIC_RELAXED) > event &&
           (!f->blame || __atomic_load_n(&f->order.least[slot], __ATOMIC_RELAXED) > event);
}

static void wake_source(struct tms_frontier *f, uint32_t slot, uint64_t event)
{
    struct tms_rt_thread *u = tms_rt_by_slot[slot];
    uint64_t begin = u == NULL ? 0 : atomic_load_explicit(&u->unopened, memory_order_acquire);

    assert(slot >= FIRST_SLOT && slot < f->slot_count);
    (void)f;
    if (begin != 0 && begin <= event) {
        open_transaction(u);
    }
}

static void wake(struct tms_frontier *f, struct tms_frontier_thread *e)
{
    struct tms_rt_thread *t = tms_rt_by_slot[e->slot];

    (void)f;
    if (t != NULL) {
        open_transaction(t);
        lay_out_blocks(t);
    }
}

struct tms_rt_thread *tms_rt_thread_of_index(uint32_t index)
{
    const struct tms_frontier *f = &tms_rt_engine;
    const struct tms_frontier_thread *e = index < f->id_capacity ? f->by_id[index] : NULL;

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    return e == NULL || e->id != index ? NULL : tms_rt_by_slot[e->slot];
}

/* Notes the locks when the running transaction is first found in a cycle. */
static void note_closing(struct tms_rt_thread *t)
{
    bool before = t->closing;

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    if (!t->engine->pending.open) {
        t->closing = false;
    } else if (!t->closing) {
        t->closing = true;
        t->closing_count = t->held_count < TMS_SPOOL_HELD ? t->held_count : TMS_SPOOL_HELD;
        for (uint32_t i = 0; i < t->closing_count; i++) {
            t->closing_held[i] = (uintptr_t)t->held[i].lock;
        }
    }
    assert(!t->closing || t->engine->pending.open);
    assert(t->closing_count <= TMS_SPOOL_HELD);
    if (before || t->closing) {
        tms_rt_spool_pending(t);
    }
}

void tms_rt_forget_slot(struct tms_rt_thread *t)
{
    struct tms_rt_thread *there = t;

    __atomic_compare_exchange_n(&tms_rt_by_slot[t->engine->slot], &there, NULL, false,
                                __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void tms_rt_rotate_log(struct tms_rt_thread *t)
{
    tms_rt_mutex_lock(&tms_rt_engine_lock); /* other threads search the log */
    tms_log_rotate(&tms_rt_engine, &t->engine->log);
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

static void note_refused(struct tms_rt_thread *t, uint64_t moment)
{
    struct tms_rt_refused *refused = &t->refused[moment_slot(moment) % TMS_RT_REFUSED];
    uint64_t last = moment | MOMENT_KIND_MASK, first = last - MOMENT_KIND_MASK;
    bool more =
        refused->begin == t->running_from && moment_slot(refused->first) == moment_slot(moment);

    assert(t->running_from != 0 && moment_slot(first) == moment_slot(last));
    refused->begin = t->running_from;
    refused->first = more && refused->first < first ? refused->first : first;
    refused->last = more && refused->last > last ? refused->last : last;
}

void tms_rt_add_edge(struct tms_rt_thread *t, const struct tms_op *op,
                     struct tms_frontier_source source)
{
    const struct tms_frontier_pending *pending = &t->engine->pending;

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    assert(t == tms_rt_self && moment_event(source.moment) < op->event);
    tms_frontier_add_edge(&tms_rt_engine, t->engine, op, &source);
    t->engine->nesting.depth = 0;
    note_closing(t);
    /* Only once blame is settled: until then a later edge from the same source may change it. */
    if (!implied(t->engine, source.moment) && pending->open &&
        (pending->violation.not_atomic || !tms_rt_engine.blame)) {
        note_refused(t, source.moment);
    }
}

struct operation {
    struct tms_rt_thread *thread;
    struct tms_op *op;
    uint64_t source;
};

static void take_first(void *argument)
{
    const struct operation *operation = argument;
    struct tms_rt_thread *t = operation->thread;
    struct tms_op *op = operation->op;
    struct tms_frontier *f = &tms_rt_engine;

    tms_rt_mutex_lock(&tms_rt_engine_lock);
    if (tms_frontier_need_id(f, t->index)) {
        op->event = tms_rt_next_global_number(t, moment_event(f->forks[t->index].moment));
        newcomer = t;
        t->engine = tms_frontier_first(f, op);
    }
    if (t->engine != NULL) {
        settle_in(t);
        tms_rt_refresh_filter(t);
    }
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

bool tms_rt_first(struct tms_rt_thread *t, struct tms_op *op)
{
    assert(t->engine == NULL && t->inside == 1);
    tms_rt_call_deep(take_first, &(struct operation){.thread = t, .op = op});
    return t->engine != NULL;
}

/*
 * Not for a lock that was ever shared: its cell lacks releases and repeated acquires of shared
 * holders. Only operations that pass through the engine are sure to be numbered after those.
 */
bool tms_rt_lock_fast_path(struct tms_rt_thread *t, struct tms_op *op)
{
    const struct tms_frontier_cells *locks = &tms_rt_engine.cells[TMS_PLACE_LOCK];

    if (t->engine == NULL || (op->kind != TMS_OP_ACQUIRE && op->kind != TMS_OP_RELEASE)) {
        return false;
    }
    struct tms_frontier_cell *cell = &locks->cell[op->target];
    assert(op->target > 0 && op->target < TMS_RT_IDS_MOST);
    bool known = implied(t->engine, cell->write);
    if (shared_locks[op->target] != 0 || (!known && !tms_rt_edge_is_irrelevant(cell->write))) {
        return false;
    }
    op->thread = t->index;
    op->event = tms_rt_next_number_after(t, known ? 0 : moment_event(cell->write));
    if (!known) {
        t->engine->in[moment_slot(cell->write)] = cell->write | MOMENT_KIND_MASK;
    }
    assert(cell->write == 0 || moment_event(cell->write) < op->event);
    cell->write = moment_here(t->engine, op);
    locks->place[op->target].at[WRITE] = op->location;
    tms_rt_note(t, op);
    return true;
}

void tms_rt_lock_is_shared(uint32_t id)
{
    assert(id > 0 && id < TMS_RT_IDS_MOST);
    __atomic_store_n(&shared_locks[id], 1, __ATOMIC_RELEASE);
}

uint64_t tms_rt_lock_used(uint32_t id)
{
    uint64_t moment = tms_rt_engine.cells[TMS_PLACE_LOCK].cell[id].write;

    assert(id < TMS_RT_IDS_MOST);
    return is_several(moment) ? 0 : moment_event(moment);
}

/* The last operation on a lock, whose number may not have come from the engine. */
static uint64_t lock_source(const struct tms_op *op)
{
    bool lock = op->kind >= TMS_OP_ACQUIRE && op->kind <= TMS_OP_SHARED_RELEASE;

    return lock ? tms_rt_lock_used(op->target) : 0;
}

static void operate(void *argument)
{
    static struct tms_op ops[1 + TMS_OPS_AHEAD]; /* under the lock */
    const struct operation *operation = argument;
    struct tms_rt_thread *t = operation->thread;
    struct tms_op *op = operation->op;
    uint64_t source = operation->source;
    struct tms_frontier *f = &tms_rt_engine;
    bool first = t->engine == NULL;

    if (!tms_rt_mode.checks) { /* the engine may not know the block that ends here */
        return;
    }
    op->thread = t->index;
    tms_rt_mutex_lock(&tms_rt_engine_lock);
    if (op->kind == TMS_OP_SHARED_ACQUIRE) {
        shared_locks[op->target] = 1;
    }
    if (first) {
        op->flags |= TMS_OP_FIRST;
        newcomer = t;
        if (tms_frontier_need_id(f, t->index)) {
            uint64_t fork = moment_event(f->forks[t->index].moment);
            source = fork > source ? fork : source;
        }
    } else if (op->kind == TMS_OP_END) {
        open_transaction(t);
    }
    uint64_t before = lock_source(op);
    op->event = tms_rt_next_global_number(t, before > source ? before : source);
    if (f->failed == TMS_OK) {
        ops[0] = *op;
        tms_frontier_take(f, ops, 1);
        t->engine = f->failed == TMS_OK ? f->by_id[t->index] : t->engine;
    }
    assert(t->engine == NULL || t->engine->id == t->index || f->failed != TMS_OK);
    if (t->engine != NULL) {
        if (first) {
            settle_in(t);
        }
        t->engine->nesting.depth = 0;
        if (op->kind == TMS_OP_BEGIN || op->kind == TMS_OP_END) {
            tms_rt_publish_begin(t, t->engine->begin);
        }
        note_closing(t);
        tms_rt_refresh_filter(t);
    }
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

void tms_rt_operate(struct tms_rt_thread *t, struct tms_op *op, uint64_t source)
{
    tms_rt_call_deep(operate, &(struct operation){t, op, source});
}

/* Mapped at its maximum size, so that a lock's holder finds its cell without a lock of ours. */
static bool make_cells(struct tms_frontier_cells *cells)
{
    cells->cell = tms_rt_map(TMS_RT_IDS_MOST * sizeof(*cells->cell));
    cells->place = tms_rt_map(TMS_RT_IDS_MOST * sizeof(*cells->place));
    cells->capacity = cells->place_capacity = TMS_RT_IDS_MOST;
    return cells->cell != NULL && cells->place != NULL;
}

/*
 * The engine's tables by thread have an entry for every thread ever: reserved at once, so that the
 * entries of threads that have ended can be released page by page.
 */
static bool make_thread_tables(struct tms_frontier *f)
{
    f->by_id = tms_rt_map(TMS_RT_THREADS_EVER * sizeof(*f->by_id));
    f->forks = tms_rt_map(TMS_RT_THREADS_EVER * sizeof(*f->forks));
    f->id_capacity = f->fork_capacity = TMS_RT_THREADS_EVER;
    return f->by_id != NULL && f->forks != NULL;
}

static void give_back(void *table, size_t from, size_t to)
{
    const size_t page = 4096;

    from = (from + page - 1) & ~(page - 1);
    to = to & ~(page - 1);
    if (to > from) {
        assert(from % page == 0 && to % page == 0);
        madvise((char *)table + from, to - from, MADV_DONTNEED);
    }
}

void tms_rt_forget_threads(uint32_t from, uint32_t to)
{
    struct tms_frontier *f = &tms_rt_engine;

    assert(0 < from && from <= to && to <= f->id_capacity);
    tms_rt_mutex_lock(&tms_rt_engine_lock);
    give_back(f->by_id, from * sizeof(*f->by_id), to * sizeof(*f->by_id));
    give_back(f->forks, from * sizeof(*f->forks), to * sizeof(*f->forks));
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

static const struct tms_frontier_port port = {
    .begin = tms_rt_ring_begin,
    .end = tms_rt_ring_end,
    .find = tms_rt_ring_find,
    .violation = tms_rt_take_violation,
    .fail = fail,
    .renewed = renewed,
    .wake_source = wake_source,
    .wake = wake,
    .may_reuse = may_reuse,
    .memory = &tms_rt_allocator,
};

bool tms_rt_engine_start(bool blame)
{
    struct tms_frontier *f = &tms_rt_engine;

    memset(f, 0, sizeof(*f));
    memory = (struct tms_memory)TMS_RT_MEMORY;
    memset(tms_rt_by_slot, 0, sizeof(tms_rt_by_slot));
    tms_rt_mutex_restart(&tms_rt_engine_lock);
    shared_locks = tms_rt_map(TMS_RT_IDS_MOST);
    assert(tms_rt_mode.checks == false || tms_rt_self != NULL); /* at the start, or after a fork */
    return shared_locks != NULL && tms_frontier_set_up(f, &port, NULL, &memory, blame) == TMS_OK &&
           tms_frontier_limit_slots(f, TMS_RT_SLOTS_MOST) == TMS_OK &&
           tms_log_start(f, &f->forgotten) && make_thread_tables(f) &&
           make_cells(&f->cells[TMS_PLACE_LOCK]) && make_cells(&f->cells[TMS_PLACE_BARRIER]);
}

/* The caller holds the lock. */
static void count(struct tms_spool_header *header)
{
    const struct tms_frontier *f = &tms_rt_engine;

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    if (header != NULL) {
        header->first_violation = f->first_violation;
        header->closing_edges = f->closing_edges;
        header->edges = f->edges_seen;
        header->memory = memory.peak;
    }
}

void tms_rt_engine_count(void)
{
    tms_rt_mutex_lock(&tms_rt_engine_lock);
    count(tms_rt_spool_header());
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

void tms_rt_engine_settle(void)
{
    struct tms_frontier *f = &tms_rt_engine;

    /* The holder may be this very thread, stopped by a fatal signal. */
    if (!tms_rt_mutex_lock_soon(&tms_rt_engine_lock)) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return;
    }
    for (uint32_t slot = FIRST_SLOT; slot < f->slot_count; slot++) {
        tms_frontier_settle(f, f->threads[slot]);
    }
    count(tms_rt_spool_header());
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}
