/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frontier engine inside the program: the same matrices, logs and witnesses that check a
 * trace (engine/frontier.h), with the cells of variables in shadow memory.
 *
 * Numbers of events are clocks of the threads, because a counter for all would cost more than
 * all the rest. A thread counts its own events; an event that meets another thread's, or passes
 * through the engine for another reason, gets a number beyond those of all others that did so
 * before, under the engine's lock. So of two events that conflict the earlier has the smaller
 * number, which is all that the engine asks of them, and events that may close a cycle are
 * numbered in the order in which they happened.
 */
#include "memory.h"
#include "shadow.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOTS_MOST 1023u

struct tms_rt_mutex tms_rt_engine_lock;
struct frontier tms_rt_engine;
bool tms_rt_checks, tms_rt_records, tms_rt_full;

static struct tms_rt_thread *by_slot[SLOTS_MOST + 1];
static struct tms_host host;
static struct tms_settings settings;
static _Atomic uint64_t latest;

/* ---- numbers ---------------------------------------------------------------------------- */

uint64_t tms_rt_now(void)
{
    return atomic_load_explicit(&latest, memory_order_relaxed);
}

uint64_t tms_rt_meet(struct tms_rt_thread *t, uint64_t source)
{
    uint64_t before = atomic_load_explicit(&latest, memory_order_relaxed), number;

    source = source > t->number ? source : t->number;
    do {
        number = (before > source ? before : source) + 1;
    } while (!atomic_compare_exchange_weak(&latest, &before, number));
    if (number > WORD_EVENT_MOST) {
        tms_rt_lose(TMS_SPOOL_LOST_SIZE);
    }
    t->number = number;
    t->events_seen++;
    return number;
}

void tms_rt_pass(struct tms_rt_thread *t)
{
    tms_rt_meet(t, 0);
    t->events_seen--;
}

void tms_rt_yield(void)
{
    syscall(SYS_sched_yield);
}

/* ---- the engine ------------------------------------------------------------------------- */

/* New memory in between? Asked about whole pages, so the answer is "maybe" more often than due. */
static bool renewed(const struct frontier *f, const struct tms_op *first,
                    const struct tms_op *second)
{
    (void)f;
    (void)second;
    return tms_event_class(first->event_kind) == TMS_CLASS_VARIABLE &&
           tms_rt_word_renewed(first->target) >= first->event;
}

bool tms_rt_check_start(bool blame)
{
    struct frontier *f = &tms_rt_engine;

    memset(f, 0, sizeof(*f));
    host = (struct tms_host){.settings = &settings};
    settings = (struct tms_settings){.blame = blame};
    memset(by_slot, 0, sizeof(by_slot));
    f->renewed = renewed;
    atomic_store(&tms_rt_engine_lock.state, 0);
    return tms_frontier_set_up(f, &host) == TMS_OK &&
           tms_frontier_limit_slots(f, SLOTS_MOST) == TMS_OK && tms_log_start(f, &f->forgotten);
}

void tms_rt_lose(unsigned loss)
{
    struct tms_spool_header *header = tms_rt_spool_header();

    if (header != NULL) {
        __atomic_fetch_or(&header->lost, loss, __ATOMIC_RELAXED);
    }
    tms_rt_checks = false; /* what is not seen whole is not looked at at all */
}

void tms_host_fail(struct tms_host *failing, int code)
{
    if (failing->failed == TMS_OK) {
        failing->failed = code;
        tms_rt_lose(code == TMS_ERR_LIMIT ? TMS_SPOOL_LOST_THREADS : TMS_SPOOL_LOST_MEMORY);
    }
}

void tms_rt_restretch(struct tms_rt_thread *t)
{
    const struct thread *e = t->engine;
    uint64_t event = moment_event(e->floor);

    t->floor = (uint64_t)e->slot << (WORD_SLOT - WORD_EVENT) | event;
    t->span = tms_rt_full ? 0 : (UINT64_C(1) << (WORD_SLOT - WORD_EVENT)) - event;
}

