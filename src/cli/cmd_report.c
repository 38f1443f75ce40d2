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
#include "hunt/hunt_directory.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    struct tms_reporting reporting;
    const char *format, *output;
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

static int show_text(struct tms_saved *saved, const char *output,
                     const struct tms_report_settings *settings)
{
    struct tms_new_file file = {0};
    int status = tms_new_file_open_text(&file, output);

    if (status != TMS_EXIT_OK) {
        return status;
    }
    for (size_t i = 0; i < saved->object_count && status == TMS_EXIT_OK; i++) {
        if (tms_saved_is_shown(saved, i)) {
            status = tms_show_result(saved, i, settings, file.stream.out, NULL, NULL);
        }
    }
    if (status != TMS_EXIT_OK) {
        tms_new_file_abandon(&file);
        return status;
    }
    return tms_new_file_close(&file);
}

static int show(struct tms_saved *saved, const struct values *values)
{
    struct tms_report_settings settings;
    int to = values->output == NULL ? STDOUT_FILENO : -1;

    tms_reporting_settings(&values->reporting, &values->common, &settings);
    settings.color = tms_console_color(values->common.color, to);
    settings.width = tms_console_columns(to);
    settings.potential = values->potential;
    settings.races = values->races;
    return strcmp(values->format, TEXT) == 0
               ? show_text(saved, values->output, &settings)
               : tms_report_file(saved, 1, values->format, values->output, &settings);
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    char reason[TMS_SAVED_REASON], path[PATH_MAX];
    const char *input = path;
    const struct tms_operands inputs = {&input, 1};
    struct tms_saved saved;

    tms_hunt_directory_json_path(operands->text[0], path);
    if (values->output != NULL && !tms_new_file_spares(values->output, &inputs, NULL)) {
        return TMS_EXIT_BAD;
    }
    int status =
        tms_saved_open(&saved, path, reason) ? show(&saved, values) : tms_bad("%s", reason);
    tms_saved_close(&saved);
    return status;
}

const struct tms_command tms_command_report = {
    .name = "report",
    .summary = "show a result again, or write it in another format",
    .group = TMS_GROUP_RESULT,
    .usage = "RESULT",
    .about =
        "Prints RESULT to standard output, as text or in the format of another program. RESULT "
        "is the directory of a hunt, or a file written by hunt --json, run --json or check "
        "--json (\"-\" is standard input). Nothing is run or analysed again.\n\n"
        "Exit status: 0, or 2 if RESULT can't be read or the report can't be written.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .operands_most = 1,
    .run = run,
};
