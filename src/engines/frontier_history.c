/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which transaction does a moment of a trace belong to? The checks never ask; a witness does, and
 * wants its begin and its label. Each thread keeps its past transactions, and forgets them in two
 * ways when there are twice as many as were left the last time, so that memory does not grow
 * with the trace and the cost per transaction stays constant:
 *   - what ended before the earliest moment of the thread that a running transaction reaches
 *     can't be the source of an edge that matters; usually that is nearly all;
 *   - if much is left, because some long transaction reaches back far, a sweep over all cells
 *     finds the transactions to which a recorded moment still leads, and drops the others.
 */
#include "engines/frontier_history.h"

#include <assert.h>

#define HISTORY_LEAST 32

static struct tms_frontier_past *past_of(const struct tms_frontier_history *history, uint64_t event)
{
    size_t low = 0;
    size_t high = history->count;

    if (high > 0 && history->past[high - 1].begin <= event) {
        low = high; /* the last one, as nearly always */
    }
    while (low < high) { /* the first that begins after the event */
        size_t middle = low + (high - low) / 2;
        if (history->past[middle].begin <= event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    assert(low <= history->count && (low == history->count || event < history->past[low].begin));
    return low > 0 && event <= history->past[low - 1].end ? &history->past[low - 1] : NULL;
}

struct tms_transaction tms_frontier_history_find(const struct tms_frontier_thread *t,
                                                 uint64_t event, uint32_t place)
{
    const struct tms_frontier_past *past = past_of(&t->history, event);

    if (past == NULL) {
        return (struct tms_transaction){
            .begin_event = event, .thread = t->id, .location = place, .unary = true};
    }
    return (struct tms_transaction){.begin_event = past->begin,
                                    .thread = t->id,
                                    .label = past->label,
                                    .location = past->location};
}

/* ---- forgetting ------------------------------------------------------------------------- */

static void drop_unreached(struct tms_frontier *f, struct tms_frontier_thread *t)
{
    struct tms_frontier_history *history = &t->history;
    uint64_t least = f->graph.least[t->slot];
    size_t kept = 0;

    if (f->blame && f->order.least[t->slot] < least) {
        least = f->order.least[t->slot];
    }
    for (size_t i = 0; i < history->count; i++) {
        if (history->past[i].end >= least) {
            history->past[kept++] = history->past[i];
        }
    }
    assert(kept <= history->count);
    history->count = kept;
}

static void mark(struct tms_frontier *f, uint64_t moment)
{
    if (moment != 0) {
        assert(moment_slot(moment) >= FIRST_SLOT && moment_slot(moment) < f->slot_count);
        struct tms_frontier_past *past =
            past_of(&f->threads[moment_slot(moment)]->history, moment_event(moment));
        if (past != NULL) {
            past->kept = 1;
        }
    }
}

static void mark_readers(struct tms_frontier *f, uint64_t read)
{
    if (!is_several(read)) {
        mark(f, read);
        return;
    }
    for (uint32_t number = moment_node(read); number != 0; number = reader_node(f, number)->next) {
        for (int i = 0; i < NODE_READERS; i++) {
            mark(f, reader_node(f, number)->moment[i]);
        }
    }
}

static void mark_cells(struct tms_frontier *f, const struct tms_frontier_cells *cells)
{
    for (size_t i = 0; i < cells->capacity; i++) {
        mark(f, cells->cell[i].write);
        mark_readers(f, cells->cell[i].read);
    }
}

static void drop_unmarked(struct tms_frontier_history *history)
{
    size_t kept = 0;

    for (size_t i = 0; i < history->count; i++) {
        /* The last one may still be written to, and holds the moment that a join comes from. */
        if (history->past[i].kept || i + 1 == history->count) {
            history->past[kept] = history->past[i];
            history->past[kept++].kept = 0;
        }
    }
    assert(kept > 0 || history->count == 0);
    history->count = kept;
    history->limit = 2 * kept + HISTORY_LEAST;
}

static void sweep(struct tms_frontier *f)
{
    f->sweeps++;
    for (int i = 0; i < TMS_PLACES; i++) {
        mark_cells(f, &f->cells[i]);
    }
    for (size_t i = 0; i < f->fork_capacity; i++) {
        mark(f, f->forks[i].moment);
    }
    for (uint32_t slot = FIRST_SLOT; slot < f->slot_count; slot++) {
        drop_unmarked(&f->threads[slot]->history);
    }
}

/* So many more transactions must have come that a sweep over all cells is paid for. */
static size_t sweep_after(const struct tms_frontier *f)
{
    return (f->cells[TMS_PLACE_VARIABLE].capacity + f->cells[TMS_PLACE_LOCK].capacity +
            f->fork_capacity) /
               4 +
           HISTORY_LEAST;
}

/* Apart from the way of nearly all transactions, which is short. */
static __attribute__((noinline)) void forget_some(struct tms_frontier *f,
                                                  struct tms_frontier_thread *t)
{
    struct tms_frontier_history *history = &t->history;

    drop_unreached(f, t);
    if (2 * history->count >= history->limit && history->count >= sweep_after(f)) {
        sweep(f);
    }
    history->limit = 2 * history->count + HISTORY_LEAST;
}

bool tms_frontier_history_begin(struct tms_frontier *f, struct tms_frontier_thread *t,
                                const struct tms_op *op)
{
    struct tms_frontier_history *history = &t->history;

    if (history->count >= history->limit) {
        forget_some(f, t);
    }
    if (!TMS_RESERVE(f->memory, &history->past, &history->capacity, history->count + 1,
                     HISTORY_LEAST)) {
        return false;
    }
    assert(history->count == 0 || history->past[history->count - 1].end <= op->event);
    history->past[history->count++] = (struct tms_frontier_past){
        .begin = op->event, .end = TMS_NEVER, .label = op->target, .location = op->location};
    return true;
}

void tms_frontier_history_end(struct tms_frontier_thread *t, uint64_t event)
{
    assert(t->history.count > 0 && t->history.past[t->history.count - 1].end == TMS_NEVER);
    assert(t->history.past[t->history.count - 1].begin <= event);
    t->history.past[t->history.count - 1].end = event;
}