/* The nested blocks, as the engine wants them when somebody is to be blamed. */
static void lay_out_blocks(struct tms_rt_thread *t)
{
    struct tms_nesting *nesting = &t->engine->nesting;
    size_t depth = t->open_count > 1 ? t->open_count - 1 : 0;

    nesting->depth = 0;
    if (!settings.blame ||
        !TMS_RESERVE(&host.memory, &nesting->open, &nesting->capacity, depth, 8)) {
        return;
    }
    for (size_t i = 0; i < depth; i++) {
        const struct tms_rt_open *open = &t->open[i + 1];
        nesting->open[i].block = (struct tms_transaction){.begin_event = open->number,
                                                          .thread = t->index,
                                                          .label = open->label,
                                                          .location = open->site};
    }
    nesting->depth = depth;
}

/* ---- transactions that nobody knows of -------------------------------------------------- */

/*
 * Nearly all transactions meet nobody, and need no row in the matrices: nothing leads out of them
 * and nothing into them. So a transaction begins as a number in its thread. It gets its row when
 * the first edge comes into it, or when the first one leaves it.
 */
void tms_rt_begin_alone(struct tms_rt_thread *t, uint32_t label, uint32_t site)
{
    struct tms_op op = {.event = tms_rt_next_number(t),
                        .thread = t->index,
                        .target = label,
                        .location = site,
                        .event_kind = TMS_EVENT_BEGIN,
                        .kind = TMS_OP_BEGIN,
                        .flags = TMS_OP_IN_BLOCK};

    if (!tms_history_begin(&tms_rt_engine, t->engine, &op)) {
        tms_rt_lose(TMS_SPOOL_LOST_MEMORY);
        return;
    }
    start_stretch(t->engine, op.event);
    tms_rt_restretch(t);
    t->engine->log.begun = log_written(&t->engine->log);
    tms_rt_note(t, &op);
    atomic_store_explicit(&t->unopened, op.event, memory_order_release);
}

/*
 * The exchange is due although hardly ever anybody has looked: another thread may be opening the
 * transaction this very moment, for an edge out of it. One of the two must learn that it came too
 * late, or the transaction would have a row that nobody closes.
 */
bool tms_rt_end_alone(struct tms_rt_thread *t, uint32_t label, uint32_t site)
{
    uint64_t begin = atomic_load_explicit(&t->unopened, memory_order_relaxed);

    if (begin == 0 || !atomic_compare_exchange_strong(&t->unopened, &begin, 0)) {
        return false;
    }
    struct tms_op op = {.event = tms_rt_next_number(t),
                        .thread = t->index,
                        .target = label,
                        .location = site,
                        .event_kind = TMS_EVENT_END,
                        .kind = TMS_OP_END,
                        .flags = TMS_OP_IN_BLOCK};
    tms_history_end(t->engine, op.event);
    start_stretch(t->engine, op.event);
    tms_rt_restretch(t);
    t->engine->log.begun = TMS_NEVER;
    tms_rt_note(t, &op);
    return true;
}

/* Under the lock. */
static void open_transaction(struct tms_rt_thread *t)
{
    uint64_t begin = atomic_load_explicit(&t->unopened, memory_order_acquire);

    if (begin != 0 && atomic_compare_exchange_strong(&t->unopened, &begin, 0)) {
        tms_frontier_open(&tms_rt_engine, t->engine, begin);
    }
}

void tms_rt_open_source(uint32_t slot, uint64_t event)
{
    struct tms_rt_thread *u = by_slot[slot];
    uint64_t begin = u == NULL ? 0 : atomic_load_explicit(&u->unopened, memory_order_acquire);

    if (begin != 0 && begin <= event) {
        open_transaction(u);
    }
}

struct tms_rt_thread *tms_rt_of_index(uint32_t index)
{
    const struct frontier *f = &tms_rt_engine;
    const struct thread *e = index < f->id_capacity ? f->by_id[index] : NULL;

