/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of `judge` in the spool; see judge_records.h. */
#include "runtime/core/judge_records.h"

#include <assert.h>
#include <string.h>

#include "base/hashtable.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/functions.h"
#include "runtime/core/heap_blocks.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/thread_registry.h"
#include "runtime/core/violations.h"
#include "runtime/spool/spool_writer.h"

#define OBJECTS      (1u << 16)
#define OBJECTS_MOST (OBJECTS / 2)

static struct tms_memory memory = TMS_RT_MEMORY;
static struct {
    uint64_t *objects; /* OBJECTS keys, 0: free; an object's number is its index plus one */
    uint32_t object_count;
    struct tms_rt_stack stack;         /* the one that was looked up last */
    struct tms_spool_judged **records; /* by evidence */
    size_t capacity;
} judged;

void tms_rt_judged_restart(void)
{
    memset(&judged, 0, sizeof(judged)); /* the parent's tables stay mapped */
}

/* ---- objects ------------------------------------------------------------------------------ */

/* Called for each occurrence of a pattern, so the registry is rarely asked. */
static bool is_on_stack(uintptr_t address)
{
    bool known = judged.stack.low <= address && address < judged.stack.high;

    return known || tms_rt_find_stack(address, &judged.stack);
}

/*
 * Objects that get the same name count as one, or an execution that was cut at several of them
 * would count for each: an allocation site, a variable, and the stacks of all threads with one
 * start function.
 */
static uint64_t key_of(uintptr_t address)
{
    struct tms_rt_heap_block block;
    uintptr_t start, end;

    if (tms_rt_heap_find(address, &block)) {
        return UINT64_C(1) << 63 | block.site;
    }
    if (tms_rt_find_data(address, &start, &end)) {
        return start;
    }
    return is_on_stack(address) ? UINT64_C(1) << 62 | judged.stack.entry : address & ~UINT64_C(7);
}

uint32_t tms_rt_judged_object(uint64_t name)
{
    uint64_t key = key_of(name >> 8);

    if (judged.objects == NULL) {
        judged.objects = tms_rt_map(OBJECTS * sizeof(*judged.objects));
    }
    if (judged.objects == NULL) {
        return 1;
    }
    assert(judged.object_count <= OBJECTS_MOST);
    uint64_t *slot = TMS_HASH_SLOT_OF(judged.objects, OBJECTS, key);
    if (*slot == 0 && judged.object_count == OBJECTS_MOST) {
        return OBJECTS + 1; /* all objects that did not fit */
    }
    judged.object_count += *slot == 0;
    *slot = key;
    return (uint32_t)(slot - judged.objects) + 1;
}

/* ---- evidence ----------------------------------------------------------------------------- */

static uint32_t thread_of(uint32_t thread)
{
    assert(thread == 0 || thread >= TMS_RT_JUDGED_THREAD(0));
    return thread > 0 ? thread - TMS_RT_JUDGED_THREAD(0) : 0;
}

static struct tms_spool_transaction spooled(const struct tms_transaction *from)
{
    return (struct tms_spool_transaction){.begin = from->begin_event,
                                          .thread = thread_of(from->thread),
                                          .label = from->label,
                                          .site = from->location,
                                          .unary = from->unary};
}

static struct tms_spool_turn own_turn(const struct tms_judge_step *step, uint32_t thread)
{
    return (struct tms_spool_turn){.event = step->event,
                                   .thread = thread_of(thread),
                                   .site = step->location,
                                   .kind = step->kind,
                                   .atomic = step->atomic};
}

static struct tms_spool_turn foreign_turn(const struct tms_judge_foreign *access)
{
    return (struct tms_spool_turn){.event = access->event,
                                   .thread = thread_of(access->thread),
                                   .site = access->location,
                                   .kind = access->kind,
                                   .atomic = !access->plain_update};
}

uint32_t tms_rt_judged_learn(uint64_t name)
{
    struct tms_rt_heap_block block;

    if (!tms_rt_heap_find(name >> 8, &block)) {
        return 0;
    }
    if (block.record == 0) {
        tms_rt_spool_block(&block, 0, 0);
        block.record = tms_rt_spool_record_count();
        tms_rt_heap_set_record(block.start, block.record);
    }
    return block.record;
}

/* Records the heap block that contains the memory, if there is one. */
static void spool_block_of(uint64_t name)
{
    struct tms_rt_heap_block block;

    if (name != 0 && tms_rt_heap_find(name >> 8, &block)) {
        tms_rt_spool_block(&block, 0, 0);
    }
}

