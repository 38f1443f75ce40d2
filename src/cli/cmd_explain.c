/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis explain: one finding of a result that --json wrote, in full. */
#include <string.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/options.h"
#include "hunt/hunt_directory.h"
#include "saved/saved_result.h"
#include "tmesis/tmesis.h"

#define IDS_MOST 10 /* listed if there is none of that id */

struct values {
    struct tms_common common;
};

static const struct tms_option options[] = {{0}};

/* A finding in its result. */
struct place {
    const struct tms_saved_result *from; /* NULL: there is none */
    size_t index;
};

/* The merged finding, if several processes have it. */
static struct place find(const struct tms_saved *saved, const char *id)
{
    struct place found = {0};

    for (size_t i = 0; i < saved->count; i++) {
        const struct tms_saved_result *from = &saved->results[i];
        bool wanted = found.from == NULL || (from->merged && !found.from->merged);
        for (size_t j = 0; wanted && j < from->result.finding_count; j++) {
            if (strcmp(from->result.findings[j].id, id) == 0) {
                found = (struct place){from, j};
                wanted = false;
            }
        }
    }
    return found;
}

static bool is_first(const struct tms_saved *saved, const struct tms_finding *finding)
{
    struct place first = find(saved, finding->id);

    return &first.from->result.findings[first.index] == finding;
}

/* Says which ids there are, if not all then so. */
static int say_ids(const struct tms_saved *saved, const char *path, const char *id)
{
    char list[IDS_MOST * 40] = "";
    size_t count = 0;

    for (size_t i = 0; i < saved->count; i++) {
        const struct tms_result *result = &saved->results[i].result;
        for (size_t j = 0; j < result->finding_count && count <= IDS_MOST; j++) {
            size_t length = strlen(list);
            if (is_first(saved, &result->findings[j]) && count++ < IDS_MOST) {
                snprintf(list + length, sizeof(list) - length, "%s%.36s", count > 1 ? ", " : "",
                         result->findings[j].id);
            }
        }
    }
    if (count == 0) {
        return tms_bad("%s has no findings", path);
    }
    return tms_bad("%s has no finding %s; it has %s%s", path, id, list,
                   count > IDS_MOST ? " and more" : "");
}

static int show(const struct tms_saved *saved, const struct place *place, const char *color)
{
    struct tms_report_settings settings;

    tms_report_settings_init(&settings);
    settings.path = place->from->path != NULL ? place->from->path : "-";
    settings.format = place->from->live ? TMS_FORMAT_LIVE : "std";
    settings.color = tms_console_color(color, STDOUT_FILENO);
    settings.width = tms_console_columns(STDOUT_FILENO);
    settings.verbose = true;
    int code = tms_report_finding(saved->context, &place->from->result, place->index, &settings,
                                  tms_console_sink, stdout);
    /* Write errors of standard output are reported when it is flushed. */
    return code == TMS_OK || code == TMS_ERR_IO ? TMS_EXIT_OK : tms_bad("%s", tms_strerror(code));
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    const char *id = operands->text[1];
    char reason[TMS_SAVED_REASON], path[PATH_MAX];
    struct tms_saved saved;
    int status;

    tms_hunt_directory_json_path(operands->text[0], path);
    if (!tms_saved_open(&saved, path, reason)) {
        status = tms_bad("%s", reason);
    } else {
        struct place place = find(&saved, id);
        status = place.from != NULL ? show(&saved, &place, values->common.color)
                                    : say_ids(&saved, path, id);
    }
    tms_saved_close(&saved);
    return status;
}

const struct tms_command tms_command_explain = {
    .name = "explain",
    .group = TMS_GROUP_RESULT,
    .summary = "show one finding of a result in full",
    .usage = "RESULT ID",
    .about =
        "Shows the finding ID (such as AV-3f2a91) of RESULT with all details: events, call stacks, "
        "source lines. RESULT is the directory of a hunt, or a file written by check --json or run "
        "--json (\"-\" is standard input). If RESULT has several processes, shows the merged "
        "finding.\n\n"
        "Exit status: 0, or 2 if RESULT can't be read or has no such finding.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 2,
    .operands_most = 2,
    .run = run,
};
