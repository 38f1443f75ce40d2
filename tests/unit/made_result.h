/* SPDX-License-Identifier: Apache-2.0 */
/* Finished analyses with findings made by hand, for tests of the stages after the engines. */
#ifndef TMS_TESTS_MADE_RESULT_H
#define TMS_TESTS_MADE_RESULT_H

#include "analysis/analysis.h"
#include "trace_fixture.h"

/* A process: its context, and an analysis with one result. */
struct made {
    struct tms_context *context;
    struct tms_analysis *analysis;
    struct tms_result *result;
    struct tms_finding findings[16];
    struct tms_judgement judgements[16];
};

static inline uint32_t named(struct made *made, enum tms_class cls, const char *name)
{
    int64_t id = tms_intern(made->context, cls, name, strlen(name));

    assert_true(id > 0);
    return (uint32_t)id;
}

/* `shift` names are given out first, so that ids differ from process to process. */
static inline void made_start(struct made *made, const char *engine, unsigned shift)
{
    static const enum tms_class classes[] = {TMS_CLASS_LABEL, TMS_CLASS_VARIABLE, TMS_CLASS_THREAD,
                                             TMS_CLASS_LOCK, TMS_CLASS_STACK};
    struct tms_settings settings;
    char name[32];

    *made = (struct made){.context = tms_context_new(NULL, NULL)};
    tms_settings_init(&settings);
    settings.engines = "";
    assert_int_equal(tms_analysis_new(made->context, &settings, &made->analysis), TMS_OK);
    struct tms_run *run = &made->analysis->runs[made->analysis->run_count++];
    run->engine = tms_engine_find(engine, strlen(engine));
    assert_non_null(run->engine);
    made->result = &run->result;
    *made->result = (struct tms_result){.engine = &run->engine->info,
                                        .verdict = run->engine->info.clean,
                                        .complete = true,
                                        .blamed = true,
                                        .findings = made->findings};
    made->analysis->finished = true;
    for (unsigned i = 0; i < shift * LENGTH(classes); i++) {
        snprintf(name, sizeof(name), "other%u", i);
        named(made, classes[i % LENGTH(classes)], name);
    }
}

static inline void made_stop(struct made *made)
{
    tms_analysis_free(made->analysis);
    tms_context_free(made->context);
}

/* A finding by the definition, of one block. */
static inline struct tms_finding *made_cycle(struct made *made, const char *id, const char *block)
{
    struct tms_finding *finding = &made->findings[made->result->finding_count++];

    finding->id = id;
    finding->kind = "cycle";
    finding->count = 1;
    finding->event = 7;
    finding->thread = named(made, TMS_CLASS_THREAD, "T1");
    finding->not_atomic = true;
    finding->transaction = (struct tms_transaction){
        .begin_event = 3, .thread = finding->thread, .label = named(made, TMS_CLASS_LABEL, block)};
    finding->refuted = &finding->transaction;
    finding->refuted_count = 1;
    made->result->violations++;
    made->result->verdict = TMS_VERDICT_VIOLATION;
    made->result->first_violation_event = 7;
    return finding;
}

/* A judged one; its judgement may be changed. */
static inline struct tms_judgement *made_judged(struct made *made, const char *id,
                                                const char *block, const char *object,
                                                enum tms_level level, enum tms_pattern pattern)
{
    struct tms_judgement *judgement = &made->judgements[made->result->finding_count];
    struct tms_finding *finding = made_cycle(made, id, block);

    finding->kind = "data";
    finding->refuted = NULL;
    finding->refuted_count = 0;
    finding->judgement = judgement;
    *judgement = (struct tms_judgement){.level = level,
                                        .patterns = 1u << pattern,
                                        .pattern = pattern,
                                        .variable = named(made, TMS_CLASS_VARIABLE, object),
                                        .object = object,
                                        .executions = 10,
                                        .cut = 2,
                                        .processes = 1};
    return judgement;
}

#endif
