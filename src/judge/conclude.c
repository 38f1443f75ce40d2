/* SPDX-License-Identifier: Apache-2.0 */
/* The result of `judge`; see conclude.h. */
#include "judge/conclude.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge_entries.h"
#include "spec/identity.h"

#define ID_LEAST 6
#define ID_MOST  16
#define ID_SIZE  (sizeof("AV-") + ID_MOST)

/* ---- one entry for each id and evidence ----------------------------------------------- */

static int by_identity(const void *a, const void *b)
{
    const struct tms_judge_entry *one = a, *two = b;

    if (one->hash != two->hash) {
        return one->hash < two->hash ? -1 : 1;
    }
    if (one->finding.evidence != two->finding.evidence) {
        return one->finding.evidence < two->finding.evidence ? -1 : 1;
    }
    if (one->judgement->level != two->judgement->level) {
        return one->judgement->level > two->judgement->level ? -1 : 1;
    }
    if ((one->finding.caveat != NULL) != (two->finding.caveat != NULL)) {
        return one->finding.caveat == NULL ? -1 : 1;
    }
    return (one->finding.event > two->finding.event) - (one->finding.event < two->finding.event);
}

static void take_in(struct tms_judge_entry *into, const struct tms_judge_entry *from)
{
    into->finding.count += from->finding.count;
    into->judgement->patterns |= from->judgement->patterns;
    tms_judge_add_cut(into->judgement, from->judgement->cut);
}

/*
 * Drops predictions of what was observed; of two equal entries keeps the more severe, or the one
 * without a caveat.
 */
static void merge(struct tms_judge_work *work)
{
    size_t kept = 0;

    if (work->count > 0) {
        qsort(work->entries, work->count, sizeof(*work->entries), by_identity);
    }
    for (size_t i = 0; i < work->count; i++) {
        struct tms_judge_entry *last = kept > 0 ? &work->entries[kept - 1] : NULL;
        bool same = last != NULL && last->hash == work->entries[i].hash;
        if (same && last->finding.evidence == work->entries[i].finding.evidence) {
            take_in(last, &work->entries[i]);
        } else if (!same) {
            work->entries[kept++] = work->entries[i];
        }
    }
    assert(kept <= work->count);
    work->count = kept;
}

/* ---- ids ------------------------------------------------------------------------------ */

/* The number of digits that distinguishes it from its neighbours in the order of hashes. */
static unsigned digits_of(const struct tms_judge_work *work, size_t index)
{
    unsigned digits = ID_LEAST;

    for (int side = -1; side <= 1; side += 2) {
        bool there = side < 0 ? index > 0 : index + 1 < work->count;
        uint64_t other = there ? work->entries[side < 0 ? index - 1 : index + 1].hash : 0;
        while (there && digits < ID_MOST &&
               (other ^ work->entries[index].hash) >> (64 - 4 * digits) == 0) {
            digits++;
        }
    }
    assert(digits >= ID_LEAST && digits <= ID_MOST);
    return digits;
}

static int write_id(uint64_t hash, unsigned digits, char *text, size_t size)
{
    char hex[ID_MOST + 1];

    assert(digits <= ID_MOST && size >= sizeof("AV-") + digits);
    snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)hash);
    return snprintf(text, size, "AV-%.*s", (int)digits, hex);
}

void tms_judged_id(const char *label, const char *variable, char id[TMS_JUDGED_ID_SIZE])
{
    char *function = malloc(strlen(label) + 1), *object = malloc(strlen(variable) + 1);

    id[0] = '\0';
    if (function != NULL && object != NULL) {
        tms_function_text(label, function);
        tms_object_text(variable, object);
        write_id(tms_judged_hash(function, object, NULL), ID_LEAST, id, TMS_JUDGED_ID_SIZE);
    }
    free(function);
    free(object);
}

static void name_entries(struct tms_judge_work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        char text[ID_SIZE + 1];
        int length = write_id(work->entries[i].hash, digits_of(work, i), text, sizeof(text));
        work->entries[i].finding.id = tms_judge_copy(work, text, (size_t)length + 1);
        work->entries[i].finding.judgement = work->entries[i].judgement;
    }
}

static const char *id_of(const struct tms_judge_work *work, uint64_t hash)
{
    size_t low = 0, high = work->count;

    assert(work->count == 0 || work->entries[0].hash <= work->entries[work->count - 1].hash);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (work->entries[middle].hash < hash) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < work->count && work->entries[low].hash == hash ? work->entries[low].finding.id
                                                                : NULL;
}

static void set_links(const struct tms_judge_work *work)
{
    for (size_t i = 0; i < work->link_count; i++) {
        const struct tms_judge_link *link = &work->links[i];
        tms_findings_judged(link->run->host.findings, link->index, id_of(work, link->hash));
    }
}

/* ---- the result ----------------------------------------------------------------------- */

/* Observed before predicted, the most severe first, then by event. */
static int by_weight(const void *a, const void *b)
{
    const struct tms_finding *one = a, *two = b;

    if (one->evidence != two->evidence) {
        return one->evidence < two->evidence ? -1 : 1;
    }
    if (one->judgement->level != two->judgement->level) {
        return one->judgement->level > two->judgement->level ? -1 : 1;
    }
    if (one->event != two->event) {
        return one->event < two->event ? -1 : 1;
    }
    return strcmp(one->id, two->id);
}

