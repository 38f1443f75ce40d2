/* SPDX-License-Identifier: Apache-2.0 */
/* Edges and races; see race_edges.h. */
#include "runtime/shadow/race_edges.h"

#include <assert.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/shadow/races.h"

/* The site of a word's event, looked up in the log of its thread. */
static uint32_t find_place(const struct tms_frontier *f, uint64_t moment, const struct tms_op *op)
{
    const struct tms_frontier_thread *u = f->threads[moment_slot(moment)];
    uint64_t event = moment_event(moment);
    uint64_t first = tms_log_first(&u->log);
    uint64_t i = tms_log_find(&u->log, event) + 1;

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock) && u != NULL);
    for (int tries = 0; i > first && tries < 64; tries++) {
        const struct tms_op *entry = log_at(&u->log, --i);
        if (entry->event <= event && entry->target == op->target &&
            (entry->spared | op->spared) != TMS_OP_SPARES_ALL &&
            tms_event_class(entry->event_kind) == TMS_CLASS_VARIABLE) {
            return entry->location;
        }
    }
    return 0;
}

static uint8_t edge_kind(uint64_t word, const struct tms_rt_word_access *a)
{
    if ((word & WORD_WRITE) == 0) {
        return TMS_EDGE_READ_WRITE;
    }
    return (a->kind & WORD_WRITE) == 0 ? TMS_EDGE_WRITE_READ : TMS_EDGE_WRITE_WRITE;
}

struct meeting {
    struct tms_rt_thread *thread;
    const struct tms_rt_unpacked *cell;
    const struct tms_rt_word_access *access;
    struct tms_op op;
    bool raced;
};

static void report_race(const struct meeting *meeting, uint64_t word)
{
    const struct tms_rt_word_access *a = meeting->access;
    uint32_t place = find_place(&tms_rt_engine, moment_of(word), &meeting->op);

    assert((a->bytes & word & WORD_BYTES) != 0);
    tms_rt_race(&(struct tms_rt_race){
        .address = a->address,
        .bytes = (uint8_t)(a->bytes & word),
        .first = {.thread = tms_rt_engine.threads[word_slot(word)]->id,
                  .event = word_event(word),
                  .site = place,
                  .kind = tms_rt_access_names[access_of(word)].event,
                  .atomic = (word & WORD_ATOMIC) != 0},
        .second = {.thread = meeting->thread->index,
                   .event = meeting->op.event,
                   .site = a->site,
                   .kind = meeting->op.event_kind,
                   .atomic = (a->kind & WORD_ATOMIC) != 0},
    });
}

static void add_edges(void *argument)
{
    struct meeting *meeting = argument;
    struct tms_rt_thread *t = meeting->thread;
    const struct tms_rt_word_access *a = meeting->access;
    const struct tms_rt_unpacked *cell = meeting->cell;
    uint64_t latest = 0;

    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t event = conflicts(t, cell->word[i], a) ? word_event(cell->word[i]) : 0;
        latest = latest < event ? event : latest;
    }
    tms_rt_mutex_lock(&tms_rt_engine_lock);
    meeting->op.event = tms_rt_next_global_number(t, latest);
    for (uint32_t i = 0; i < cell->count; i++) {
        uint64_t word = cell->word[i];
        if (is_race(t, word, a)) {
            meeting->raced = true;
            if (!tms_rt_clock_knows(t, word_slot(word), word_event(word))) {
                report_race(meeting, word);
            }
        }
        /*
         * To the engine only, never into the clocks (t->seen): a race ends no epoch of the other
         * thread, which may go on to repeat accesses whose words are dated before the race. A clock
         * that knows of the race would take these for ordered (docs/internals/runtime.md,
         * "Exactness").
         */
        if (makes_edge(t, word, a)) {
            tms_rt_add_edge(t, &meeting->op,
                            (struct tms_frontier_source){.moment = moment_of(word),
                                                         .kind = edge_kind(word, a),
                                                         .find_place = find_place});
        }
    }
    assert(meeting->op.event > latest && meeting->op.event == t->number);
    tms_rt_refresh_filter(t);
    tms_rt_mutex_unlock(&tms_rt_engine_lock);
}

bool tms_rt_add_access_edges(struct tms_rt_thread *t, const struct tms_rt_unpacked *cell,
                             const struct tms_rt_word_access *a, uint64_t *event)
{
    struct meeting meeting = {.thread = t, .cell = cell, .access = a};

    fill_in(t, a, &meeting.op);
    t->coalesce_epoch++;
    tms_rt_call_deep(add_edges, &meeting);
    tms_rt_note(t, &meeting.op);
    *event = meeting.op.event;
    return meeting.raced;
}
