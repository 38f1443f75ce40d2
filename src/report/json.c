/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for programs: one JSON object on one line. docs/schema/result.schema.json says
 * what is in it; fields are added, never renamed.
 */
#include <inttypes.h>
#include <time.h>

#include "report/json_finding.h"
#include "report/json_write.h"
#include "report/report.h"

static void write_timing(FILE *out, const struct tms_timing *timing)
{
    tms_json_number(out, ", \"timing\": {", "runs", timing->runs);
    fprintf(out,
            ", \"until_first\": %s, \"min_seconds\": %.9f, \"median_seconds\": %.9f, "
            "\"max_seconds\": %.9f, \"pass_seconds\": %.9f",
            tms_json_bool(timing->until_first), timing->least, timing->median, timing->most,
            timing->pass);
    tms_json_number(out, ", ", "events", timing->events);
    fputc('}', out);
}

static void write_stats(FILE *out, const struct tms_result *result, const struct tms_timing *timing)
{
    double rate = result->seconds > 0 ? (double)result->events / result->seconds : 0;

    fputs(", \"stats\": {", out);
    tms_json_seconds(out, "", result->seconds);
    fprintf(out, ", \"events_per_second\": %.0f", rate);
    tms_json_number(out, ", ", "peak_memory_bytes", result->memory_bytes);
    fputs(", \"counters\": {", out);
    for (size_t i = 0; i < result->counter_count; i++) {
        tms_json_number(out, i > 0 ? ", " : "", result->counters[i].name,
                        result->counters[i].value);
    }
    fputc('}', out);
    if (timing != NULL) {
        write_timing(out, timing);
    }
    fputc('}', out);
}

static void write_result(const struct tms_report_job *job, const struct tms_result *result,
                         const struct tms_timing *timing)
{
    FILE *out = job->out;

    tms_json_text(out, "{", "engine", result->engine->name);
    tms_json_text(out, ", ", "verdict", tms_verdict_text(result->verdict));
    fprintf(out, ", \"complete\": %s", tms_json_bool(result->complete));
    tms_json_text(out, ", ", "loss", result->loss);
    fputs(", \"first_violation_event\": ", out);
    if (result->first_violation_event != 0) {
        fprintf(out, "%" PRIu64, result->first_violation_event);
    } else {
        fputs("null", out);
    }
    tms_json_number(out, ", ", "violation_count", result->violations);
    tms_json_number(out, ", ", "closing_edges", result->closing_edges);
    tms_json_number(out, ", ", "unlisted", result->unlisted);
    tms_json_if(out, "assumption", result->assumption);
    fputs(", \"violations\": [", out);
    for (size_t i = 0; i < result->finding_count + result->known + result->suppressed; i++) {
        fputs(i > 0 ? ", " : "", out);
        tms_json_finding(job, result, &result->findings[i]);
    }
    fputc(']', out);
    write_stats(out, result, timing);
    fputc('}', out);
}

/* A number that a watched program does not count. */
static void member_counted(FILE *out, const char *key, uint64_t value, bool counted)
{
    if (counted) {
        tms_json_number(out, ", ", key, value);
    } else {
        tms_json_text(out, ", ", key, NULL);
    }
}

static void write_trace(const struct tms_report_job *job, const struct tms_trace_summary *summary)
{
    FILE *out = job->out;

    tms_json_text(out, ", \"trace\": {", "path", job->settings->path);
    tms_json_text(out, ", ", "format", job->settings->format);
    member_counted(out, "events", summary->events, !summary->rough || summary->events > 0);
    tms_json_number(out, ", ", "threads", summary->threads);
    member_counted(out, "variables", summary->variables, !summary->rough);
    member_counted(out, "locks", summary->locks, !summary->rough);
    tms_json_number(out, ", ", "transactions", summary->transactions);
    tms_json_number(out, ", ", "not_atomic", summary->not_atomic);
    member_counted(out, "unary", summary->unary, !summary->rough);
    tms_json_number(out, ", ", "skipped", summary->skipped);
    tms_json_seconds(out, ", ", summary->seconds);
    tms_json_text(out, ", ", "loss", tms_analysis_loss(job->analysis));
    if (job->settings->coverage.known) {
        tms_json_number(out, ", ", "functions_shared", job->settings->coverage.functions_shared);
        tms_json_number(out, ", ", "functions_met", job->settings->coverage.functions_met);
    }
    if (job->settings->blocks != NULL) {
        tms_json_text(out, ", ", "blocks", job->settings->blocks);
    }
    if (job->settings->locks_only) {
        fputs(", \"locks_only\": true", out);
    }
    fputc('}', out);
}