static void list_findings(struct tms_judge_work *work)
{
    struct tms_judge_engine *engine = work->engine;

    if (!TMS_RESERVE(work->memory, &engine->findings, &engine->finding_capacity, work->count + 1,
                     16)) {
        work->failed = true;
        return;
    }
    for (size_t i = 0; i < work->count; i++) {
        engine->findings[i] = work->entries[i].finding;
    }
    engine->finding_count = work->count;
    if (work->count > 0) {
        qsort(engine->findings, work->count, sizeof(*engine->findings), by_weight);
    }
}

/* Errors and warnings that were observed. */
static void set_result(struct tms_run *run, const struct tms_judge_engine *engine)
{
    struct tms_result *result = &run->result;

    result->findings = engine->findings;
    result->finding_count = engine->finding_count;
    result->blamed = true;
    for (size_t i = 0; i < engine->finding_count; i++) {
        const struct tms_finding *finding = &engine->findings[i];
        bool counts = finding->evidence == TMS_EVIDENCE_OBSERVED &&
                      finding->judgement->level > TMS_LEVEL_NOTE;
        if (counts) {
            result->violations += finding->judgement->cut;
            if (result->first_violation_event == 0 ||
                finding->event < result->first_violation_event) {
                result->first_violation_event = finding->event;
            }
        }
    }
    result->verdict = result->violations > 0 ? TMS_VERDICT_AFFECTED
                      : result->complete     ? TMS_VERDICT_UNAFFECTED
                                             : TMS_VERDICT_INCOMPLETE;
}

int tms_judge_conclude(struct tms_analysis *analysis, struct tms_run *run)
{
    struct tms_judge_engine *engine = run->state;
    struct tms_judge_work work = {
        .analysis = analysis, .engine = engine, .memory = &run->host.memory};

    tms_judge_add_data(&work);
    tms_judge_add_others(&work);
    merge(&work);
    name_entries(&work);
    if (!work.failed && !engine->core.failed) {
        set_links(&work);
        list_findings(&work);
        set_result(run, engine);
    }
    tms_release(work.memory, work.entries, work.capacity, sizeof(*work.entries));
    tms_release(work.memory, work.links, work.link_capacity, sizeof(*work.links));
    tms_release(work.memory, work.most_severe, work.function_capacity, sizeof(*work.most_severe));
    run->result.memory_bytes = run->host.memory.peak;
    return work.failed || engine->core.failed ? TMS_ERR_MEMORY : TMS_OK;
}

/* ---- stacks --------------------------------------------------------------------------- */

/* An imported event has a stack already, and its number is not of this trace. */
static uint32_t stack_at(uint32_t known, uint64_t event, tms_stack_of *stack_of, void *user)
{
    return known != 0 ? known : stack_of(user, event);
}

static const struct tms_turn *resolve_turns(struct tms_judge_engine *engine,
                                            const struct tms_turn *turns, size_t count,
                                            tms_stack_of *stack_of, void *user)
{
    size_t size = count * sizeof(*turns);
    struct tms_turn *resolved =
        count > 0 ? tms_arena_take(&engine->lists, &engine->host->memory, size) : NULL;

    if (resolved == NULL) {
        return turns; /* stacks are optional */
    }
    memcpy(resolved, turns, size);
    for (size_t i = 0; i < count; i++) {
        resolved[i].stack = stack_at(resolved[i].stack, resolved[i].event, stack_of, user);
    }
    return resolved;
}

static const struct tms_step *resolve_cycle(struct tms_judge_engine *engine,
                                            const struct tms_finding *finding,
                                            tms_stack_of *stack_of, void *user)
{
    size_t size = finding->cycle_length * sizeof(*finding->cycle);
    struct tms_step *cycle =
        size > 0 ? tms_arena_take(&engine->lists, &engine->host->memory, size) : NULL;

    if (cycle == NULL) {
        return finding->cycle;
    }
    memcpy(cycle, finding->cycle, size);
    for (size_t i = 0; i < finding->cycle_length; i++) {
        struct tms_step *step = &cycle[i];
        step->first_stack = stack_at(step->first_stack, step->first_event, stack_of, user);
        step->second_stack = stack_at(step->second_stack, step->second_event, stack_of, user);
    }
    return cycle;
}

void tms_judge_resolve(struct tms_run *run, tms_stack_of *stack_of, void *user)
{
    struct tms_judge_engine *engine = run->state;

    for (size_t i = 0; i < engine->finding_count; i++) {
        struct tms_finding *finding = &engine->findings[i];
        if (engine->elsewhere && finding->evidence == TMS_EVIDENCE_OBSERVED) {
            continue; /* it has stacks already, and event numbers of another trace */
        }
        struct tms_judgement *judgement =
            tms_arena_take(&engine->lists, &run->host.memory, sizeof(*judgement));
        if (judgement == NULL) {
            return;
        }
        *judgement = *finding->judgement;
        judgement->own =
            resolve_turns(engine, judgement->own, judgement->own_count, stack_of, user);
        judgement->foreign =
            resolve_turns(engine, judgement->foreign, judgement->foreign_count, stack_of, user);
        if (judgement->given_up.event != 0) {
            judgement->given_up.stack = stack_of(user, judgement->given_up.event);
        }
        finding->judgement = judgement;
        finding->cycle = resolve_cycle(engine, finding, stack_of, user);
        finding->schedule =
            resolve_turns(engine, finding->schedule, finding->schedule_length, stack_of, user);
    }
}
