/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis report: a result again, as text or as a document for other programs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/report_files.h"
#include "cli/report_options.h"
#include "cli/show_result.h"
#include "cli/store_option.h"
#include "cli/stored_results.h"
#include "hunt/hunt_directory.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    struct tms_reporting reporting;
    const char *format, *output;
    struct tms_maybe store;
    uint64_t result, labels;
    bool potential, races;
};

#define AT(field) offsetof(struct values, field)

#define TEXT "text"

/* "text", and the formats of documents. */
static const char *word_format(size_t index)
{
    return index == 0 ? TEXT : tms_word_export(index - 1);
}

static const struct tms_option options[] = {
    {.name = "format",
     .type = TMS_OPTION_CHOICE,
     .at = AT(format),
     .initial = TEXT,
     .word = word_format,
     .value = "FORMAT",
     .help = "what to write: the text report, or a document for other programs"},
    {.name = "output",
     .letter = 'o',
     .type = TMS_OPTION_TEXT,
     .at = AT(output),
     .value = "FILE",
     .help = "write to FILE instead of standard output"},
    {.name = "store",
     .type = TMS_OPTION_MAYBE,
     .at = AT(store),
     .value = "FILE",
     .help = "report on results of the history FILE, " TMS_STORE_FILE " by default: "
             "those of a LABEL or revision, or without one those of the last label"},
    {.name = "labels",
     .type = TMS_OPTION_COUNT,
     .at = AT(labels),
     .least = 1,
     .value = "N",
     .help = "with --store: report on the last N labels together"},
    {.name = "result",
     .type = TMS_OPTION_COUNT,
     .at = AT(result),
     .least = 1,
     .value = "N",
     .help = "with --store: report on the result with this number in tmesis history results"},
    TMS_REPORTING_OPTIONS(AT(reporting)),
    {.name = "potential",
     .type = TMS_OPTION_FLAG,
     .at = AT(potential),
     .environment = true,
     .help = "also show potential findings, if the result has any"},
    {.name = "races",
     .type = TMS_OPTION_FLAG,
     .at = AT(races),
     .environment = true,
     .help = "also show data races, if the result has any"},
    {0}};

/* ---- writing ------------------------------------------------------------------------------ */

/* The results that are shown. */
struct shown {
    struct tms_saved *saved;
    size_t count;
    const struct tms_timeline *timeline; /* NULL: they are not from a history */
};

static int show_texts(const struct shown *shown, const struct tms_report_settings *settings,
                      FILE *out)
{
    int status = TMS_EXIT_OK;

    for (size_t i = 0; i < shown->count && status == TMS_EXIT_OK; i++) {
        struct tms_saved *saved = &shown->saved[i];
        for (size_t j = 0; j < saved->object_count && status == TMS_EXIT_OK; j++) {
            if (tms_saved_is_shown(saved, j)) {
                status = tms_show_result(saved, j, settings, out, NULL, NULL);
            }
        }
        if (i + 1 < shown->count && !settings->quiet) {
            fputc('\n', out);
        }
    }
    return status;
}

static int show_text(const struct shown *shown, const char *output,
                     const struct tms_report_settings *settings)
{
    struct tms_new_file file = {0};
    int status = tms_new_file_open_text(&file, output);

    if (status == TMS_EXIT_OK) {
        status = show_texts(shown, settings, file.stream.out);
        if (status != TMS_EXIT_OK) {
            tms_new_file_abandon(&file);
            return status;
        }
        status = tms_new_file_close(&file);
    }
    return status;
}

static int show(const struct shown *shown, const struct values *values)
{
    struct tms_report_settings settings;
    int to = values->output == NULL ? STDOUT_FILENO : -1;

    tms_reporting_settings(&values->reporting, &values->common, &settings);
    settings.color = tms_console_color(values->common.color, to);
    settings.width = tms_console_columns(to);
    settings.potential = values->potential;
    settings.races = values->races;
    settings.timeline = shown->timeline;
    return strcmp(values->format, TEXT) == 0
               ? show_text(shown, values->output, &settings)
               : tms_report_file(shown->saved, shown->count, values->format, values->output,
                                 &settings);
}

