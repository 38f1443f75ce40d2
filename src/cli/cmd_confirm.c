/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis confirm: directed runs until findings that are predicted are observed, or the budget ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/hunt_loop.h"
#include "cli/hunt_summary.h"
#include "cli/report_options.h"
#include "cli/result_to_rerun.h"
#include "cli/watched_run.h"
#include "hunt/example.h"
#include "hunt/run_record.h"

struct values {
    struct tms_common common;
    struct tms_reporting reporting;
    uint64_t runs, seed;
    double seconds, timeout;
    bool seed_given;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    {.name = "runs",
     .letter = 'n',
     .type = TMS_OPTION_COUNT,
     .at = AT(runs),
     .initial = "20",
     .least = 1,
     .most = 100000,
     .value = "N",
     .help = "at most N runs for each finding"},
    {.name = "time",
     .type = TMS_OPTION_SECONDS,
     .at = AT(seconds),
     .initial = "60",
     .value = "SECONDS",
     .help = "stop after this time, even if some findings have had fewer runs; 0: no limit"},
    TMS_RUN_TIMEOUT_OPTION(AT(timeout), ""),
    TMS_SEED_OPTION(AT(seed), AT(seed_given), "", NULL),
    TMS_REPORTING_OPTIONS(AT(reporting)),
    {0}};

struct confirmation {
    const struct values *values;
    struct tms_rerun rerun;
    const char **targets; /* ids */
    size_t target_count;
    size_t operand; /* the first that belongs to the program */
    bool rebuilt;   /* another program than that of the result */
};

/* ---- which findings ------------------------------------------------------------------- */

/* Those that were named, after the result. False after a sentence. */
static bool take_ids(struct confirmation *confirmation, const struct tms_operands *operands)
{
    size_t at = 1;

    for (; at < operands->count && tms_is_finding_id(operands->text[at]); at++) {
        if (tms_rerun_finding(&confirmation->rerun, operands->text[at]) == NULL) {
            tms_rerun_no_id(&confirmation->rerun, operands->text[0], operands->text[at]);
            return false;
        }
        confirmation->targets[confirmation->target_count++] = operands->text[at];
    }
    confirmation->operand = at;
    confirmation->rebuilt = at < operands->count;
    return true;
}

/* Of a rebuilt program everything is in question, otherwise only what was not observed. */
static bool is_in_question(const struct confirmation *confirmation, const json_t *finding)
{
    enum { NOTE = 2, PREDICTED = 1 };
    int evidence = tms_evidence_place(finding);

    return tms_level_place(finding) < NOTE &&
           (confirmation->rebuilt ? evidence <= PREDICTED : evidence == PREDICTED) &&
           !json_is_true(json_object_get(finding, "suppressed"));
}

static void take_all(struct confirmation *confirmation)
{
    const json_t *results = json_object_get(confirmation->rerun.result, "results");

    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *list = json_object_get(json_array_get(results, i), "violations");
        for (size_t j = 0; j < json_array_size(list); j++) {
            const json_t *finding = json_array_get(list, j);
            if (is_in_question(confirmation, finding)) {
                confirmation->targets[confirmation->target_count++] =
                    json_string_value(json_object_get(finding, "id"));
            }
        }
    }
}

/* The most that there can be: all findings, or all words. */
static size_t most_targets(const json_t *result, const struct tms_operands *operands)
{
    const json_t *results = json_object_get(result, "results");
    size_t most = operands->count;

    for (size_t i = 0; i < json_array_size(results); i++) {
        most += json_array_size(json_object_get(json_array_get(results, i), "violations"));
    }
    return most;
}

static bool choose_targets(struct confirmation *confirmation, const struct tms_operands *operands)
{
    size_t most = most_targets(confirmation->rerun.result, operands);

    confirmation->targets = calloc(most + 1, sizeof(*confirmation->targets));
    if (confirmation->targets == NULL) {
        tms_say("out of memory");
        return false;
    }
    if (!take_ids(confirmation, operands)) {
        return false;
    }
    if (confirmation->target_count == 0) {
        take_all(confirmation);
    }
    return true;
}

/* ---- the answer ----------------------------------------------------------------------- */

/* Directed runs that were about a finding. */
static uint64_t count_runs(const struct tms_hunting *hunting, const char *id)
{
    size_t count;
    json_t **records = tms_hunt_records(&hunting->hunt, &count);
    uint64_t runs = 0;

    for (size_t i = 0; records != NULL && i < count; i++) {
        const char *schedule = json_string_value(json_object_get(records[i], "schedule"));
        runs += schedule != NULL && tms_chooser_is_about(&hunting->chooser, schedule, id);
    }
    free(records);
    return runs;
}

static void answer_one(const struct confirmation *confirmation, const struct tms_hunting *hunting,
                       const json_t *firsts, const char *id)
{
    unsigned long long runs = count_runs(hunting, id);
    const char *plural = runs == 1 ? "" : "s";

    tms_rerun_describe(tms_rerun_finding(&confirmation->rerun, id));
    if (tms_hunt_observed(&hunting->hunt, id)) {
        const json_t *first = json_object_get(firsts, id);
        printf("observed, with seed %llu, after %llu directed run%s\n",
               (unsigned long long)tms_record_seed(first), runs, plural);
    } else if (tms_chooser_windows(&hunting->chooser, id) == 0) {
        printf("not reproduced in %llu runs; no run reached a window of it\n",
               (unsigned long long)json_object_size(hunting->hunt.runs));
    } else {
        printf("not reproduced in %llu directed run%s\n", runs, plural);
    }
}

