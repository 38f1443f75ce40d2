/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the findings of a core in another process; see import_judgement.h. */
#include "judge/import_judgement.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "judge/conclude.h"

static struct tms_run *run_of(struct tms_analysis *analysis)
{
    for (size_t i = 0; i < analysis->run_count; i++) {
        if (analysis->runs[i].engine == &tms_engine_judge) {
            return &analysis->runs[i];
        }
    }
    return NULL;
}

struct tms_judge_engine *tms_judge_of(struct tms_analysis *analysis)
{
    const struct tms_run *run = run_of(analysis);

    return run != NULL ? run->state : NULL;
}

static uint32_t function_of(struct tms_judge_engine *engine, uint32_t label)
{
    return engine->core.port.function_of(engine, label);
}

static uint32_t object_of(struct tms_judge_engine *engine, uint32_t variable)
{
    return variable != 0 ? engine->core.port.object_of(engine, variable) : 0;
}

void tms_judge_load_function(struct tms_judge_engine *engine, uint32_t label,
                             const struct tms_judge_function *counts)
{
    struct tms_judge_function named = *counts;

    named.label = label;
    tms_judge_add_function(&engine->core, function_of(engine, label), &named);
}

void tms_judge_load_place(struct tms_judge_engine *engine, uint32_t location)
{
    if (location != 0) {
        tms_judge_add_place(&engine->core, location);
    }
}

static uint32_t finding_of(struct tms_judge_engine *engine, uint32_t label, uint32_t variable,
                           uint32_t other)
{
    return tms_judge_finding(&engine->core, function_of(engine, label), object_of(engine, variable),
                             object_of(engine, other));
}

static void show(struct tms_judge_engine *engine, struct tms_judge_evidence *known,
                 const struct tms_judge_evidence *evidence, const struct tms_judge_case *first)
{
    struct tms_transaction *outer =
        tms_resize(engine->core.memory, known->outer, known->outer_capacity,
                   evidence->outer_count + 1, sizeof(*outer));

    assert(known->count > 0 && first->pattern < TMS_PATTERN_COUNT);
    if (outer == NULL) {
        engine->core.failed = true;
        return;
    }
    if (evidence->outer_count > 0) {
        memcpy(outer, evidence->outer, evidence->outer_count * sizeof(*outer));
    }
    known->outer = outer;
    known->outer_capacity = evidence->outer_count + 1;
    known->outer_count = evidence->outer_count;
    known->first = *first;
    known->block = evidence->block;
    known->foreign = evidence->foreign;
}

void tms_judge_load_evidence(struct tms_judge_engine *engine,
                             const struct tms_judge_evidence *evidence)
{
    struct tms_judge_case first = evidence->first;
    struct tms_judge_evidence wanted = {
        .mild = evidence->mild, .place = evidence->place, .firm = evidence->firm};
    uint32_t finding = finding_of(engine, evidence->block.label, (uint32_t)evidence->first.variable,
                                  (uint32_t)evidence->first.other);
    bool is_first;

    wanted.culprit = evidence->firm ? function_of(engine, evidence->culprit) : 0;
    first.pattern = evidence->pattern;
    tms_judge_decide_places(&first, &wanted.mild);
    wanted.pattern = first.pattern;
    uint32_t number =
        tms_judge_count(&engine->core, finding, &wanted, &first, evidence->count, &is_first);
    if (number != 0 && is_first) {
        show(engine, &engine->core.evidence.at[number], evidence, &first);
    }
}

void tms_judge_load_cut(struct tms_judge_engine *engine, uint32_t label, uint32_t variable,
                        uint32_t other, uint64_t cut)
{
    const struct tms_judge *core = &engine->core;
    uint32_t number = finding_of(engine, label, variable, other);

    if (number != 0) {
        struct tms_judge_finding *finding = &core->findings.at[number];
        uint64_t executions = finding->function < core->function_count
                                  ? core->functions[finding->function].executions
                                  : 0;
        finding->cut = tms_judge_bounded_cut(finding->cut + cut, executions);
    }
}

