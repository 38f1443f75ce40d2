/* SPDX-License-Identifier: Apache-2.0 */
/* --baseline; see baseline_option.h. */
#include "cli/baseline_option.h"

#include "cli/console.h"
#include "cli/output_file.h"
#include "cli/report_files.h"
#include "hunt/hunt_directory.h"
#include "saved/saved_result.h"

static int learn(struct tms_known *known, const struct tms_saved *saved)
{
    int code = TMS_OK;

    for (size_t i = 0; i < saved->count; i++) {
        const struct tms_result *result = &saved->results[i].result;
        for (size_t j = 0; j < result->finding_count && code == TMS_OK; j++) {
            code = tms_baseline_add(known->baseline, saved->context, &result->findings[j]);
        }
    }
    return code;
}

int tms_known_open(struct tms_known *known, const char *path)
{
    char reason[TMS_SAVED_REASON], json[PATH_MAX];
    struct tms_saved saved;

    *known = (struct tms_known){0};
    if (path == NULL) {
        return TMS_EXIT_OK;
    }
    tms_hunt_directory_json_path(path, json);
    bool good = tms_saved_open(&saved, json, reason);
    if (!good) {
        tms_say("--baseline: %s", reason);
    } else {
        known->context = tms_context_new(NULL, NULL);
        good = known->context != NULL &&
               tms_baseline_new(known->context, &known->baseline) == TMS_OK &&
               learn(known, &saved) == TMS_OK;
        if (!good) {
            tms_say("out of memory");
        }
    }
    tms_saved_close(&saved);
    return good ? TMS_EXIT_OK : TMS_EXIT_BAD;
}

bool tms_known_spared(const char *path, const struct tms_given *reports, const char *json,
                      const char *other)
{
    char file[PATH_MAX];
    const char *input = file;
    const struct tms_operands inputs = {&input, 1};

    if (path == NULL) {
        return true;
    }
    tms_hunt_directory_json_path(path, file);
    return (json == NULL || tms_new_file_spares(json, &inputs, NULL)) &&
           (other == NULL || tms_new_file_spares(other, &inputs, NULL)) &&
           tms_report_files_good(reports, &inputs, NULL, NULL);
}

void tms_known_close(struct tms_known *known)
{
    tms_baseline_free(known->baseline);
    tms_context_free(known->context);
    *known = (struct tms_known){0};
}

int tms_known_mark(const struct tms_known *known, struct tms_analysis *analysis)
{
    int64_t count = known->baseline != NULL ? tms_baseline_mark(known->baseline, analysis) : 0;

    return count < 0 ? (int)count : TMS_OK;
}
