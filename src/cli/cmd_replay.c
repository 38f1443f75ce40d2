/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis replay: runs that are to show a finding again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/hunt_loop.h"
#include "cli/hunt_summary.h"
#include "cli/replay_gdb.h"
#include "cli/report_options.h"
#include "cli/result_to_rerun.h"
#include "hunt/run_record.h"

struct values {
    struct tms_common common;
    struct tms_reporting reporting;
    uint64_t times;
    double timeout;
    bool gdb;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    {.name = "times",
     .letter = 'n',
     .type = TMS_OPTION_COUNT,
     .at = AT(times),
     .initial = "1",
     .least = 1,
     .most = 100000,
     .value = "N",
     .help = "run the program N times"},
    TMS_RUN_TIMEOUT_OPTION(AT(timeout), ""),
    {.name = "gdb",
     .type = TMS_OPTION_FLAG,
     .at = AT(gdb),
     .help = "run the program under gdb, which stops at each step of the finding with the thread "
             "of that step selected"},
    TMS_REPORTING_OPTIONS(AT(reporting)),
    {0}};

/* ---- the schedules -------------------------------------------------------------------- */

#define RECORDED_MOST 4 /* schedules of runs that showed it */

/* Runs of the result with one kind of schedule, and those of them that showed the finding. */
struct history {
    uint64_t tries, shown;
};

struct past {
    const struct tms_chooser *windows; /* of the finding */
    const char *id;
    json_t **records;
    size_t count;
};

/* Directed runs are of one kind if they are about the finding, others by their strategy. */
static bool is_alike(const struct past *past, const json_t *one, const json_t *two)
{
    const char *first = json_string_value(json_object_get(one, "schedule"));
    const char *second = json_string_value(json_object_get(two, "schedule"));

    return json_equal(json_object_get(one, "strategy"), json_object_get(two, "strategy")) &&
           tms_chooser_is_about(past->windows, first, past->id) ==
               tms_chooser_is_about(past->windows, second, past->id);
}

static struct history history_of(const struct past *past, const json_t *record)
{
    struct history history = {0};

    for (size_t i = 0; i < past->count; i++) {
        if (is_alike(past, past->records[i], record)) {
            history.tries++;
            history.shown += tms_record_shows(past->records[i], past->id);
        }
    }
    return history;
}

/* Schedules of runs that showed the finding. */
static bool give_recorded(struct tms_chooser *given, const struct past *past)
{
    bool good = true;

    for (size_t i = 0; good && i < past->count && given->given_count <= RECORDED_MOST; i++) {
        const json_t *record = past->records[i];
        const char *text = json_string_value(json_object_get(record, "schedule"));
        if (tms_record_shows(record, past->id)) {
            struct history history = history_of(past, record);
            good = tms_chooser_give(given, text, history.tries, history.shown);
        }
    }
    return good;
}

/*
 * One made of all windows of the finding, its own steps among them, which the directed runs of the
 * hunt may not have known: the surest one, until it fails.
 */
static bool give_windows(struct tms_chooser *given, const struct past *past)
{
    char *text = tms_chooser_text(past->windows, past->id, 1);
    bool good = text == NULL || tms_chooser_give(given, text, 0, 0);

    if (good && text != NULL) {
        given->given[given->given_count - 1].surest = true;
    }
    free(text);
    return good;
}

static bool choose_schedules(const struct tms_rerun *rerun, const char *id,
                             struct tms_chooser *given)
{
    struct tms_chooser windows = {.targets = &id, .target_count = 1};
    struct past past = {.windows = &windows, .id = id};

    past.records = tms_hunt_records(&rerun->hunt, &past.count);
    bool good = past.records != NULL && tms_chooser_learn(&windows, rerun->result) &&
                give_windows(given, &past) && give_recorded(given, &past);
    free(past.records);
    tms_chooser_clear(&windows);
    if (!good) {
        tms_say("out of memory");
    }
    return good;
}

/* ---- the answer ----------------------------------------------------------------------- */

struct tally {
    uint64_t shown;    /* runs that showed it, … */
    uint64_t unheld;   /* … and of the others: no thread came to a window, … */
    uint64_t released; /* … or one was held, and no other came */
};

static struct tally count(const struct tms_hunt *hunt, const char *id)
{
    struct tally tally = {0};
    const char *key;
    json_t *record;

    json_object_foreach(hunt->runs, key, record)
    {
        const json_t *steering = json_object_get(record, "steering");
        const char *schedule = json_string_value(json_object_get(record, "schedule"));
        bool directed = strstr(schedule, "\nwindow ") != NULL;
        bool held = json_integer_value(json_object_get(steering, "holds")) > 0;
        bool shown = tms_record_shows(record, id);
        tally.shown += shown;
        tally.unheld += directed && !shown && !held;
        tally.released += directed && !shown && held;
    }
    return tally;
}

