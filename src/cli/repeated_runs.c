/* SPDX-License-Identifier: Apache-2.0 */
/* Many runs instead of one; see repeated_runs.h. */
#include "cli/repeated_runs.h"

#include <signal.h>
#include <stdlib.h>

#include "cli/console.h"
#include "cli/hunt_loop.h"
#include "cli/hunt_summary.h"
#include "cli/watched_run.h"
#include "hunt/run_record.h"

/* Of the first run that failed: its status, or 128 and its signal; 0: none did. */
static int program_status(const struct tms_hunt *hunt)
{
    size_t count;
    json_t **records = tms_hunt_records(hunt, &count);
    int status = 0;

    for (size_t i = 0; records != NULL && i < count && status == 0; i++) {
        const json_t *outcome = json_object_get(records[i], "outcome");
        int signal = (int)json_integer_value(json_object_get(outcome, "signal"));
        if (tms_record_outcome(records[i]) == TMS_OUTCOME_TIMEOUT) {
            signal = SIGTERM;
        }
        status = signal != 0 ? TMS_EXIT_SIGNAL + signal
                             : (int)json_integer_value(json_object_get(outcome, "status"));
    }
    free(records);
    return status;
}

/* As for a single run: a violation takes precedence, then a failure, then an incomplete verdict. */
static int exit_status(const struct tms_many_runs *many, const struct tms_hunting *hunting,
                       const struct tms_fail_on_answer *answer)
{
    int status = program_status(&hunting->hunt);
    bool incomplete =
        answer->doubts || hunting->interrupted || tms_hunt_count(&hunting->hunt).unwatched > 0;

    if (answer->fails) {
        return many->exit_code;
    }
    return status != 0 ? status : incomplete ? TMS_EXIT_INCOMPLETE : 0;
}

static int conclude(const struct tms_many_runs *many, const struct tms_hunting *hunting)
{
    struct tms_fail_on_answer answer = {0};

    if (json_object_size(hunting->hunt.runs) == 0) {
        tms_say("no run ended before the command was interrupted; nothing is known");
        return TMS_EXIT_INCOMPLETE;
    }
    if (tms_hunt_report(&hunting->hunt, many->settings, many->fail_on, &answer) != TMS_EXIT_OK) {
        return TMS_EXIT_WATCH_BAD;
    }
    if (!many->common->quiet) {
        tms_hunt_summarize(&hunting->hunt, hunting->seconds);
    }
    bool good = tms_hunt_write_json(&hunting->hunt, many->json) == TMS_EXIT_OK &&
                tms_hunt_write_reports(&hunting->hunt, many->reports, many->storing,
                                       many->settings) == TMS_EXIT_OK;
    return good ? exit_status(many, hunting, &answer) : TMS_EXIT_WATCH_BAD;
}

int tms_many_runs(const struct tms_many_runs *many)
{
    const struct tms_hunting_plan plan = {
        .common = many->common,
        .program = many->program,
        .options = many->options,
        .runs = many->runs,
        .jobs = 1,
        .seed = many->seed,
        .strategy = many->noise ? TMS_HUNT_NOISE : TMS_HUNT_AUTO,
        .strength = 100,
        .shard = {0, 1},
    };
    struct tms_hunting hunting;
    int status = tms_hunting_run(&hunting, &plan);

    status = status == TMS_EXIT_OK ? conclude(many, &hunting) : TMS_EXIT_WATCH_BAD;
    tms_hunting_free(&hunting);
    return status;
}