static void fill(struct tms_spool_judged *record, const struct tms_judge_evidence *evidence)
{
    const struct tms_judge_case *first = &evidence->first;

    assert(record->outer_count <= evidence->outer_count);
    record->variable[0] = first->variable;
    record->variable[1] = first->other;
    record->lock = first->lock;
    record->released = first->released;
    record->released_site = first->released_location;
    record->released_shared = first->released_shared;
    record->thread = thread_of(first->thread);
    record->block = spooled(&evidence->block);
    record->foreign = spooled(&evidence->foreign);
    for (int i = 0; i < 2; i++) {
        record->own[i] = own_turn(&first->own[i], first->thread);
        record->others[i] = foreign_turn(&first->foreign[i]);
    }
    for (size_t i = 0; i < record->outer_count; i++) {
        record->outer[i] = spooled(&evidence->outer[i]);
    }
}

static struct tms_spool_judged *new_record(const struct tms_judge_evidence *evidence)
{
    size_t outer =
        evidence->outer_count < TMS_SPOOL_OUTER ? evidence->outer_count : TMS_SPOOL_OUTER;

    spool_block_of(evidence->first.variable);
    spool_block_of(evidence->first.other);
    struct tms_spool_judged *record = tms_rt_spool_record(
        TMS_SPOOL_JUDGED, sizeof(*record) + outer * sizeof(struct tms_spool_transaction));
    if (record != NULL) {
        record->pattern = evidence->pattern;
        record->mild = evidence->mild;
        record->firm = evidence->firm;
        record->culprit = evidence->culprit;
        record->place = evidence->place;
        record->finding = evidence->finding;
        record->outer_count = (uint32_t)outer;
        fill(record, evidence);
    }
    return record;
}

void tms_rt_judged_found(const struct tms_judge *core, uint32_t number, bool first)
{
    const struct tms_judge_evidence *evidence = &core->evidence.at[number];

    assert(number < core->evidence.capacity && evidence->finding <= core->findings.count);
    if (!TMS_RESERVE(&memory, &judged.records, &judged.capacity, (size_t)number + 1, 64)) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return;
    }
    struct tms_spool_judged *record = judged.records[number];
    if (record == NULL) {
        record = judged.records[number] = new_record(evidence);
    } else if (first && evidence->outer_count == record->outer_count) {
        fill(record, evidence); /* an earlier occurrence, decided late */
    }
    if (record != NULL) {
        record->cut = core->findings.at[evidence->finding].cut;
        record->count = evidence->count;
    }
}

/* ---- the end ------------------------------------------------------------------------------ */

static void spool_counts(uint32_t label, const struct tms_judge_function *counts)
{
    struct tms_spool_counts *record = tms_rt_spool_record(TMS_SPOOL_COUNTS, sizeof(*record));

    if (record != NULL) {
        record->executions = counts->executions;
        record->same = counts->same;
        record->busy = counts->busy;
        record->ended = counts->ended;
        record->counted = counts->counted;
        record->counted_cut = counts->counted_cut;
        record->label = label;
    }
}

static void spool_section(const struct tms_judge_site *site)
{
    size_t bytes = site->member_count * sizeof(struct tms_spool_member);
    struct tms_spool_section *record =
        tms_rt_spool_record(TMS_SPOOL_SECTION, sizeof(*record) + bytes);

    if (record == NULL) {
        return;
    }
    for (uint32_t i = 0; i < site->member_count; i++) {
        record->member[i].variable = site->member[i].variable;
        record->member[i].kinds = site->member[i].kinds;
        record->member[i].learnt_at = site->member[i].learnt_at;
    }
    record->lock = site->lock;
    record->site = site->location;
    record->member_count = site->member_count;
}

/* Labels that the core has not seen were neither cut nor busy. */
void tms_rt_judged_finish(const struct tms_judge *core, const uint64_t *runs, size_t count)
{
    size_t labels = core->function_count > count ? core->function_count : count;

    for (uint32_t label = 0; label < labels; label++) {
        struct tms_judge_function counts =
            label < core->function_count ? core->functions[label] : (struct tms_judge_function){0};
        uint64_t all = label < count ? runs[label] : 0;
        uint64_t silent = all > counts.executions ? all - counts.executions : 0;
        counts.executions += silent;
        counts.ended += silent;
        counts.counted += silent;
        if (counts.executions > 0) {
            spool_counts(label, &counts);
        }
    }
    for (size_t i = 1; i <= core->sites.count; i++) {
        spool_section(&core->sites.at[i]);
    }
    for (size_t i = 0; i < core->waiting.size; i++) {
        uint32_t site = tms_hashtable_row_at(&core->waiting, i);
        struct tms_spool_place *record =
            site == 0 ? NULL : tms_rt_spool_record(TMS_SPOOL_PLACE, sizeof(*record));
        if (record != NULL) {
            record->site = site;
        }
    }
}
