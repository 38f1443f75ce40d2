/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes violations to the spool: one record per static pattern, with a count. A pattern consists
 * of labels, kinds of conflict, and the instructions that conflict, but no addresses, threads or
 * numbers.
 */
#include <assert.h>
#include <string.h>

#include "base/hashtable.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/heap_blocks.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/sites.h"
#include "runtime/core/sync_objects.h"
#include "runtime/core/violations.h"
#include "runtime/shadow/variable_ids.h"
#include "runtime/spool/spool_writer.h"

#define PATTERNS 4096u /* further ones are counted, not listed */

struct pattern {
    uint64_t hash; /* 0: free */
    struct tms_spool_violation *record;
};

static struct pattern patterns[PATTERNS];
static uint32_t pattern_count;

void tms_rt_violations_restart(void)
{
    memset(patterns, 0, sizeof(patterns));
    pattern_count = 0;
}

static uint64_t pattern_of(const struct tms_violation *violation)
{
    uint64_t hash = tms_mix(1, violation->transaction.label);

    for (size_t i = 0; i < violation->cycle_length; i++) {
        const struct tms_step *step = &violation->cycle[i];
        hash = tms_mix(hash, step->from.label);
        hash = tms_mix(hash, (uint64_t)step->kind << 8 | step->on_class);
        hash = tms_mix(hash, tms_rt_site_pc(step->first_location));
        hash = tms_mix(hash, tms_rt_site_pc(step->second_location));
    }
    for (size_t i = 0; i < violation->refuted_count; i++) {
        hash = tms_mix(hash, violation->refuted[i].label);
    }
    return hash | 1;
}

struct tms_spool_transaction tms_rt_spooled(const struct tms_transaction *transaction)
{
    return (struct tms_spool_transaction){.begin = transaction->begin_event,
                                          .thread = transaction->thread,
                                          .label = transaction->label,
                                          .site = transaction->location,
                                          .unary = transaction->unary};
}

/* The bytes that both events touched, if the logs still have them. */
static uint8_t common_bytes(const struct tms_step *step)
{
    const struct tms_transaction *side[2] = {&step->from, &step->to};
    uint64_t event[2] = {step->first_event, step->second_event};
    uint8_t bytes = WORD_BYTES;

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    for (int i = 0; i < 2; i++) {
        const struct tms_frontier_thread *u = tms_rt_engine.by_id[side[i]->thread];
        uint64_t at = u == NULL ? 0 : tms_log_find(&u->log, event[i]);
        if (u == NULL || at >= log_written(&u->log)) {
            continue;
        }
        const struct tms_op *entry = log_at(&u->log, at);
        if (entry->event == event[i] && entry->target == step->on) {
            bytes &= (uint8_t)~entry->spared;
        }
    }
    return bytes != 0 ? bytes : WORD_BYTES;
}

static struct tms_spool_step spooled_step(const struct tms_step *step)
{
    struct tms_spool_step out = {.from = tms_rt_spooled(&step->from),
                                 .to = tms_rt_spooled(&step->to),
                                 .first = step->first_event,
                                 .second = step->second_event,
                                 .on = step->on,
                                 .first_site = step->first_location,
                                 .second_site = step->second_location,
                                 .on_class = step->on_class,
                                 .kind = step->kind,
                                 .first_kind = step->first_kind,
                                 .second_kind = step->second_kind};

    if (step->on_class == TMS_CLASS_LOCK || step->on_class == TMS_CLASS_BARRIER) {
        bool lock = step->on_class == TMS_CLASS_LOCK;
        out.on = tms_rt_object_address(lock ? TMS_RT_LOCK : TMS_RT_BARRIER, step->on);
    } else if (step->on_class == TMS_CLASS_VARIABLE) {
        uint8_t bytes = common_bytes(step);
        unsigned first = (unsigned)__builtin_ctz(bytes);
        out.on = tms_rt_variable_address(step->on) + first;
        out.size = (uint8_t)__builtin_popcount(bytes);
    }
    return out;
}

void tms_rt_spool_block(const struct tms_rt_heap_block *block, uintptr_t object, uint64_t number)
{
    struct tms_spool_heap *record = tms_rt_spool_record(TMS_SPOOL_HEAP, sizeof(*record));

    if (record != NULL) {
        record->address = block->start;
        record->size = block->size;
        record->object = object;
        record->number = number;
        record->site = block->site;
    }
}

void tms_rt_spool_heap(const struct tms_spool_step *steps, size_t count)
{
    struct tms_rt_heap_block block;

    for (size_t i = 0; i < count; i++) {
        if (steps[i].on_class != TMS_CLASS_THREAD && steps[i].on != 0 &&
            tms_rt_heap_find(steps[i].on, &block)) {
            tms_rt_spool_block(&block, 0, 0);
        }
    }
}

/* A violation to be written. */
struct spooling {
    const struct tms_violation *violation;
    struct tms_spool_violation *record; /* record to fill in; NULL: a new one */
};

