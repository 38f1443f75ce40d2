/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports findings of the runtime into an analysis, so that ids, reports and exit status are the
 * same for a watched program as for a trace.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"

#define ALGORITHM "frontier"
#define RACES     "fasttrack"

static int take_finding(struct tms_run *run, const struct tms_finding *finding, bool blame)
{
    struct tms_violation violation = {
        .kind = "cycle",
        .evidence = TMS_EVIDENCE_OBSERVED,
        .event = finding->event,
        .repeats = finding->count > 0 ? finding->count - 1 : 0,
        .thread = finding->thread,
        .not_atomic = blame && finding->not_atomic,
        .transaction = finding->transaction,
        .cycle = finding->cycle,
        .cycle_length = finding->cycle_length,
        .held = finding->held,
        .held_count = finding->held_count,
    };

    if (violation.not_atomic) {
        violation.refuted = finding->refuted;
        violation.refuted_count = finding->refuted_count;
    }
    return tms_findings_add(run->host.findings, &violation);
}

static int take_findings(struct tms_analysis *analysis, struct tms_run *run,
                         const struct tms_observation *observation)
{
    struct tms_result *result = &run->result;
    int code = TMS_OK;

    for (size_t i = 0; i < observation->finding_count && code == TMS_OK; i++) {
        code = take_finding(run, &observation->findings[i], analysis->settings.blame);
    }
    if (code == TMS_OK) {
        code = tms_findings_close(run->host.findings, &result->findings, &result->finding_count,
                                  &result->unlisted);
    }
    return code;
}

static void fill_result(struct tms_analysis *analysis, struct tms_run *run,
                        const struct tms_observation *observation)
{
    struct tms_result *result = &run->result;
    uint64_t counted = tms_findings_total(run->host.findings);
    bool violation = counted > 0 || observation->first_violation_event != 0;

    if (observation->loss != NULL) {
        snprintf(run->loss, sizeof(run->loss), "%s", observation->loss);
    }
    result->engine = &run->engine->info;
    result->loss = run->loss[0] != '\0' ? run->loss : NULL;
    result->complete = result->loss == NULL;
    result->blamed = analysis->settings.blame;
    result->first_violation_event = observation->first_violation_event;
    result->violations = observation->violations > counted ? observation->violations : counted;
    result->verdict = violation           ? TMS_VERDICT_VIOLATION
                      : !result->complete ? TMS_VERDICT_INCOMPLETE
                                          : TMS_VERDICT_SERIALIZABLE;
    result->closing_edges = observation->closing_edges;
    result->events = observation->summary.events;
    result->seconds = observation->summary.seconds;
    result->memory_bytes = observation->memory_bytes;
}

/* The run for an imported result of the engine; NULL if the engine itself runs in the analysis. */
static struct tms_run *add_run(struct tms_analysis *analysis, const char *algorithm)
{
    const struct tms_engine *engine = tms_engine_find(algorithm, strlen(algorithm));

    for (size_t i = 0; i < analysis->run_count; i++) {
        if (analysis->runs[i].engine == engine) {
            return NULL;
        }
    }
    struct tms_run *run = &analysis->runs[analysis->run_count++];
    run->engine = engine;
    analysis->observed++;
    return run;
}

int tms_analysis_observe(struct tms_analysis *analysis, const struct tms_observation *observation)
{
    bool open = !analysis->finished && analysis->failed == TMS_OK;

    if (open) {
        tms_analysis_flush(analysis); /* for the engines that run here */
    }
    struct tms_run *run = open ? add_run(analysis, ALGORITHM) : NULL;
    if (run == NULL) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "this analysis has ended, or has a result of " ALGORITHM " already");
    }
    run->host.findings =
        tms_findings_new(analysis->context, &analysis->settings, &run->host.memory);
    int code =
        run->host.findings != NULL ? take_findings(analysis, run, observation) : TMS_ERR_MEMORY;
    if (code != TMS_OK) {
        analysis->failed = code;
        return code == TMS_ERR_MEMORY ? tms_fail_memory(analysis->context) : code;
    }
    fill_result(analysis, run, observation);
    tms_analysis_lost(analysis, observation->loss);
    analysis->elsewhere = observation->summary;
    return TMS_OK;
}