/* ---- where results come from -------------------------------------------------------------- */

static bool spares(const char *output, const char *input, const char *other)
{
    const char *const files[] = {input, other};
    const struct tms_operands inputs = {files, other != NULL ? 2 : 1};

    return output == NULL || tms_new_file_spares(output, &inputs, NULL);
}

static int report_file(const struct values *values, const char *result)
{
    char reason[TMS_SAVED_REASON], path[PATH_MAX], runs[PATH_MAX];
    struct tms_saved saved;

    tms_hunt_directory_json_path(result, path);
    if (!spares(values->output, path, tms_hunt_directory_runs_path(path, runs) ? runs : NULL)) {
        return TMS_EXIT_BAD;
    }
    int status = tms_saved_open(&saved, path, reason)
                     ? show(&(struct shown){.saved = &saved, .count = 1}, values)
                     : tms_bad("%s", reason);
    tms_saved_close(&saved);
    return status;
}

/* Without a choice, the results of the last label. */
static int report_stored(const struct values *values, const char *name)
{
    const char *path = tms_store_path(&values->store);
    const struct tms_history_choice choice = {
        .name = name,
        .result = values->result,
        .labels = name == NULL && values->result == 0 && values->labels == 0 ? 1 : values->labels};
    struct tms_stored_results stored;

    if (!spares(values->output, path, NULL)) {
        return TMS_EXIT_BAD;
    }
    int status = tms_stored_results_open(&stored, path, &choice);
    if (status == TMS_EXIT_OK && stored.unkept > 0 && !values->common.quiet) {
        tms_say("%zu of %zu results are left out, since the history has only their counts; "
                "importing their files again brings them back",
                stored.unkept, stored.unkept + stored.count);
    }
    if (status == TMS_EXIT_OK) {
        status =
            show(&(struct shown){stored.saved, stored.count, &stored.over_time.timeline}, values);
    }
    tms_stored_results_free(&stored);
    return status;
}

/* False after a sentence. */
static bool usage_is_good(const struct values *values, const struct tms_operands *operands)
{
    unsigned choices = (operands->count > 0) + (values->result > 0) + (values->labels > 0);

    if (!values->store.given && (values->result > 0 || values->labels > 0)) {
        tms_say("--%s is about results of a history; add --store",
                values->result > 0 ? "result" : "labels");
        return false;
    }
    if (!values->store.given && operands->count == 0) {
        tms_say("report needs a RESULT, or --store; see tmesis report --help");
        return false;
    }
    if (choices > 1) {
        tms_say("a LABEL, --labels and --result choose results in different ways; use one of them");
    }
    return choices <= 1;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    const char *operand = operands->count > 0 ? operands->text[0] : NULL;

    if (!usage_is_good(values, operands)) {
        return TMS_EXIT_BAD;
    }
    return values->store.given ? report_stored(values, operand) : report_file(values, operand);
}

const struct tms_command tms_command_report = {
    .name = "report",
    .summary = "show a result again, or write it in another format",
    .group = TMS_GROUP_RESULT,
    .usage = "RESULT | --store[=FILE] [LABEL]",
    .about =
        "Prints RESULT to standard output, as text or in the format of another program. RESULT "
        "is the directory of a hunt, or a file written by hunt --json, run --json or check "
        "--json (\"-\" is standard input). Nothing is run or analysed again.\n"
        "With --store, reports on the stored results with this label or revision. Findings are "
        "then shown once, HTML has their occurrences over time, and what tmesis history suppress "
        "suppresses is marked.\n\n"
        "Exit status: 0, or 2 if RESULT can't be read or the report can't be written.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 0,
    .operands_most = 1,
    .run = run,
};