static size_t record_bytes(const struct tms_violation *violation)
{
    return sizeof(struct tms_spool_violation) +
           violation->cycle_length * sizeof(struct tms_spool_step) +
           violation->refuted_count * sizeof(struct tms_spool_transaction);
}

static void fill(struct tms_spool_violation *record, const struct tms_violation *violation)
{
    size_t steps = violation->cycle_length, refuted = violation->refuted_count;
    struct tms_spool_step *step = (void *)(record + 1);
    struct tms_spool_transaction *block = (void *)(step + steps);

    assert(steps >= 2 && steps <= UINT32_MAX);
    for (size_t i = 0; i < steps; i++) {
        step[i] = spooled_step(&violation->cycle[i]);
    }
    for (size_t i = 0; i < refuted; i++) {
        block[i] = tms_rt_spooled(&violation->refuted[i]);
    }
    tms_rt_spool_heap(step, steps);
    const struct tms_rt_thread *closing = tms_rt_thread_of_index(violation->thread);
    if (closing != NULL) {
        record->held_count = closing->closing_count;
        memcpy(record->held, closing->closing_held, sizeof(record->held));
    }
    record->event = violation->event;
    record->thread = violation->thread;
    record->not_atomic = violation->not_atomic;
    record->transaction = tms_rt_spooled(&violation->transaction);
    record->steps = (uint32_t)steps;
    record->refuted = (uint32_t)refuted;
}

static void spool(void *argument)
{
    struct spooling *spooling = argument;

    if (spooling->record == NULL) {
        spooling->record =
            tms_rt_spool_record(TMS_SPOOL_VIOLATION, record_bytes(spooling->violation));
    }
    if (spooling->record != NULL) {
        fill(spooling->record, spooling->violation);
    }
}

/* The pattern, or the free place for it. */
static struct pattern *find_pattern(uint64_t hash)
{
    assert((hash & 1) == 1 && pattern_count <= PATTERNS / 2);
    return TMS_HASH_SLOT_OF(patterns, PATTERNS, hash);
}

int tms_rt_take_violation(struct tms_frontier *f, const struct tms_violation *violation)
{
    uint64_t hash = pattern_of(violation);
    struct pattern *pattern = find_pattern(hash);
    struct tms_spool_header *header = tms_rt_spool_header();

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock));
    (void)f;
    if (header != NULL) {
        header->violations++;
    }
    if (pattern->hash == hash) {
        if (pattern->record != NULL) {
            __atomic_fetch_add(&pattern->record->count, 1, __ATOMIC_RELAXED);
        }
    } else if (pattern_count < PATTERNS / 2) {
        struct spooling spooling = {.violation = violation};
        pattern_count++;
        tms_rt_call_deep(spool, &spooling);
        *pattern = (struct pattern){hash, spooling.record};
        if (spooling.record != NULL) {
            __atomic_store_n(&spooling.record->count, 1, __ATOMIC_RELEASE);
        }
    }
    return TMS_OK;
}

/* ---- blocks that still run -------------------------------------------------------------- */

/* Distinguishes the states of a pending violation. */
static uint64_t state_of(const struct tms_violation *violation)
{
    return violation->event << 24 ^ (uint64_t)violation->cycle_length << 13 ^
           (uint64_t)violation->refuted_count << 2 ^ (uint64_t)violation->not_atomic << 1 ^ 1;
}

/*
 * The thread reuses its record if it is large enough. A command that copies the spool at this
 * moment may get a mixture of the two, and drops what is inconsistent.
 */
static void show(struct tms_rt_thread *t, const struct tms_violation *violation)
{
    struct tms_spool_violation *before = t->shown;
    bool fits = before != NULL && before->record.length >= record_bytes(violation);
    struct spooling spooling = {.violation = violation, .record = fits ? before : NULL};

    assert(!fits || before->open == 0);
    tms_rt_call_deep(spool, &spooling);
    t->shown = spooling.record != NULL ? spooling.record : before;
    if (spooling.record != NULL) {
        __atomic_store_n(&spooling.record->open, 1, __ATOMIC_RELEASE);
    }
}

/*
 * A block may run as long as the process does: its violation is written now, because every thread
 * may be waiting when a report is requested. A pattern that an earlier block has shown needs no
 * second record.
 */
void tms_rt_spool_pending(struct tms_rt_thread *t)
{
    const struct tms_violation *violation = tms_frontier_pending(t->engine);
    uint64_t state = violation == NULL ? 0 : state_of(violation);

    assert(tms_rt_mutex_is_mine(&tms_rt_engine_lock) && t->engine != NULL);
    if (state == t->shown_state) {
        return;
    }
    t->shown_state = state;
    if (t->shown != NULL) {
        __atomic_store_n(&t->shown->open, 0, __ATOMIC_RELEASE);
    }
    if (violation != NULL && find_pattern(pattern_of(violation))->hash == 0 &&
        pattern_count < PATTERNS / 2) {
        show(t, violation);
    }
}
