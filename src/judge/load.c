/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of a core elsewhere; see load.h. */
#include "judge/load.h"

#include <string.h>

struct tms_judge_engine *tms_judge_of(struct tms_analysis *analysis)
{
    for (size_t i = 0; i < analysis->run_count; i++) {
        if (analysis->runs[i].engine == &tms_engine_judge) {
            return analysis->runs[i].state;
        }
    }
    return NULL;
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

    engine->core.accesses++; /* there are some */
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
    uint32_t finding = finding_of(engine, label, variable, other);

    if (finding != 0) {
        engine->core.findings.at[finding].cut += cut;
    }
}
