/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the transaction of an event for the engine (frontier/frontier_port.h), here in a ring
 * buffer per thread. The thread writes to it without a lock; others read under the engine's. An
 * entry counts only if it is complete: `end` is written last. A reader can see a torn entry only if
 * it is descheduled while the writer runs RING transactions.
 */
#include <assert.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/thread.h"
#include "runtime/core/transaction_ring.h"

#define RING 65536u /* transactions; reserved, mapped on demand */

static inline struct tms_frontier_past *entry(const struct tms_frontier_history *history,
                                              uint64_t number)
{
    return &history->past[number % RING];
}

static bool need_ring(struct tms_frontier_history *history)
{
    if (history->past == NULL) {
        history->past = tms_rt_map(RING * sizeof(*history->past));
    }
    return history->past != NULL;
}

static inline void add_past(struct tms_frontier_history *history, uint64_t begin, uint32_t label,
                            uint32_t site)
{
    struct tms_frontier_past *past = entry(history, history->count);

    assert(past != NULL && begin > 0);
    assert(history->count == 0 || entry(history, history->count - 1)->begin < begin);
    past->begin = begin;
    past->end = TMS_NEVER;
    past->label = label;
    past->location = site;
    __atomic_store_n(&history->count, history->count + 1, __ATOMIC_RELEASE);
}

bool tms_rt_ring_begin(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op)
{
    (void)f;
    if (!need_ring(&t->history)) {
        return false;
    }
    add_past(&t->history, op->event, op->target, op->location);
    return true;
}

void tms_rt_ring_end(struct tms_frontier_thread *t, uint64_t event)
{
    assert(t->history.count > 0 && entry(&t->history, t->history.count - 1)->begin <= event);
    entry(&t->history, t->history.count - 1)->end = event;
}

/* The last transaction that begins at or before the event, if it contains the event. */
static const struct tms_frontier_past *find(const struct tms_frontier_history *history,
                                            uint64_t event, bool *forgotten)
{
    uint64_t count = __atomic_load_n(&history->count, __ATOMIC_ACQUIRE);
    uint64_t oldest = count > RING ? count - RING + 1 : 0;
    uint64_t low = oldest, high = count;

    *forgotten = false;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (entry(history, middle)->begin <= event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == oldest) {
        *forgotten = oldest > 0;
        return NULL;
    }
    assert(oldest < low && low <= count);
    const struct tms_frontier_past *past = entry(history, low - 1);
    return event <= past->end ? past : NULL;
}

struct tms_transaction tms_rt_ring_find(const struct tms_frontier_thread *t, uint64_t event,
                                        uint32_t place)
{
    bool forgotten;
    const struct tms_frontier_past *past = find(&t->history, event, &forgotten);

    if (past == NULL) {
        return (struct tms_transaction){
            .begin_event = event, .thread = t->id, .location = place, .unary = !forgotten};
    }
    return (struct tms_transaction){.begin_event = past->begin,
                                    .thread = t->id,
                                    .label = past->label,
                                    .location = past->location};
}

/*
 * ---- transactions that only their thread knows ------------------------------------------
 */

static inline void run_from(struct tms_rt_thread *t, uint64_t begin)
{
    assert(begin <= t->number);
    t->running_from = begin;
    atomic_store_explicit(&t->running, begin, memory_order_release);
}

void tms_rt_publish_begin(struct tms_rt_thread *t, uint64_t begin)
{
    run_from(t, begin);
}

/*
 * Like tms_rt_refresh_filter, for a transaction without edges that begins or ends with this event.
 */
static inline void refresh_filter_locally(struct tms_rt_thread *t, uint64_t event)
{
    start_stretch(t->engine, event);
    t->stretch = t->word_base | event << WORD_EVENT;
    t->stretch_span = tms_rt_mode.full ? 0 : (UINT64_C(1) << WORD_SLOT) - (event << WORD_EVENT);
}

/* Called with the thread's first transaction. */
static __attribute__((noinline)) bool make_room(struct tms_rt_thread *t)
{
    if (!need_ring(&t->engine->history)) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return false;
    }
    return true;
}

/*
 * Nearly all transactions have no edges and need no row in the matrices. So a transaction begins as
 * a number in its thread. It gets its row with its first incoming or outgoing edge.
 */
void tms_rt_begin_locally(struct tms_rt_thread *t, uint32_t label, uint32_t site)
{
    struct tms_frontier_thread *e = t->engine;

    assert(e != NULL && t->running_from == 0);
    assert(atomic_load(&t->unopened) == 0);
    if (e->history.past == NULL && !make_room(t)) {
        return;
    }
    struct tms_op *op = tms_rt_next_note(t);
    uint64_t event = tms_rt_next_number(t);
    *op = (struct tms_op){.event = event,
                          .thread = t->index,
                          .target = label,
                          .location = site,
                          .event_kind = TMS_EVENT_BEGIN,
                          .kind = TMS_OP_BEGIN,
                          .flags = TMS_OP_IN_BLOCK};
    add_past(&e->history, event, label, site);
    run_from(t, event);
    refresh_filter_locally(t, event);
    e->log.begun = log_written(&e->log);
    tms_rt_noted(t);
    atomic_store_explicit(&t->unopened, event, memory_order_release);
}

static __attribute__((noinline)) void note_end(struct tms_rt_thread *t, uint32_t label,
                                               uint32_t site)
{
    struct tms_op op = {.event = t->number,
                        .thread = t->index,
                        .target = label,
                        .location = site,
                        .event_kind = TMS_EVENT_END,
                        .kind = TMS_OP_END,
                        .flags = TMS_OP_IN_BLOCK};

    tms_rt_ring_end(t->engine, op.event);
    tms_rt_note(t, &op);
}

/*
 * Most transactions without edges add no events either: their begin is the last entry of the log.
 * It is removed as if there had been no transaction. Concurrent readers of log and ring look for
 * earlier events.
 */
static inline void forget_idle(struct tms_rt_thread *t)
{
    struct tms_frontier_history *history = &t->engine->history;

    assert(history->count > 0 && entry(history, history->count - 1)->end == TMS_NEVER);
    t->engine->log.next--;
    __atomic_store_n(&history->count, history->count - 1, __ATOMIC_RELEASE);
}

/*
 * The exchange is needed although a conflict is rare: another thread may be opening the transaction
 * at this moment, for an edge out of it. One of the two must learn that it came too late, or the
 * transaction's row would never be closed.
 */
bool tms_rt_end_locally(struct tms_rt_thread *t, uint32_t label, uint32_t site)
{
    uint64_t begin = atomic_load_explicit(&t->unopened, memory_order_relaxed);

    if (begin == 0 || !atomic_compare_exchange_strong(&t->unopened, &begin, 0)) {
        return false;
    }
    assert(begin == t->running_from);
    tms_rt_next_number(t);
    if (t->engine->log.next[-1].event == begin) {
        forget_idle(t);
    } else {
        note_end(t, label, site);
    }
    t->engine->log.begun = TMS_NEVER;
    run_from(t, 0);
    refresh_filter_locally(t, t->number);
    return true;
}
