/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis check: recorded traces in, a report and an exit status out. A trace that can't be
 * read does not keep the others from being checked.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/baseline_option.h"
#include "cli/check_job.h"
#include "cli/check_measure.h"
#include "cli/check_outputs.h"
#include "cli/console.h"
#include "cli/engine_options.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/predict_options.h"
#include "cli/report_files.h"
#include "cli/report_options.h"
#include "cli/run_origin.h"
#include "cli/spec_options.h"
#include "cli/store_option.h"
#include "cli/suppress_options.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    struct tms_engine_options checking;
    struct tms_reading reading;
    struct tms_check_outputs outputs;
    struct tms_measure_options measure;
    const char *baseline;
    struct tms_given rules;
    struct tms_predicting predicting;
    struct tms_suppressing suppressing;
    struct tms_reporting reporting;
    struct tms_given reports;
    struct tms_storing storing;
    double timeout;
    bool first, table;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    TMS_ENGINE_OPTIONS(AT(checking),
                       "which engines check the trace, in one pass; tmesis engines describes them",
                       "which engines check it; see tmesis engines",
                       "give only the verdict, faster: don't determine which blocks are at fault",
                       "list each violation instead of one finding per pattern with a count"),
    {.name = "first",
     .type = TMS_OPTION_FLAG,
     .at = AT(first),
     .environment = true,
     .help = "stop at the first violation",
     .brief = "stop at the first violation"},
    TMS_SPEC_OPTIONS(AT(rules)),
    TMS_PREDICTING_OPTIONS(AT(predicting)),
    TMS_SUPPRESS_OPTIONS(AT(suppressing)),
    TMS_REPORTING_OPTIONS(AT(reporting)),
    TMS_READING_OPTIONS(AT(reading)),
    TMS_CHECK_OUTPUT_OPTIONS(AT(outputs)),
    TMS_REPORT_FILES_OPTION(AT(reports)),
    TMS_STORING_OPTIONS(AT(storing)),
    TMS_BASELINE_OPTION(AT(baseline)),
    {.name = "table",
     .type = TMS_OPTION_FLAG,
     .at = AT(table),
     .environment = true,
     .help = "print a table instead of the report, with a row per engine: its answer, time and "
             "memory",
     .brief = "print a table with a row per engine"},
    TMS_MEASURE_OPTIONS(AT(measure)),
    {.name = "timeout",
     .type = TMS_OPTION_SECONDS,
     .at = AT(timeout),
     .initial = "0",
     .environment = true,
     .value = "SECONDS",
     .help = "stop an engine that takes longer than this; the others go on; 0: no limit"},
    {0}};

/* ---- one trace ------------------------------------------------------------------------ */

/* What holds for all traces. */
struct terms {
    const struct values *values;
    struct tms_settings settings;
    struct tms_fail_on fail_on;
    struct tms_rules rules;
    struct tms_suppress suppress;
    struct tms_known known;
    char engines[TMS_ENGINE_LIST_SIZE];
};

struct job {
    const struct values *values;
    struct terms *terms;
    struct tms_checking checking;
    struct tms_measured measured;
    double started;
    struct tms_check_files *files;
    struct tms_report_files *reports;
    bool starved; /* memory ran out, perhaps in the middle of an object of JSON */
};

/* What is the same for all traces. */
static struct tms_report_settings common_settings(const struct terms *terms)
{
    const struct values *values = terms->values;
    struct tms_report_settings settings;

    tms_reporting_settings(&values->reporting, &values->common, &settings);
    tms_engine_report_settings(&values->checking, &values->predicting, &settings);
    settings.host = tms_origin_host();
    settings.baseline = terms->known.baseline != NULL;
    return settings;
}

