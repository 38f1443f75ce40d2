/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings from elsewhere as an analysis of our own, so that everything behind it, ids, reports
 * and exit status, is the same for a program that was watched as for a trace that was read.
 */
#include <stdio.h>
#include <string.h>

#include "engine/analysis.h"

#define ALGORITHM "frontier"

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

/* The run of the algorithm that worked elsewhere; NULL if there is one that works here. */
static struct tms_run *add_run(struct tms_analysis *analysis)
{
    const struct tms_engine *engine = tms_engine_find(ALGORITHM, strlen(ALGORITHM));

    for (size_t i = 0; i < analysis->run_count; i++) {
        if (analysis->runs[i].engine == engine) {
            return NULL;
        }
    }
    struct tms_run *run = &analysis->runs[analysis->run_count++];
    run->engine = engine;
    analysis->observed = true;
    return run;
}

int tms_analysis_observe(struct tms_analysis *analysis, const struct tms_observation *observation)
{
    bool open = !analysis->finished && analysis->failed == TMS_OK;

    if (open) {
        tms_analysis_flush(analysis); /* for those that work here */
    }
    struct tms_run *run = open ? add_run(analysis) : NULL;
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
