/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis replay: runs that are to show a finding again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/hunt_source.h"
#include "cli/hunt_summary.h"
#include "cli/hunting.h"
#include "cli/report_options.h"
#include "hunt/example.h"
#include "hunt/run_record.h"

struct values {
    struct tms_common common;
    struct tms_reporting reporting;
    uint64_t times;
    double timeout;
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
    {.name = "timeout",
     .type = TMS_OPTION_SECONDS,
     .at = AT(timeout),
     .value = "SECONDS",
     .help = "end a run that takes longer; without it: ten times as long as the first run, and 10 "
             "seconds at least"},
    TMS_REPORTING_OPTIONS(AT(reporting)),
    {0}};

/* ---- the schedule
 * -------------------------------------------------------------------------------- */

/* Does the run show the finding as observed? */
static bool shows(const json_t *record, const char *id)
{
    const json_t *findings = json_object_get(record, "findings");

    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        const char *its = json_string_value(json_object_get(finding, "id"));
        if (json_object_get(finding, "level") != NULL && its != NULL && strcmp(its, id) == 0) {
            return tms_evidence_place(finding) == 0;
        }
    }
    return false;
}

/* That of a run which showed it, a directed one if `directed`; a copy, NULL: there is none. */
static char *recorded_schedule(const struct tms_hunt_source *source, const char *id, bool directed)
{
    size_t count = 0;
    json_t **records = tms_hunt_records(&source->hunt, &count);
    char *text = NULL;

    for (size_t i = 0; records != NULL && text == NULL && i < count; i++) {
        const char *schedule = json_string_value(json_object_get(records[i], "schedule"));
        bool fits = !directed || strstr(schedule, "\nwindow ") != NULL;
        text = fits && shows(records[i], id) ? strdup(schedule) : NULL;
    }
    free(records);
    return text;
}

/* A schedule that held threads when it was observed, or one made of its windows, or any. */
static char *choose_schedule(const struct tms_hunt_source *source, const char *id)
{
    struct tms_chooser chooser = {.targets = &id, .target_count = 1};
    char *text = recorded_schedule(source, id, true);

    if (text == NULL && tms_chooser_learn(&chooser, source->result)) {
        text = tms_chooser_text(&chooser, id, 1);
    }
    tms_chooser_clear(&chooser);
    return text != NULL ? text : recorded_schedule(source, id, false);
}

/* ---- the answer
 * ---------------------------------------------------------------------------------- */

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
        bool held = json_integer_value(json_object_get(steering, "holds")) > 0;
        bool shown = shows(record, id);
        tally.shown += shown;
        tally.unheld += !shown && !held;
        tally.released += !shown && held;
    }
    return tally;
}

/* Where runs went another way. */
static void say_diverged(const struct tally *tally, bool directed)
{
    if (tally->unheld > 0 && directed) {
        printf("  %llu of the others did not come to where a thread is held\n",
               (unsigned long long)tally->unheld);
    }
    if (tally->released > 0 && directed) {
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
    tms_hunt_source_describe(finding);
    printf("observed in %llu of %llu run%s\n", (unsigned long long)tally.shown,
           (unsigned long long)runs, runs == 1 ? "" : "s");
    say_diverged(&tally, strstr(hunting->plan->schedule, "\nwindow ") != NULL);
    return status != TMS_EXIT_OK ? status : tally.shown > 0 ? TMS_EXIT_VIOLATION : TMS_EXIT_OK;
}

static int replay(const struct tms_hunt_source *source, const struct values *values,
                  const struct tms_operands *operands)
{
    const char *id = operands->text[1];
    const json_t *finding = tms_hunt_source_finding(source, id);
    char *schedule = finding != NULL ? choose_schedule(source, id) : NULL;
    struct tms_operands program;
    struct tms_hunting hunting;
    const struct tms_hunting_plan plan = {
        .common = &values->common,
        .program = &program,
        .options = &source->options,
        .runs = values->times,
        .jobs = 1,
        .strategy = TMS_HUNT_DIRECTED,
        .strength = 100,
        .shard = {0, 1},
        .run_limit = values->timeout,
        .schedule = schedule,
        .input = source->input[0] != '\0' ? source->input : NULL,
    };
    int status = TMS_EXIT_BAD;

    if (finding == NULL) {
        status = tms_hunt_source_no_id(source, operands->text[0], id);
    } else if (schedule == NULL) {
        status = tms_bad("the result has neither a window nor a schedule for %s", id);
    } else if (tms_hunt_source_program(source, operands, 2, &program)) {
        status = tms_hunting_run(&hunting, &plan);
        status = status == TMS_EXIT_OK ? conclude(&hunting, values, finding) : status;
        tms_hunting_free(&hunting);
    }
    free(schedule);
    return status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    struct tms_hunt_source source;
    int status = tms_hunt_source_open(&source, operands->text[0], false)
                     ? replay(&source, all_values, operands)
                     : TMS_EXIT_BAD;

    tms_hunt_source_close(&source);
    return status;
}

const struct tms_command tms_command_replay = {
    .name = "replay",
    .summary = "make a finding happen again",
    .usage = "RESULT ID [-- PROGRAM [ARGUMENT…]]",
    .about = "Runs the program of RESULT again with the schedule that showed the finding ID, and "
             "says in how many of the runs it was observed: threads are held between the steps of "
             "the finding until another one has made the conflicting access. RESULT is the "
             "directory of a hunt, or a file that run --json or hunt --json wrote; PROGRAM is the "
             "same program in another place, or with other arguments.\n\n"
             "Exit status: 1 if the finding was observed, 0 if it was not, 3 if no run ended, 2 "
             "after wrong usage or if the program can't be watched.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 2,
    .run = run,
};
