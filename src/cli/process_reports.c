/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on the processes of a run; see process_reports.h. */
#include "cli/process_reports.h"

#include <stdlib.h>

#include "cli/run_origin.h"
#include "protocol/config.h"
#include "spool/spool_schedule.h"

static bool is_locks_only(const struct tms_process_result *process)
{
    return (process->spool.header.mode & (TMS_RT_LOCKS_ONLY | TMS_RT_NO_MEMORY)) != 0;
}

static struct tms_coverage coverage_of(const struct tms_spool_live *live)
{
    return (struct tms_coverage){.known = live->has_coverage != 0,
                                 .functions_shared = live->functions_shared,
                                 .functions_met = live->functions_met};
}

/* For one process, or with `path` for all of them, of which the first is given. */
static struct tms_report_settings settings_for(const struct tms_process_reports *reports,
                                               const struct tms_process_result *process,
                                               const char *path)
{
    const struct tms_spool_header *header = &process->spool.header;
    struct tms_report_settings settings = reports->settings;

    settings.path = path != NULL ? path : process->title;
    settings.command = reports->watched->command;
    settings.format = TMS_FORMAT_LIVE;
    settings.blocks = *header->block_source != '\0' ? header->block_source : NULL;
    settings.seconds = path != NULL ? reports->watched->seconds
                                    : tms_process_result_seconds(process, reports->watched);
    settings.started = header->started != 0 ? tms_origin_monotonic(header->started)
                                            : tms_origin_now() - settings.seconds;
    settings.host = tms_origin_host();
    settings.seed = reports->watched->seed;
    settings.baseline = reports->known.baseline != NULL;
    settings.processes = path != NULL ? reports->count : 0;
    settings.partial = reports->watched->running;
    settings.ended = !reports->watched->running && (path != NULL || !process->child);
    settings.exit_status = reports->watched->status;
    settings.exit_signal =
        reports->watched->signalled ? reports->watched->status - TMS_EXIT_SIGNAL : 0;
    settings.coverage = path != NULL ? reports->coverage : coverage_of(&process->spool.live);
    settings.locks_only = path != NULL ? reports->locks_only : is_locks_only(process);
    if (settings.locks_only) { /* nothing is worse than a note there */
        settings.notes = settings.potential = true;
    }
    return settings;
}

/* That a file could not be written is seen when it is closed. */
static int write_json(const struct tms_process_reports *reports,
                      const struct tms_analysis *analysis,
                      const struct tms_report_settings *settings)
{
    int code = reports->json != NULL
                   ? tms_report(analysis, "json", settings, tms_console_sink, reports->json)
                   : TMS_OK;

    return code == TMS_OK || code == TMS_ERR_IO
               ? tms_report_files_add(reports->files, analysis, settings)
               : code;
}

static bool wants_json(const struct tms_process_reports *reports)
{
    return reports->json != NULL || (reports->files != NULL && reports->files->json != NULL);
}

int tms_process_report(const struct tms_process_reports *reports,
                       struct tms_process_result *process, struct tms_analysis *analysis)
{
    struct tms_report_settings settings = settings_for(reports, process, NULL);
    struct tms_steering steering = {0};
    int code = tms_known_mark(&reports->known, analysis);

    if (code == TMS_OK && wants_json(reports)) {
        code = tms_spool_steering(&process->names, &steering);
        settings.steering = steering.strategy != NULL ? &steering : NULL;
    }
    code = code == TMS_OK ? write_json(reports, analysis, &settings) : code;
    free((void *)(uintptr_t)steering.windows);
    return code;
}

/* ---- several processes -------------------------------------------------------------------- */

static int start_merging(struct tms_process_reports *reports)
{
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = "";
    reports->context = tms_context_new(tms_console_complain, NULL);
    if (reports->context == NULL) {
        return TMS_ERR_MEMORY;
    }
    int code = tms_analysis_new(reports->context, &settings, &reports->merged);
    return code == TMS_OK ? tms_analysis_merge(reports->merged, reports->alone) : code;
}

/* Processes of a run mostly have functions in common: those of the one that got furthest count. */
static void note_coverage(struct tms_process_reports *reports,
                          const struct tms_process_result *process)
{
    const struct tms_coverage *most = &reports->coverage;
    struct tms_coverage coverage = coverage_of(&process->spool.live);
    bool further = coverage.functions_met != most->functions_met
                       ? coverage.functions_met > most->functions_met
                       : coverage.functions_shared >= most->functions_shared;

    if (coverage.known && further) {
        reports->coverage = coverage;
    }
}

int tms_process_reports_add(struct tms_process_reports *reports, struct tms_process_result *process,
                            struct tms_analysis *analysis)
{
    note_coverage(reports, process);
    reports->locks_only = reports->locks_only || is_locks_only(process);
    if (reports->count++ == 0) {
        reports->first = process;
        reports->alone = analysis;
        return TMS_OK;
    }
    int code = reports->merged == NULL ? start_merging(reports) : TMS_OK;
    if (code == TMS_OK) {
        code = tms_analysis_merge(reports->merged, analysis);
    }
    if (code != TMS_OK) {
        tms_process_result_bad(process, code);
    }
    tms_analysis_free(analysis);
    tms_process_result_free(process);
    return code;
}

/* ---- the end ------------------------------------------------------------------------------ */

static int write_text(const struct tms_analysis *analysis,
                      const struct tms_report_settings *settings)
{
    int code = tms_report(analysis, "text", settings, tms_console_sink, stderr);

    return code == TMS_ERR_IO ? TMS_OK : code;
}

static int finish_merged(const struct tms_process_reports *reports)
{
    char *path;
    int code = tms_known_mark(&reports->known, reports->merged);

    if (code != TMS_OK ||
        asprintf(&path, "%s (%zu processes)", reports->watched->command, reports->count) < 0) {
        return TMS_ERR_MEMORY;
    }
    struct tms_report_settings settings = settings_for(reports, reports->first, path);
    code = write_text(reports->merged, &settings);
    if (code == TMS_OK) {
        code = write_json(reports, reports->merged, &settings);
    }
    free(path);
    return code;
}

int tms_process_reports_finish(const struct tms_process_reports *reports)
{
    int code = TMS_OK;

    if (reports->merged != NULL) {
        code = finish_merged(reports);
    } else if (reports->alone != NULL) {
        struct tms_report_settings settings = settings_for(reports, reports->first, NULL);
        code = write_text(reports->alone, &settings);
    }
    if (code != TMS_OK) {
        tms_say("%s", tms_strerror(code));
    }
    return code;
}

void tms_process_reports_free(struct tms_process_reports *reports)
{
    tms_analysis_free(reports->merged);
    tms_context_free(reports->context);
    tms_analysis_free(reports->alone);
    tms_process_result_free(reports->first);
    tms_known_close(&reports->known);
}