/* "2026-11-17T08:12:03.250Z": when it began; null if that is not known. */
static void write_started(FILE *out, double started)
{
    time_t whole = (time_t)started;
    struct tm parts;
    char text[32];

    if (started <= 0 || gmtime_r(&whole, &parts) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts) == 0) {
        tms_json_text(out, ", ", "started", NULL);
        return;
    }
    fprintf(out, ", \"started\": \"%s.%03dZ\"", text, (int)((started - (double)whole) * 1000));
}

/* How the program ended. */
static void write_exit(FILE *out, const struct tms_report_settings *settings)
{
    if (!settings->ended) {
        return;
    }
    if (settings->exit_signal != 0) {
        fprintf(out, ", \"exit\": {\"status\": null, \"signal\": %d}", settings->exit_signal);
    } else {
        fprintf(out, ", \"exit\": {\"status\": %d, \"signal\": null}", settings->exit_status);
    }
}

/* What was run, when, and where. */
static void write_origin(const struct tms_report_job *job, const struct tms_trace_summary *summary)
{
    const struct tms_report_settings *settings = job->settings;

    if (settings->processes > 0) {
        fputs(", \"merged\": true", job->out);
        tms_json_number(job->out, ", ", "processes", settings->processes);
    }
    if (settings->partial) {
        fputs(", \"partial\": true", job->out);
    }
    tms_json_text(job->out, ", ", "command", settings->command);
    write_started(job->out, settings->started);
    tms_json_seconds(job->out, ", ", settings->seconds > 0 ? settings->seconds : summary->seconds);
    if (settings->seeded) {
        tms_json_number(job->out, ", ", "seed", settings->seed);
    } else {
        tms_json_text(job->out, ", ", "seed", NULL);
    }
    tms_json_text(job->out, ", ", "host", settings->host);
    write_exit(job->out, settings);
}

/* The schedule, and the windows that were seen. */
static void write_steering(const struct tms_report_job *job, const struct tms_steering *steering)
{
    FILE *out = job->out;

    tms_json_text(out, ", \"schedule\": {", "strategy", steering->strategy);
    tms_json_number(out, ", ", "seed", steering->seed);
    tms_json_number(out, ", ", "points", steering->points);
    tms_json_number(out, ", ", "delays", steering->delays);
    tms_json_number(out, ", ", "holds", steering->holds);
    tms_json_number(out, ", ", "met", steering->met);
    tms_json_number(out, ", ", "released", steering->released);
    fputs("}, \"windows\": [", out);
    for (size_t i = 0; i < steering->window_count; i++) {
        fputs(i > 0 ? ", " : "", out);
        tms_json_window(job, &steering->windows[i]);
    }
    fputc(']', out);
}

int tms_report_json(const struct tms_report_job *job)
{
    struct tms_trace_summary summary;
    const struct tms_result *result;

    tms_analysis_summary(job->analysis, &summary);
    fputs("{\"schema\": 1, \"tool\": \"tmesis\"", job->out);
    tms_json_text(job->out, ", ", "version", tms_version());
    write_origin(job, &summary);
    write_trace(job, &summary);
    fputs(", \"results\": [", job->out);
    for (size_t i = 0; (result = tms_analysis_result(job->analysis, i)) != NULL; i++) {
        fputs(i > 0 ? ", " : "", job->out);
        write_result(job, result,
                     i < job->settings->timing_count ? &job->settings->timings[i] : NULL);
    }
    fputc(']', job->out);
    if (job->settings->steering != NULL) {
        write_steering(job, job->settings->steering);
    }
    fputs("}\n", job->out);
    return TMS_OK;
}