static void answer(const struct confirmation *confirmation, const struct tms_hunting *hunting)
{
    json_t *firsts = tms_hunt_firsts(&hunting->hunt);

    for (size_t i = 0; i < confirmation->target_count; i++) {
        answer_one(confirmation, hunting, firsts, confirmation->targets[i]);
    }
    json_decref(firsts);
}

/* Adds the runs to the result that they were made from. False after a sentence. */
static bool update(struct confirmation *confirmation, const struct tms_hunting *hunting)
{
    struct tms_rerun *rerun = &confirmation->rerun;
    char reason[TMS_HUNT_REASON] = "out of memory";
    size_t count = 0;
    json_t **records = tms_hunt_records(&hunting->hunt, &count);
    bool good = records != NULL && tms_hunt_merge(&rerun->hunt, &hunting->hunt);

    for (size_t i = 0; good && i < count; i++) {
        good = tms_hunt_directory_add_run(&rerun->directory, records[i], reason);
    }
    good = good && tms_hunt_directory_write_result(&rerun->directory, &rerun->hunt, false, reason);
    free(records);
    if (!good) {
        tms_say("%s", reason);
    }
    return good;
}

static bool any_observed(const struct confirmation *confirmation, const struct tms_hunting *hunting)
{
    bool any = false;

    for (size_t i = 0; i < confirmation->target_count; i++) {
        any = any || tms_hunt_observed(&hunting->hunt, confirmation->targets[i]);
    }
    return any;
}

static int conclude(struct confirmation *confirmation, const struct tms_hunting *hunting)
{
    static const struct tms_fail_on fail_on = {.level = TMS_LEVEL_WARNING,
                                               .evidence = TMS_EVIDENCE_OBSERVED};
    const struct values *values = confirmation->values;
    struct tms_report_settings settings;
    struct tms_fail_on_answer ignored = {0};

    if (json_object_size(hunting->hunt.runs) == 0) {
        tms_say("no run ended; nothing is known");
        return TMS_EXIT_INCOMPLETE;
    }
    tms_reporting_settings(&values->reporting, &values->common, &settings);
    settings.potential = settings.races = false;
    int status = TMS_EXIT_OK;
    if (!values->common.quiet) {
        status = tms_hunt_report(&hunting->hunt, &settings, &fail_on, &ignored);
    }
    answer(confirmation, hunting);
    if (!confirmation->rebuilt && confirmation->rerun.is_directory &&
        !update(confirmation, hunting)) {
        status = TMS_EXIT_BAD;
    } else if (!confirmation->rebuilt && !confirmation->rerun.is_directory &&
               !values->common.quiet) {
        tms_say(
            "the result is a single file, which is not changed; only the directory of a hunt is "
            "updated");
    }
    if (status != TMS_EXIT_OK) {
        return status;
    }
    return any_observed(confirmation, hunting) ? TMS_EXIT_VIOLATION
           : hunting->interrupted              ? TMS_EXIT_INCOMPLETE
                                               : TMS_EXIT_OK;
}

static int hunt(struct confirmation *confirmation, const struct tms_operands *operands)
{
    static const struct tms_maybe chosen = {.given = true};
    const struct values *values = confirmation->values;
    const struct tms_rerun *rerun = &confirmation->rerun;
    struct tms_operands program;
    struct tms_hunting hunting;
    struct tms_hunting_plan plan = {
        .common = &values->common,
        .program = &program,
        .options = &rerun->options,
        .runs = values->runs * confirmation->target_count,
        .seconds = values->seconds,
        .jobs = 1,
        .seed = values->seed,
        .strategy = TMS_HUNT_DIRECTED,
        .strength = 100,
        .shard = {0, 1},
        .run_limit = values->timeout,
        .targets = confirmation->targets,
        .target_count = confirmation->target_count,
        .until_observed = true,
        .input = rerun->input[0] != '\0' ? rerun->input : NULL,
        .source = confirmation->rebuilt ? NULL : rerun->result,
    };

    if (!tms_rerun_program(rerun, operands, confirmation->operand, &program) ||
        (!values->seed_given && !tms_watch_seed(&chosen, &plan.seed))) {
        return TMS_EXIT_BAD;
    }
    int status = tms_hunting_run(&hunting, &plan);
    if (status == TMS_EXIT_OK) {
        status = conclude(confirmation, &hunting);
    }
    tms_hunting_free(&hunting);
    return status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    struct confirmation confirmation = {.values = all_values};
    bool good = tms_rerun_open(&confirmation.rerun, operands->text[0], true) &&
                choose_targets(&confirmation, operands);
    int status = TMS_EXIT_BAD;

    if (good && confirmation.target_count == 0) {
        tms_say("%s has no predicted error or warning to confirm", operands->text[0]);
        status = TMS_EXIT_OK;
    } else if (good) {
        status = hunt(&confirmation, operands);
    }
    free(confirmation.targets);
    tms_rerun_close(&confirmation.rerun);
    return status;
}

const struct tms_command tms_command_confirm = {
    .name = "confirm",
    .group = TMS_GROUP_PROGRAM,
    .summary = "try to make predicted findings happen, or test a fix",
    .usage = "RESULT [ID…] [-- PROGRAM [ARGUMENT…]]",
    .about = "Runs the program of RESULT again, holding threads where the findings ID would show "
             "(default: all predicted errors and warnings), until each was observed or the budget "
             "is used up. RESULT is the directory of a hunt, to which the new runs and their "
             "findings are added, or a file written by run --json or hunt --json, which is not "
             "changed. With PROGRAM, rebuilt with a fix, tries all errors and warnings of RESULT "
             "there instead, and writes nothing.\n\n"
             "Exit status: 1 if one of the findings was observed, 0 if none was, 3 if interrupted "
             "before, 2 after wrong usage or if the program can't be watched.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .run = run,
};