/* ---- the public way ------------------------------------------------------------------- */

uint32_t tms_judge_loaded_stack(const struct tms_judge_engine *engine, uint64_t event,
                                uint32_t thread)
{
    for (size_t i = 0; i < engine->turn_count; i++) {
        if (engine->turns[i].event == event && engine->turns[i].thread == thread) {
            return engine->turns[i].stack;
        }
    }
    return 0;
}

static void keep_turn(struct tms_judge_engine *engine, const struct tms_turn *turn)
{
    if (turn->event == 0 || turn->stack == 0 ||
        tms_judge_loaded_stack(engine, turn->event, turn->thread) != 0) {
        return;
    }
    if (!TMS_RESERVE(engine->core.memory, &engine->turns, &engine->turn_capacity,
                     engine->turn_count + 1, 64)) {
        engine->core.failed = true;
        return;
    }
    engine->turns[engine->turn_count++] = *turn;
}

static uint8_t kind_of(uint8_t event)
{
    return event == TMS_EVENT_READ    ? TMS_JUDGE_R
           : event == TMS_EVENT_WRITE ? TMS_JUDGE_W
                                      : TMS_JUDGE_U;
}

static struct tms_judge_step step_of(const struct tms_turn *turn)
{
    return (struct tms_judge_step){.event = turn->event,
                                   .location = turn->location,
                                   .kind = kind_of(turn->kind),
                                   .atomic = true};
}

static struct tms_judge_foreign foreign_of(const struct tms_turn *turn)
{
    return (struct tms_judge_foreign){.event = turn->event,
                                      .thread = turn->thread,
                                      .location = turn->location,
                                      .kind = kind_of(turn->kind)};
}

static struct tms_judge_case case_of(const struct tms_judged_evidence *from)
{
    return (struct tms_judge_case){
        .variable = from->variable,
        .other = from->other,
        .thread = from->own[0].thread,
        .lock = from->given_up.event != 0 ? from->given_up.target : 0,
        .released = from->given_up.event,
        .released_location = from->given_up.location,
        .released_shared = from->given_up.kind == TMS_EVENT_SHARED_RELEASE,
        .pattern = (uint8_t)from->pattern,
        .own = {step_of(&from->own[0]), step_of(&from->own[1])},
        .foreign = {foreign_of(&from->foreign[0]), foreign_of(&from->foreign[1])},
    };
}

static void load_one(struct tms_judge_engine *engine, const struct tms_judged_evidence *from)
{
    struct tms_judge_evidence evidence = {.pattern = (uint8_t)from->pattern,
                                          .mild = from->mild,
                                          .firm = from->firm,
                                          .culprit = from->culprit,
                                          .place = from->place,
                                          .count = from->count,
                                          .first = case_of(from),
                                          .block = from->block,
                                          .foreign = from->foreign_block,
                                          .outer_count = from->outer_count};

    evidence.outer = (struct tms_transaction *)(uintptr_t)from->outer; /* is only read */
    for (size_t i = 0; i < 2; i++) {
        keep_turn(engine, &from->own[i]);
        keep_turn(engine, &from->foreign[i]);
    }
    keep_turn(engine, &from->given_up);
    tms_judge_load_evidence(engine, &evidence);
}

/* The last one with the same number is the most complete. */
static bool is_last_of_finding(const struct tms_judging *judging, size_t index)
{
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct tms_judged_evidence *other = &judging->evidence[i];
        const struct tms_judged_evidence *this = &judging->evidence[index];
        if (other->finding == this->finding &&
            (other->cut > this->cut || (other->cut == this->cut && i > index))) {
            return false;
        }
    }
    return true;
}

int tms_analysis_judge_elsewhere(struct tms_analysis *analysis)
{
    struct tms_judge_engine *engine = tms_judge_of(analysis);

    if (engine == NULL) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT, "judge is not among the engines");
    }
    engine->elsewhere = true;
    return TMS_OK;
}