/* Where runs went another way. */
static void say_diverged(const struct tally *tally)
{
    if (tally->unheld > 0) {
        printf("  %llu of the others did not reach the place where a thread is held\n",
               (unsigned long long)tally->unheld);
    }
    if (tally->released > 0) {
        printf("  in %llu of the others a thread was held, but no other made the conflicting "
               "access in time, or it made no difference\n",
               (unsigned long long)tally->released);
    }
}

static int conclude(const struct tms_hunting *hunting, const struct values *values,
                    const json_t *finding)
{
    static const struct tms_fail_on fail_on = {.level = TMS_LEVEL_WARNING,
                                               .evidence = TMS_EVIDENCE_OBSERVED};
    struct tms_report_settings settings;
    struct tms_fail_on_answer ignored = {0};
    const char *id = json_string_value(json_object_get(finding, "id"));
    uint64_t runs = json_object_size(hunting->hunt.runs);
    struct tally tally = count(&hunting->hunt, id);

    if (runs == 0) {
        tms_say("no run ended; nothing is known");
        return TMS_EXIT_INCOMPLETE;
    }
    tms_reporting_settings(&values->reporting, &values->common, &settings);
    settings.potential = settings.races = false;
    int status = TMS_EXIT_OK;
    if (!values->common.quiet) {
        status = tms_hunt_report(&hunting->hunt, &settings, &fail_on, &ignored);
    }
    tms_rerun_describe(finding);
    printf("observed in %llu of %llu run%s\n", (unsigned long long)tally.shown,
           (unsigned long long)runs, runs == 1 ? "" : "s");
    say_diverged(&tally);
    return status != TMS_EXIT_OK ? status : tally.shown > 0 ? TMS_EXIT_VIOLATION : TMS_EXIT_OK;
}

static const char *directed_schedule(const struct tms_chooser *given)
{
    for (size_t i = 0; i < given->given_count; i++) {
        if (strstr(given->given[i].text, "\nwindow ") != NULL) {
            return given->given[i].text;
        }
    }
    return NULL;
}

static int replay_under_gdb(const struct values *values, const struct tms_chooser *given,
                            const struct tms_operands *program, const char *id)
{
    const char *schedule = directed_schedule(given);

    if (values->times > 1 || values->timeout > 0) {
        return tms_bad("--times and --timeout can't be combined with --gdb, which makes one run");
    }
    return schedule != NULL ? tms_replay_gdb(schedule, program)
                            : tms_bad("the result has no window for %s, so there are no steps to "
                                      "stop at; without --gdb it may show",
                                      id);
}

static int replay_runs(const struct tms_hunting_plan *plan, const struct values *values,
                       const json_t *finding)
{
    struct tms_hunting hunting;
    int status = tms_hunting_run(&hunting, plan);

    status = status == TMS_EXIT_OK ? conclude(&hunting, values, finding) : status;
    tms_hunting_free(&hunting);
    return status;
}

static int replay(const struct tms_rerun *rerun, const struct values *values,
                  const struct tms_operands *operands)
{
    const char *id = operands->text[1];
    const json_t *finding = tms_rerun_finding(rerun, id);
    struct tms_chooser given = {0};
    struct tms_operands program;
    const struct tms_hunting_plan plan = {
        .common = &values->common,
        .program = &program,
        .options = &rerun->options,
        .runs = values->times,
        .jobs = 1,
        .strategy = TMS_HUNT_DIRECTED,
        .strength = 100,
        .shard = {0, 1},
        .run_limit = values->timeout,
        .targets = &id,
        .target_count = 1,
        .given = &given,
        .input = rerun->input[0] != '\0' ? rerun->input : NULL,
    };
    int status = TMS_EXIT_BAD;

    if (finding == NULL) {
        status = tms_rerun_no_id(rerun, operands->text[0], id);
    } else if (choose_schedules(rerun, id, &given) && given.given_count == 0) {
        status = tms_bad("the result has neither a window nor a schedule for %s", id);
    } else if (given.given_count > 0 && tms_rerun_program(rerun, operands, 2, &program)) {
        status = values->gdb ? replay_under_gdb(values, &given, &program, id)
                             : replay_runs(&plan, values, finding);
    }
    tms_chooser_clear(&given);
    return status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    struct tms_rerun rerun;
    int status = tms_rerun_open(&rerun, operands->text[0], false)
                     ? replay(&rerun, all_values, operands)
                     : TMS_EXIT_BAD;

    tms_rerun_close(&rerun);
    return status;
}

const struct tms_command tms_command_replay = {
    .name = "replay",
    .group = TMS_GROUP_PROGRAM,
    .summary = "make an observed finding happen again",
    .usage = "RESULT ID [-- PROGRAM [ARGUMENT…]]",
    .about = "Runs the program of RESULT again with the schedule that showed the finding ID, "
             "holding threads between the steps of the finding until another thread has made the "
             "conflicting access, and says in how many runs it was observed. RESULT is the "
             "directory of a hunt, or a file that run --json or hunt --json wrote; PROGRAM is the "
             "same program at another path, or with other arguments.\n\n"
             "Exit status: 1 if the finding was observed, 0 if it was not, 3 if no run ended, 2 "
             "after wrong usage or if the program can't be watched.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 2,
    .run = run,
};
