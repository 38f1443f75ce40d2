/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis report: the text report of a result again. */
#include <stdio.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "cli/show_result.h"
#include "hunt/hunt_directory.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    struct tms_reporting reporting;
    bool potential, races;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    TMS_REPORTING_OPTIONS(AT(reporting)),
    {.name = "potential",
     .type = TMS_OPTION_FLAG,
     .at = AT(potential),
     .environment = true,
     .help = "show findings that are merely potential as well, if the result has any"},
    {.name = "races",
     .type = TMS_OPTION_FLAG,
     .at = AT(races),
     .environment = true,
     .help = "show data races as well, if the result has any"},
    {0}};

/* Of several processes what they found together is shown, if that is there. */
static bool is_shown(const struct tms_saved *saved, size_t index)
{
    bool merged = false;

    for (size_t i = 0; i < saved->object_count; i++) {
        merged = merged || saved->objects[i].merged;
    }
    return !merged || saved->objects[index].merged;
}

static int show(struct tms_saved *saved, const struct values *values)
{
    struct tms_report_settings settings;
    int status = TMS_EXIT_OK;

    tms_reporting_settings(&values->reporting, &values->common, &settings);
    settings.color = tms_console_color(values->common.color, STDOUT_FILENO);
    settings.width = tms_console_columns(STDOUT_FILENO);
    settings.potential = values->potential;
    settings.races = values->races;
    for (size_t i = 0; i < saved->object_count && status == TMS_EXIT_OK; i++) {
        if (is_shown(saved, i)) {
            status = tms_show_result(saved, i, &settings, stdout, NULL, NULL);
        }
    }
    return status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    char reason[TMS_SAVED_REASON], path[PATH_MAX];
    struct tms_saved saved;

    tms_hunt_directory_json_path(operands->text[0], path);
    int status =
        tms_saved_open(&saved, path, reason) ? show(&saved, all_values) : tms_bad("%s", reason);
    tms_saved_close(&saved);
    return status;
}

const struct tms_command tms_command_report = {
    .name = "report",
    .group = TMS_GROUP_RESULT,
    .summary = "show a result again",
    .usage = "RESULT",
    .about = "Shows the text report of RESULT on standard output: the directory of a hunt, or a "
             "file that hunt --json, run --json or check --json wrote (\"-\" is standard input). "
             "Nothing is run or analysed again.\n\n"
             "Exit status: 0, or 2 if RESULT can't be read.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .operands_most = 1,
    .run = run,
};