static int report(const struct job *job)
{
    const struct tms_checking *checking = &job->checking;
    struct tms_report_settings settings = common_settings(job->terms);

    settings.path = checking->path;
    settings.format = tms_reader_format(checking->reader);
    settings.started = job->started;
    settings.timings = job->measured.timings;
    settings.timing_count = job->measured.count;
    bool table = job->values->table || tms_measure_wanted(&job->values->measure);
    int code = tms_report(checking->analysis, table ? "table" : "text", &settings, tms_console_sink,
                          stderr);
    if (code == TMS_ERR_MEMORY) {
        return code;
    }
    code = tms_check_files_add(job->files, checking->analysis, &settings);
    return code == TMS_OK ? tms_report_files_add(job->reports, checking->analysis, &settings)
                          : code;
}

static int run_job(struct job *job)
{
    struct tms_checking *checking = &job->checking;
    const struct values *values = job->values;
    const struct tms_measuring measuring = {.options = &values->measure,
                                            .reading = &values->reading,
                                            .settings = &job->terms->settings,
                                            .common = &values->common};
    int code = tms_measure(&job->measured, checking, &measuring);

    if (code == TMS_OK) {
        code = tms_known_mark(&job->terms->known, checking->analysis);
    }
    if (code == TMS_OK) {
        code = report(job);
        tms_suppress_take(&job->terms->suppress, checking->analysis);
    }
    int status = code == TMS_OK ? tms_checking_status(checking, &job->terms->fail_on)
                                : tms_checking_bad(checking, code, &values->reading);
    job->starved = code == TMS_ERR_MEMORY;
    job->reports->broken = job->reports->broken || job->starved;
    if (code != TMS_OK && !job->starved) {
        tms_check_files_add_bad(job->files, checking);
        tms_report_files_add_bad(job->reports, checking->path, tms_error(checking->context));
    }
    tms_measured_free(&job->measured);
    tms_checking_free(checking);
    return status;
}

/* ---- all of them ---------------------------------------------------------------------- */

static int run_jobs(struct terms *terms, const struct tms_operands *operands,
                    struct tms_report_files *reports)
{
    const struct values *values = terms->values;
    struct tms_check_files files = {0};
    int status = tms_check_files_open(&files, &values->outputs);
    bool open = status == TMS_EXIT_OK, starved = false;

    for (size_t i = 0; i < operands->count && open; i++) {
        struct job job = {.values = values,
                          .terms = terms,
                          .started = tms_origin_now(),
                          .checking.path = operands->text[i],
                          .files = &files,
                          .reports = reports};
        if (i > 0 && !values->common.quiet) {
            fputc('\n', stderr);
        }
        status = tms_console_worse(status, run_job(&job));
        starved = starved || job.starved;
    }
    return tms_console_worse(status, tms_check_files_close(&files, !open || starved));
}

/* The same, and the documents about it. */
static int run_and_export(struct terms *terms, const struct tms_operands *operands)
{
    struct tms_report_settings settings = common_settings(terms);
    struct tms_report_files files;
    int status = tms_report_files_open(&files, &terms->values->reports, &terms->values->storing);

    if (status == TMS_EXIT_OK) {
        status = run_jobs(terms, operands, &files);
        status = tms_console_worse(status, tms_report_files_write(&files, &settings));
    }
    tms_report_files_free(&files);
    return status;
}

/* Did the traces show all their labels? Not if one was bad, or left at its first violation. */
static bool read_to_the_end(const struct values *values, int status)
{
    bool stops = values->first || values->measure.until_first;

    return status != TMS_EXIT_BAD && !(stops && status == TMS_EXIT_VIOLATION);
}

/* May the output be written, beside all inputs and other outputs? */
static bool output_is_good(const struct values *values, const struct tms_operands *operands,
                           const char *output)
{
    return output == NULL ||
           (tms_new_file_spares(output, operands, &values->rules) &&
            tms_new_file_spares(output, NULL, &values->suppressing.rules) &&
            tms_suppress_spares(&values->suppressing, operands, &values->rules, output) &&
            tms_report_files_good(&values->reports, operands, &values->rules, output) &&
            tms_storing_spares(&values->storing, output));
}