    return e == NULL || e->id != index ? NULL : by_slot[e->slot];
}

/* The first time that the running transaction is found in a cycle. */
static void note_closing(struct tms_rt_thread *t)
{
    if (!t->engine->pending.open) {
        t->closing = false;
    } else if (!t->closing) {
        t->closing = true;
        t->closing_count = t->held_count < TMS_SPOOL_HELD ? t->held_count : TMS_SPOOL_HELD;
        for (uint32_t i = 0; i < t->closing_count; i++) {
            t->closing_held[i] = (uintptr_t)t->held[i].lock;
        }
    }
}

void tms_rt_forget_slot(uint32_t slot)
{
    by_slot[slot] = NULL;
}

void tms_rt_turn_log(struct tms_rt_thread *t)
{
    tms_rt_mutex_lock(&tms_rt_engine_lock); /* others look for entries meanwhile */
    tms_log_turn(&tms_rt_engine, &t->engine->log);
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

void tms_rt_arrive(struct tms_rt_thread *t, const struct tms_op *op, struct source source,
                   struct cause cause)
{
    open_transaction(t);
    tms_rt_open_source(moment_slot(source.moment), moment_event(source.moment));
    lay_out_blocks(t);
    tms_frontier_arrive(&tms_rt_engine, t->engine, op, source, cause);
    t->engine->nesting.depth = 0;
    note_closing(t);
}

bool tms_rt_first(struct tms_rt_thread *t, struct tms_op *op)
{
    struct frontier *f = &tms_rt_engine;

    tms_rt_mutex_lock(&tms_rt_engine_lock);
    if (tms_frontier_need_id(f, t->index)) {
        op->event = tms_rt_meet(t, moment_event(f->forks[t->index].moment));
        t->engine = tms_frontier_first(f, op);
    }
    if (t->engine != NULL) {
        by_slot[t->engine->slot] = t;
        tms_rt_restretch(t);
    }
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
    return t->engine != NULL;
}

void tms_rt_operate(struct tms_rt_thread *t, struct tms_op *op, uint64_t source)
{
    static struct tms_op ops[1 + TMS_OPS_BEHIND]; /* under the lock */
    struct frontier *f = &tms_rt_engine;

    op->thread = t->index;
    tms_rt_mutex_lock(&tms_rt_engine_lock);
    if (t->engine == NULL) {
        op->flags |= TMS_OP_FIRST;
        if (tms_frontier_need_id(f, t->index)) {
            uint64_t fork = moment_event(f->forks[t->index].moment);
            source = fork > source ? fork : source;
        }
    } else {
        open_transaction(t);
        lay_out_blocks(t);
    }
    op->event = tms_rt_meet(t, source);
    if (host.failed == TMS_OK) {
        ops[0] = *op;
        tms_frontier_take(f, ops, 1);
        t->engine = host.failed == TMS_OK ? f->by_id[t->index] : t->engine;
    }
    if (t->engine != NULL) {
        by_slot[t->engine->slot] = t;
        t->engine->nesting.depth = 0;
        note_closing(t);
        tms_rt_restretch(t);
    }
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

void tms_rt_check_settle(void)
{
    struct frontier *f = &tms_rt_engine;
    struct tms_spool_header *header = tms_rt_spool_header();

    /* Who holds it may be a thread that a fatal signal has stopped: this one. */
    if (!tms_rt_mutex_lock_soon(&tms_rt_engine_lock)) {
        tms_rt_lose(TMS_SPOOL_LOST_MEMORY);
        return;
    }
    for (uint32_t slot = FIRST_SLOT; slot < f->slot_count; slot++) {
        tms_frontier_settle(f, f->threads[slot]);
    }
    if (header != NULL) {
        header->first_violation = host.first_violation_event;
        header->closing_edges = host.closing_edges;
        header->edges = f->edges_seen;
        header->memory = host.memory.peak;
    }
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}