/* ---- races -------------------------------------------------------------------------------- */

static int take_race(struct tms_run *run, const struct tms_finding *finding)
{
    const struct tms_step *step = finding->cycle;
    const struct tms_turn schedule[] = {
        {.event = step->first_event,
         .thread = step->from.thread,
         .target = step->on,
         .location = step->first_location,
         .stack = step->first_stack,
         .kind = step->first_kind,
         .role = "first access"},
        {.event = step->second_event,
         .thread = step->to.thread,
         .target = step->on,
         .location = step->second_location,
         .stack = step->second_stack,
         .kind = step->second_kind,
         .role = "second access"},
    };
    const struct tms_violation violation = {
        .kind = "race",
        .evidence = TMS_EVIDENCE_PREDICTED,
        .event = finding->event,
        .repeats = finding->count > 0 ? finding->count - 1 : 0,
        .thread = finding->thread,
        .transaction = step->to,
        .cycle = step,
        .cycle_length = 1,
        .schedule = schedule,
        .schedule_length = sizeof(schedule) / sizeof(schedule[0]),
    };

    return tms_findings_add(run->host.findings, &violation);
}

static int take_races(struct tms_run *run, const struct tms_observed_races *races)
{
    struct tms_result *result = &run->result;
    int code = TMS_OK;

    for (size_t i = 0; i < races->finding_count && code == TMS_OK; i++) {
        assert(races->findings[i].cycle_length == 1);
        code = take_race(run, &races->findings[i]);
    }
    if (code == TMS_OK) {
        code = tms_findings_close(run->host.findings, &result->findings, &result->finding_count,
                                  &result->unlisted);
    }
    return code;
}

static void fill_races(struct tms_run *run, const struct tms_observed_races *races)
{
    struct tms_result *result = &run->result;
    uint64_t counted = tms_findings_total(run->host.findings);
    bool raced = counted > 0 || races->first_race_event != 0;

    if (races->loss != NULL) {
        snprintf(run->loss, sizeof(run->loss), "%s", races->loss);
    }
    result->engine = &run->engine->info;
    result->loss = run->loss[0] != '\0' ? run->loss : NULL;
    result->complete = result->loss == NULL;
    result->first_violation_event = races->first_race_event;
    result->violations = counted;
    result->closing_edges = races->races > counted ? races->races : counted;
    result->verdict = raced               ? TMS_VERDICT_RACE
                      : !result->complete ? TMS_VERDICT_INCOMPLETE
                                          : TMS_VERDICT_NO_RACE;
    result->events = races->events;
    result->seconds = races->seconds;
}

int tms_analysis_observe_races(struct tms_analysis *analysis,
                               const struct tms_observed_races *races)
{
    bool open = !analysis->finished && analysis->failed == TMS_OK && analysis->observed == 1;
    struct tms_run *run = open ? add_run(analysis, RACES) : NULL;

    if (run == NULL) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "this analysis has ended, has no result of " ALGORITHM
                        " that was observed, or has one of " RACES " already");
    }
    run->host.findings =
        tms_findings_new(analysis->context, &analysis->settings, &run->host.memory);
    int code = run->host.findings != NULL ? take_races(run, races) : TMS_ERR_MEMORY;
    if (code != TMS_OK) {
        analysis->failed = code;
        return code == TMS_ERR_MEMORY ? tms_fail_memory(analysis->context) : code;
    }
    fill_races(run, races);
    return TMS_OK;
}

/* ---- the whole ---------------------------------------------------------------------------- */

int tms_analysis_observed(struct tms_context *context, const struct tms_settings *settings,
                          const struct tms_observation *observation, struct tms_analysis **out)
{
    struct tms_settings own;

    tms_settings_init(&own);
    if (settings != NULL) {
        own = *settings;
    }
    own.engines = ""; /* none is to work */
    int code = tms_analysis_new(context, &own, out);
    if (code == TMS_OK) {
        code = tms_analysis_observe(*out, observation);
    }
    if (code == TMS_OK) {
        code = tms_analysis_finish(*out);
    }
    if (code != TMS_OK) {
        tms_analysis_free(*out);
        *out = NULL;
    }
    return code;
}