static bool outputs_are_good(const struct values *values, const struct tms_operands *operands)
{
    return tms_check_outputs_differ(&values->outputs) &&
           tms_suppress_spares(&values->suppressing, operands, &values->rules, NULL) &&
           tms_storing_spares(&values->storing, values->suppressing.output) &&
           tms_report_files_good(&values->reports, operands, &values->rules, NULL) &&
           tms_report_files_good(&values->reports, NULL, &values->suppressing.rules,
                                 values->suppressing.output) &&
           output_is_good(values, operands, tms_check_output(&values->outputs.json)) &&
           output_is_good(values, operands, tms_check_output(&values->outputs.csv)) &&
           tms_known_spared(values->baseline, &values->reports,
                            tms_check_output(&values->outputs.json),
                            tms_check_output(&values->outputs.csv)) &&
           tms_known_spared(values->baseline, &values->reports, values->suppressing.output, NULL);
}

static bool usage_is_good(struct terms *terms, const struct tms_operands *operands)
{
    const struct values *values = terms->values;
    const char *other = values->first ? "--first" : values->baseline != NULL ? "--baseline" : NULL;

    return tms_fail_on_parse(&terms->fail_on, values->predicting.fail_on, TMS_LEVEL_NOTE) &&
           tms_predicting_levels(&values->predicting, &terms->fail_on, values->checking.engines) &&
           tms_standard_input_once(operands, &values->rules, &values->suppressing.rules) &&
           outputs_are_good(values, operands) &&
           tms_measure_good(&values->measure, operands, other) &&
           tms_storing_good(&values->storing, NULL, &values->reports);
}

static void settle_settings(struct terms *terms)
{
    const struct values *values = terms->values;
    struct tms_settings *settings = &terms->settings;

    tms_settings_init(settings);
    settings->expect_blocks = true;
    settings->engines =
        tms_predicting_engines(&values->predicting, values->checking.engines, terms->engines);
    tms_engine_settings(&values->checking, settings);
    settings->first = values->first;
    settings->timeout = values->timeout;
    settings->spec = terms->rules.spec;
    settings->suppressions = terms->suppress.list;
    tms_reading_settings(&values->reading, settings);
    tms_predicting_settings(&values->predicting, settings);
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    struct terms terms = {.values = all_values};

    if (!usage_is_good(&terms, operands)) {
        return TMS_EXIT_BAD;
    }
    int status = tms_rules_open(&terms.rules, &terms.values->rules);
    if (status == TMS_EXIT_OK) {
        status = tms_suppress_open(&terms.suppress, &terms.values->suppressing);
    }
    status = tms_console_worse(status, tms_known_open(&terms.known, terms.values->baseline));
    if (status == TMS_EXIT_OK) {
        settle_settings(&terms);
        status = run_and_export(&terms, operands);
        if (read_to_the_end(terms.values, status) && !terms.values->common.quiet) {
            tms_rules_warn(&terms.rules);
            tms_suppress_warn(&terms.suppress);
        }
        status = tms_console_worse(status, tms_suppress_write(&terms.suppress, "tmesis check"));
    }
    tms_known_close(&terms.known);
    tms_suppress_close(&terms.suppress);
    tms_rules_close(&terms.rules);
    return status;
}

const struct tms_command tms_command_check = {
    .name = "check",
    .group = TMS_GROUP_TRACE,
    .summary = "check recorded traces for atomicity violations",
    .usage = "TRACE…",
    .about =
        "Decides for each TRACE (\"-\" is standard input) whether some order of its atomic blocks, "
        "one after the other, gives the same result. If none does, shows which blocks were cut "
        "apart, where, and by which thread. Also shows which blocks could be cut apart with "
        "another timing. The report goes to standard error.\n\n"
        "Exit status over all traces: 2 if one could not be read, else 1 if one has a "
        "violation (--fail-on), else 3 if a verdict is incomplete, else 0.",
    .brief = "Reports on standard error whether atomic blocks in each TRACE (\"-\" is standard "
             "input) were cut apart by other threads, or could be with another timing.\n\n"
             "Exit status: 0 no violation, 1 violation, 2 bad input, 3 incomplete.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .run = run,
};