static void load_blocks(struct tms_judge_engine *engine, const struct tms_judging *judging)
{
    for (size_t i = 0; i < judging->block_count; i++) {
        const struct tms_judged_block *block = &judging->blocks[i];
        const struct tms_judge_function counts = {.executions = block->executions,
                                                  .same = block->same,
                                                  .busy = block->busy,
                                                  .ended = block->ended,
                                                  .counted = block->counted,
                                                  .counted_cut = block->counted_cut};
        tms_judge_load_function(engine, block->label, &counts);
    }
}

static void note_loss(struct tms_run *run, const char *loss)
{
    if (loss != NULL) {
        snprintf(run->loss, sizeof(run->loss), "%s", loss);
        run->host.loss = run->loss;
    }
}

#define KINDS (1u << TMS_JUDGE_R | 1u << TMS_JUDGE_W | 1u << TMS_JUDGE_U)

static uint32_t known(const struct tms_analysis *analysis, enum tms_class cls)
{
    return analysis->context->names[cls].count;
}

static bool is_sound_evidence(const struct tms_analysis *analysis,
                              const struct tms_judged_evidence *evidence)
{
    uint32_t labels = known(analysis, TMS_CLASS_LABEL);
    uint32_t variables = known(analysis, TMS_CLASS_VARIABLE);

    return (unsigned)evidence->pattern < TMS_PATTERN_COUNT && evidence->count > 0 &&
           evidence->variable != 0 && evidence->variable <= variables &&
           evidence->other <= variables && evidence->block.label <= labels &&
           evidence->culprit <= labels;
}

static bool is_sound_block(const struct tms_analysis *analysis,
                           const struct tms_judged_block *block)
{
    return block->label <= known(analysis, TMS_CLASS_LABEL) && block->ended <= block->executions &&
           block->same <= block->ended && block->busy <= block->ended &&
           block->counted <= block->ended && block->counted_cut <= block->counted;
}

static bool are_sound(const struct tms_analysis *analysis, const struct tms_judging *judging)
{
    bool sound = true;

    for (size_t i = 0; i < judging->evidence_count; i++) {
        sound = sound && is_sound_evidence(analysis, &judging->evidence[i]);
    }
    for (size_t i = 0; i < judging->block_count; i++) {
        sound = sound && is_sound_block(analysis, &judging->blocks[i]);
    }
    for (size_t i = 0; i < judging->member_count; i++) {
        sound =
            sound && judging->members[i].variable != 0 && (judging->members[i].kinds & ~KINDS) == 0;
    }
    return sound;
}

int tms_analysis_judge(struct tms_analysis *analysis, const struct tms_judging *judging)
{
    struct tms_judge_engine *engine = tms_judge_of(analysis);

    if (engine == NULL || !engine->elsewhere || analysis->finished) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "judge works here, or this analysis has ended");
    }
    if (!are_sound(analysis, judging)) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "a judgement has no variable, an unknown pattern, kind or name, or counts "
                        "that contradict each other");
    }
    engine->watched = judging->watched;
    note_loss(run_of(analysis), judging->loss);
    load_blocks(engine, judging);
    for (size_t i = 0; i < judging->member_count; i++) {
        const struct tms_judged_member *member = &judging->members[i];
        tms_judge_add_member(&engine->core, member->location, member->lock, member->variable,
                             member->kinds);
    }
    for (size_t i = 0; i < judging->waiting_count; i++) {
        tms_judge_load_place(engine, judging->waiting_places[i]);
    }
    for (size_t i = 0; i < judging->evidence_count; i++) {
        load_one(engine, &judging->evidence[i]);
    }
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct tms_judged_evidence *evidence = &judging->evidence[i];
        if (is_last_of_finding(judging, i)) {
            tms_judge_load_cut(engine, evidence->block.label, evidence->variable, evidence->other,
                               evidence->cut);
        }
    }
    return engine->core.failed ? tms_fail_memory(analysis->context) : TMS_OK;
}
