/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds to fasttrack's reports the blocks that the two accesses were in.
 *
 * Each slot keeps the stretches of its past, in blocks and outside. When there are many more of
 * them than were left the last time, a sweep over all cells keeps those that contain a recorded
 * access. So memory does not grow with the trace, and the amortized cost per block is constant.
 */
#include <assert.h>

#include "engines/fasttrack.h"

#define LEAST_PAST 32

static struct tms_fasttrack_stretch *find(const struct tms_fasttrack_thread *t, uint64_t event)
{
    size_t low = 0, high = t->past_count;

    while (low < high) { /* the first that starts after the event */
        size_t middle = low + (high - low) / 2;
        if (t->past[middle].start <= event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    assert(low > 0);
    return &t->past[low - 1];
}

/* ---- sweeping --------------------------------------------------------------------------- */

static void mark(struct tms_fasttrack *f, uint64_t epoch)
{
    if (epoch != 0) {
        assert(epoch_slot(epoch) != NO_SLOT && epoch_slot(epoch) < f->slot_count);
        find(f->threads[epoch_slot(epoch)], epoch_event(epoch))->needed = true;
    }
}

static void mark_several(struct tms_fasttrack *f, uint32_t number)
{
    const uint64_t *row = tms_clocks_at(&f->reads, number);

    assert(number != 0);
    for (uint32_t slot = 1; slot < f->slot_count; slot++) {
        mark(f, row[2 * slot]);
    }
}

static size_t keep_needed(struct tms_fasttrack_thread *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->past_count; i++) {
        if (t->past[i].needed || i + 1 == t->past_count) {
            t->past[kept] = t->past[i];
            t->past[kept++].needed = false;
        }
    }
    assert(kept > 0 || t->past_count == 0);
    t->past_count = kept;
    return kept;
}

static void mark_atomics(struct tms_fasttrack *f)
{
    for (size_t i = 0; i < f->atomic_capacity; i++) {
        if (f->atomics[i].writes != 0) {
            mark_several(f, f->atomics[i].reads);
            mark_several(f, f->atomics[i].writes);
        }
    }
}

static void sweep(struct tms_fasttrack *f)
{
    for (size_t i = 0; i < f->cell_capacity; i++) {
        mark(f, f->cells[i].write);
        if (is_several(f->cells[i].read)) {
            mark_several(f, (uint32_t)f->cells[i].read);
        } else {
            mark(f, f->cells[i].read);
        }
    }
    mark_atomics(f);
    f->past_count = 0;
    for (uint32_t slot = 1; slot < f->slot_count; slot++) {
        f->past_count += keep_needed(f->threads[slot]);
    }
    f->past_most = 2 * f->past_count + f->cell_capacity + PAST_LEAST_SWEPT;
    f->sweeps++;
}

/* ---- stretches -------------------------------------------------------------------------- */

static bool add(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                const struct tms_fasttrack_stretch *stretch)
{
    if (f->past_count >= f->past_most) {
        sweep(f);
    }
    if (!TMS_RESERVE(f->memory, &t->past, &t->past_capacity, t->past_count + 1, LEAST_PAST)) {
        tms_host_fail(f->host, TMS_ERR_MEMORY);
        return false;
    }
    assert(t->past_count == 0 || t->past[t->past_count - 1].start <= stretch->start);
    t->past[t->past_count++] = *stretch;
    f->past_count++;
    return true;
}

bool tms_fasttrack_enter(struct tms_fasttrack *f, struct tms_fasttrack_thread *t,
                         const struct tms_op *op)
{
    const struct tms_fasttrack_stretch block = {
        .start = op->event, .thread = op->thread, .label = op->target, .location = op->location};

    return add(f, t, &block);
}

bool tms_fasttrack_leave(struct tms_fasttrack *f, struct tms_fasttrack_thread *t, uint64_t start)
{
    const struct tms_fasttrack_stretch outside = {.start = start, .thread = t->id, .outside = true};

    return add(f, t, &outside);
}

static struct tms_transaction transaction_of(const struct tms_fasttrack *f, uint64_t epoch,
                                             uint32_t place)
{
    const struct tms_fasttrack_stretch *stretch =
        find(f->threads[epoch_slot(epoch)], epoch_event(epoch));

    return (struct tms_transaction){
        .begin_event = stretch->outside ? epoch_event(epoch) : stretch->start,
        .thread = stretch->thread,
        .label = stretch->label,
        .location = stretch->outside ? place : stretch->location,
        .unary = stretch->outside,
    };
}

/* ---- races ------------------------------------------------------------------------------ */

static inline bool is_atomic(uint8_t kind)
{
    return kind == TMS_EVENT_UPDATE ||
           (kind >= TMS_EVENT_ATOMIC_READ && kind <= TMS_EVENT_ATOMIC_UPDATE);
}

static void report(struct tms_fasttrack *f, const struct tms_op *op, const struct tms_step *step)
{
    const struct tms_turn schedule[] = {
        {.event = step->first_event,
         .thread = step->from.thread,
         .target = op->target,
         .location = step->first_location,
         .kind = step->first_kind,
         .role = "first access"},
        {.event = op->event,
         .thread = op->thread,
         .target = op->target,
         .location = op->location,
         .kind = step->second_kind,
         .role = "second access"},
    };
    bool is_unknown = step->first_kind == TMS_EVENT_UPDATE || step->second_kind == TMS_EVENT_UPDATE;
    const struct tms_violation violation = {
        .kind = "race",
        .evidence = TMS_EVIDENCE_PREDICTED,
        .event = op->event,
        .thread = op->thread,
        .transaction = step->to,
        .cycle = step,
        .cycle_length = 1,
        .schedule = schedule,
        .schedule_length = sizeof(schedule) / sizeof(schedule[0]),
        .caveat =
            is_unknown
                ? "one access is an atomic read-modify-write, and the trace doesn't distinguish "
                  "atomic loads and stores from plain ones: if the other is atomic too, this "
                  "is no race"
                : NULL,
    };
    tms_host_violation(f->host, &violation);
}

/*
 * Of each variable the first race of each kind is reported, unless all are wanted: on a variable
 * without a lock, every access may be one.
 */
void tms_fasttrack_race(struct tms_fasttrack *f, const struct tms_op *op, uint64_t epoch,
                        uint64_t access, enum tms_edge_kind kind)
{
    uint32_t place = (uint32_t)access;
    uint8_t *reported = &f->reported[op->target];
    uint8_t bit = (uint8_t)(1u << kind);

    assert(epoch_event(epoch) < op->event && !happened_before(f->by_id[op->thread], epoch));
    f->host->closing_edges++;
    tms_host_first(f->host, op->event);
    f->racy += *reported == 0;
    if ((*reported & bit) != 0 && !f->host->settings->all) {
        return;
    }
    *reported |= bit;
    const struct tms_step step = {
        .from = transaction_of(f, epoch, place),
        .to = transaction_of(f, epoch_of(f->by_id[op->thread]->slot, op->event), op->location),
        .first_event = epoch_event(epoch),
        .second_event = op->event,
        .first_location = place,
        .second_location = op->location,
        .on = op->target,
        .on_class = TMS_CLASS_VARIABLE,
        .kind = (uint8_t)kind,
        .first_kind = (uint8_t)(access >> 32),
        .second_kind = (uint8_t)fasttrack_kind(op),
    };
    assert(step.from.thread != step.to.thread);
    assert(!is_atomic(step.first_kind) || !is_atomic(step.second_kind));
    report(f, op, &step);
}
