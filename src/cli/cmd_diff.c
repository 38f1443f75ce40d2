/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis diff: what is new, gone and still there between two results. */
#include <limits.h>
#include <stdlib.h>

#include "cli/console.h"
#include "cli/difference_list.h"
#include "cli/options.h"
#include "hunt/hunt_directory.h"
#include "store/finding_rows.h"

struct values {
    struct tms_common common;
    struct tms_row_filter filter;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {TMS_DIFFERENCE_OPTIONS(AT(filter)), {0}};

/* May it lack findings that are still there? */
static bool is_partial(const struct tms_saved *saved)
{
    bool partial = saved->count == 0 || saved->whole.exit_signal >= 0;

    for (size_t i = 0; i < saved->object_count; i++) {
        partial = partial || saved->objects[i].unread != NULL || saved->objects[i].partial;
    }
    for (size_t i = 0; i < saved->count; i++) {
        partial = partial || !saved->results[i].result.complete;
    }
    return partial;
}

static bool load(struct tms_finding_rows *rows, const char *result, bool *partial)
{
    char reason[TMS_SAVED_REASON] = "out of memory", path[PATH_MAX];
    struct tms_saved saved;

    tms_hunt_directory_json_path(result, path);
    bool good = tms_saved_open(&saved, path, reason);
    if (good && !tms_finding_rows_load(rows, &saved)) {
        snprintf(reason, sizeof(reason), "out of memory");
        good = false;
    }
    *partial = good && is_partial(&saved);
    tms_saved_close(&saved);
    if (!good) {
        tms_say("%s", reason);
    }
    return good;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    struct tms_finding_rows before = {0}, after = {0};
    int status = TMS_EXIT_BAD;
    bool partial;

    if (load(&before, operands->text[0], &partial) && load(&after, operands->text[1], &partial)) {
        if (partial && !values->common.quiet) {
            tms_say("%s is incomplete, so what it lacks may not be gone", operands->text[1]);
        }
        status = tms_difference_list(&before, &after, &values->filter, &values->common);
    }
    tms_finding_rows_clear(&before);
    tms_finding_rows_clear(&after);
    return status;
}

const struct tms_command tms_command_diff = {
    .name = "diff",
    .group = TMS_GROUP_RESULT,
    .summary = "compare two results: new, gone, still there",
    .usage = "BEFORE AFTER",
    .about = "Compares two results, each the directory of a hunt or a file that run, check, hunt "
             "or merge wrote as JSON. Prints one line per block with an observed error or warning, "
             "with the most severe of its findings: new in AFTER, worse there, still there, or "
             "gone. A known block is not new because of another variable.\n\n"
             "Exit status: 1 if a block is new or worse, 0 if none is, 2 after wrong usage or if a "
             "result can't be read.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 2,
    .operands_most = 2,
    .run = run,
};
