/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a hunt; see hunt_summary.h. */
#include "cli/hunt_summary.h"

#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/report_files.h"
#include "cli/show_result.h"
#include "hunt/hunt_directory.h"
#include "hunt/merged_json.h"

int tms_hunt_report(const struct tms_hunt *hunt, const struct tms_report_settings *settings,
                    const struct tms_fail_on *fail_on, struct tms_fail_on_answer *answer)
{
    json_t *result = tms_hunt_json(hunt, false);
    char *text = result != NULL ? json_dumps(result, 0) : NULL;
    char reason[TMS_SAVED_REASON];
    struct tms_saved saved;
    int status;

    json_decref(result);
    if (text == NULL) {
        return tms_bad("out of memory");
    }
    if (!tms_saved_parse(&saved, "the result", text, strlen(text), reason)) {
        status = tms_bad("%s", reason);
    } else if (saved.object_count == 0) { /* no run could be watched */
        answer->doubts = true;
        status = TMS_EXIT_OK;
    } else {
        status = tms_show_result(&saved, 0, settings, stderr, fail_on, answer);
    }
    tms_saved_close(&saved);
    free(text);
    return status;
}

int tms_hunt_write_json(const struct tms_hunt *hunt, const char *path)
{
    char reason[TMS_HUNT_REASON];
    json_t *result = path != NULL ? tms_hunt_json(hunt, false) : NULL;
    bool good = path == NULL || tms_json_write(path, result, reason);

    json_decref(result);
    return good ? TMS_EXIT_OK : tms_bad("%s", reason);
}

int tms_hunt_write_reports(const struct tms_hunt *hunt, const struct tms_given *reports,
                           const struct tms_storing *storing,
                           const struct tms_report_settings *settings)
{
    struct tms_report_files files;
    int status = tms_report_files_open(&files, reports, storing);
    json_t *result = files.json != NULL ? tms_hunt_json(hunt, false) : NULL;
    char *line = files.json != NULL ? tms_json_line(result) : NULL;

    if (files.json != NULL && (line == NULL || fputs(line, files.json) < 0)) {
        status = tms_bad("out of memory");
    }
    free(line);
    files.results = 1;
    if (status == TMS_EXIT_OK) {
        status = tms_report_files_write(&files, settings);
    }
    json_decref(result);
    tms_report_files_free(&files);
    return status;
}

/* ---- failures ------------------------------------------------------------------------------- */

/* "3 with exit status 1", "2 by SIGABRT", "1 took too long" */
static void say_outcome(const json_t *outcome)
{
    const char *kind = json_string_value(json_object_get(outcome, "kind"));
    const char *text = json_string_value(json_object_get(outcome, "text"));
    unsigned long long runs =
        (unsigned long long)json_integer_value(json_object_get(outcome, "runs"));
    unsigned long long seed =
        (unsigned long long)json_integer_value(json_object_get(outcome, "first_seed"));
    int status = (int)json_integer_value(json_object_get(outcome, "status"));
    int number = (int)json_integer_value(json_object_get(outcome, "signal"));
    const char *abbreviation = sigabbrev_np(number);
    char how[64] = "";

    if (strcmp(kind, "status") == 0) {
        snprintf(how, sizeof(how), "ended with status %d", status);
    } else if (strcmp(kind, "signal") == 0 && abbreviation != NULL) {
        snprintf(how, sizeof(how), "ended by SIG%s", abbreviation);
    } else if (strcmp(kind, "signal") == 0) {
        snprintf(how, sizeof(how), "ended by signal %d", number);
    } else if (strcmp(kind, "timeout") == 0) {
        snprintf(how, sizeof(how), "took too long");
    } else if (strcmp(kind, "unwatched") == 0) {
        snprintf(how, sizeof(how), "could not be watched");
    }
    if (how[0] != '\0') {
        tms_say("%llu run%s %s, first with seed %llu%s%s", runs, runs == 1 ? "" : "s", how, seed,
                text != NULL ? ": " : "", text != NULL ? text : "");
    }
}

void tms_hunt_summarize(const struct tms_hunt *hunt, double seconds)
{
    struct tms_hunt_counts counts = tms_hunt_count(hunt);
    json_t *result = tms_hunt_json(hunt, false);
    const json_t *outcomes = json_object_get(json_object_get(result, "hunt"), "outcomes");

    tms_say("%llu run%s in %.1f s, the program failed in %llu of them",
            (unsigned long long)counts.runs, counts.runs == 1 ? "" : "s", seconds,
            (unsigned long long)counts.failed);
    for (size_t i = 0; i < json_array_size(outcomes); i++) {
        say_outcome(json_array_get(outcomes, i));
    }
    json_decref(result);
}
