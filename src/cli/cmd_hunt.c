/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis hunt: a program run again and again under controlled schedules, and one result. */
#include <string.h>

#include "cli/baseline_option.h"
#include "cli/check_job.h"
#include "cli/console.h"
#include "cli/hunt_loop.h"
#include "cli/hunt_summary.h"
#include "cli/option_arguments.h"
#include "cli/output_file.h"
#include "cli/predict_options.h"
#include "cli/report_files.h"
#include "cli/report_options.h"
#include "cli/spec_options.h"
#include "cli/store_option.h"
#include "cli/suppress_options.h"
#include "cli/watched_run.h"

struct values {
    struct tms_common common;
    struct tms_given rules;
    struct tms_suppressing suppressing;
    struct tms_reporting reporting;
    struct tms_given reports;
    struct tms_storing storing;
    const char *split, *memory, *baseline, *fail_on;
    const char *output, *json, *shard, *strategy;
    uint64_t runs, jobs, seed, strength;
    double seconds, timeout;
    bool exact_races, seed_given, runs_given, time_given;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    {.name = "runs",
     .letter = 'n',
     .type = TMS_OPTION_COUNT,
     .at = AT(runs),
     .given = AT(runs_given),
     .least = 1,
     .most = 10000000,
     .value = "N",
     .help = "run the program N times, over all shards",
     .brief = "run it N times (default: up to 100, or 60 seconds)"},
    {.name = "time",
     .type = TMS_OPTION_SECONDS,
     .at = AT(seconds),
     .given = AT(time_given),
     .value = "SECONDS",
     .help = "stop after this time. Without it and --runs: after 100 runs, 60 seconds, or 25 runs "
             "that showed no new error or warning, whichever comes first",
     .brief = "stop after this time"},
    {.name = "jobs",
     .letter = 'j',
     .type = TMS_OPTION_COUNT,
     .at = AT(jobs),
     .initial = "1",
     .least = 1,
     .most = 1024,
     .value = "N",
     .help = "run N at a time",
     .brief = "run N at a time (default 1)"},
    TMS_SEED_OPTION(AT(seed), AT(seed_given), "; later runs have N + 1, N + 2 and so on",
                    "repeat the schedules of an earlier hunt"),
    {.name = "strategy",
     .type = TMS_OPTION_CHOICE,
     .at = AT(strategy),
     .initial = "auto",
     .word = tms_hunt_strategy_word,
     .value = "NAME",
     .help = "how schedules are chosen: noise (random delays), pct (random priorities), directed "
             "(threads are held where a finding is predicted or possible), learn (no delays), or "
             "auto (a mixture, depending on what earlier runs showed)"},
    {.name = "strength",
     .type = TMS_OPTION_COUNT,
     .at = AT(strength),
     .initial = "100",
     .least = 1,
     .most = 10000,
     .value = "PERCENT",
     .help = "how many delays noise inserts; 100 is normal"},
    TMS_RUN_TIMEOUT_OPTION(AT(timeout), ", and count it as failed"),
    {.name = "shard",
     .type = TMS_OPTION_TEXT,
     .at = AT(shard),
     .value = "I/N",
     .help = "make only every N-th run, those whose number has remainder I; tmesis merge combines "
             "the results of all shards",
     .brief = "make only the runs of shard I of N"},
    {.name = "output",
     .letter = 'o',
     .type = TMS_OPTION_TEXT,
     .at = AT(output),
     .value = "DIR",
     .help = "the directory for the result, which must not exist yet. Default: a new one in "
             ".tmesis",
     .brief = "where the result goes (default: in .tmesis)"},
    {.name = "json",
     .type = TMS_OPTION_TEXT,
     .at = AT(json),
     .value = "FILE",
     .help = "write the merged result to FILE as well",
     .brief = "write the merged result to FILE as well"},
    TMS_REPORT_FILES_OPTION(AT(reports)),
    TMS_STORING_OPTIONS(AT(storing)),
    TMS_WATCHING_RULES(AT(rules)),
    {.name = "split",
     .type = TMS_OPTION_LIST,
     .at = AT(split),
     .word = tms_word_split,
     .alone = "none",
     .value = "WHAT,…",
     .help = "which events split a block into two atomic parts, as for tmesis run"},
    {.name = "memory",
     .type = TMS_OPTION_CHOICE,
     .at = AT(memory),
     .word = tms_word_memory,
     .value = "on|off",
     .help = "off: watch only locks and atomics, as for tmesis run"},
    {.name = "exact-races",
     .type = TMS_OPTION_FLAG,
     .at = AT(exact_races),
     .help = "be exact for racing plain accesses as well; slower"},
    TMS_SUPPRESS_RULES(AT(suppressing)),
    TMS_BASELINE_OPTION(AT(baseline)),
    {.name = "fail-on",
     .type = TMS_OPTION_LIST,
     .at = AT(fail_on),
     .word = tms_word_fail_on,
     .environment = true,
     .value = "[LEVEL][,EVIDENCE][,race]",
     .help = "what the exit status counts as a violation, as for tmesis run. Default: errors and "
             "warnings that were observed",
     .brief = "what the exit status counts"},
    TMS_REPORTING_OPTIONS(AT(reporting)),
    {0}};

/* What is for the hunt itself, or for its report; `tmesis run` gets the other options. */
static const char *const own[] = {
    "runs",   "time", "jobs",    "seed",  "strategy", "strength",     "timeout", "shard",
    "output", "json", "fail-on", "notes", "verbose",  "strip-prefix", "report",  TMS_STORING_NAMES,
    NULL};

/* ---- the plan ------------------------------------------------------------------------- */

/* Parsing has found it in the list. */
static enum tms_hunt_strategy strategy_of(const char *word)
{
    size_t index = 0;

    while (strcmp(tms_hunt_strategy_word(index), word) != 0) {
        index++;
    }
    return (enum tms_hunt_strategy)index;
}

/* Can it be written, and does it replace neither the program nor a file of rules? */
static bool json_is_good(const struct values *values, const struct tms_operands *program)
{
    return values->json == NULL ||
           (tms_new_file_spares(values->json, program, &values->rules) &&
            tms_new_file_spares(values->json, NULL, &values->suppressing.rules) &&
            tms_new_file_possible(values->json) == TMS_EXIT_OK);
}

/* False after a sentence. */
static bool make_plan(const struct values *values, struct tms_hunting_plan *plan)
{
    static const struct tms_maybe chosen = {.given = true};
    bool limited = values->runs_given || values->time_given;

    plan->shard = (struct tms_shard){0, 1};
    if (values->shard != NULL && !tms_shard_parse(values->shard, &plan->shard)) {
        tms_say("--shard takes I/N with I from 0 to N, such as 3/20, not \"%s\"", values->shard);
        return false;
    }
    if (values->shard != NULL && !values->seed_given) {
        tms_say("--shard needs --seed, the same for all shards");
        return false;
    }
    if (values->time_given && values->seconds <= 0) {
        tms_say("--time takes more than 0 seconds");
        return false;
    }
    plan->runs = limited ? values->runs : TMS_HUNT_RUNS;
    plan->seconds = limited ? values->seconds : TMS_HUNT_TIME;
    plan->quiet_runs = limited ? 0 : TMS_HUNT_QUIET;
    plan->jobs = values->jobs;
    plan->seed = values->seed;
    if (!values->seed_given && !tms_watch_seed(&chosen, &plan->seed)) {
        return false;
    }
    plan->strategy = strategy_of(values->strategy);
    plan->strength = values->strength;
    plan->run_limit = values->timeout;
    plan->output = values->output;
    plan->keep = true;
    return json_is_good(values, plan->program) &&
           tms_known_spared(values->baseline, &values->reports, values->json, NULL) &&
           tms_report_files_good(&values->reports, plan->program, &values->rules, values->json) &&
           tms_report_files_good(&values->reports, NULL, &values->suppressing.rules, NULL) &&
           tms_storing_good(&values->storing, values->json, &values->reports);
}

/* ---- the end -------------------------------------------------------------------------------- */

static int exit_status(const struct tms_hunting *hunting, const struct tms_fail_on_answer *answer)
{
    struct tms_hunt_counts counts = tms_hunt_count(&hunting->hunt);

    if (hunting->unsaved) {
        return TMS_EXIT_BAD;
    }
    if (answer->fails || counts.failed > 0) {
        return TMS_EXIT_VIOLATION;
    }
    bool incomplete = answer->doubts || hunting->interrupted || counts.unwatched > 0;
    return incomplete ? TMS_EXIT_INCOMPLETE : TMS_EXIT_OK;
}

static void say_end(const struct tms_hunting *hunting, const struct values *values)
{
    if (hunting->interrupted) {
        tms_say("the hunt was interrupted; these are its findings so far");
    }
    struct tms_hunt_counts counts = tms_hunt_count(&hunting->hunt);
    if (values->common.quiet && counts.failed > 0) { /* it explains the exit status */
        tms_say("the program failed in %llu of %llu runs", (unsigned long long)counts.failed,
                (unsigned long long)counts.runs);
    }
    if (!values->common.quiet) {
        tms_hunt_summarize(&hunting->hunt, hunting->seconds);
        tms_say("the result%s is in %s; tmesis report shows it again, --seed=%llu repeats the same "
                "schedules",
                hunting->unsaved ? ", as far as it could be written," : "", hunting->directory.path,
                (unsigned long long)hunting->plan->seed);
    }
}

static int conclude(const struct tms_hunting *hunting, const struct values *values,
                    const struct tms_fail_on *fail_on)
{
    struct tms_report_settings settings;
    struct tms_fail_on_answer answer = {0};

    if (json_object_size(hunting->hunt.runs) == 0) {
        tms_say("no run ended%s; nothing is known",
                hunting->interrupted ? " before the hunt was interrupted" : " in that time");
        return TMS_EXIT_INCOMPLETE;
    }
    tms_reporting_settings(&values->reporting, &values->common, &settings);
    settings.potential = settings.races = false;
    settings.baseline = values->baseline != NULL;
    int status = tms_hunt_report(&hunting->hunt, &settings, fail_on, &answer);
    say_end(hunting, values);
    if (status == TMS_EXIT_OK) {
        status = tms_hunt_write_json(&hunting->hunt, values->json);
        status = tms_console_worse(status, tms_hunt_write_reports(&hunting->hunt, &values->reports,
                                                                  &values->storing, &settings));
    }
    return status == TMS_EXIT_OK ? exit_status(hunting, &answer) : status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    struct tms_hunting_plan plan = {.common = &values->common, .program = operands};
    struct tms_words words = {0};
    struct tms_hunting hunting;
    struct tms_fail_on fail_on;

    if (!tms_fail_on_parse(&fail_on, values->fail_on, TMS_LEVEL_WARNING) ||
        !make_plan(values, &plan)) {
        return TMS_EXIT_BAD;
    }
    tms_option_words(options, values, own, &words);
    if (words.failed) {
        tms_words_free(&words);
        return tms_bad("out of memory");
    }
    plan.options = &words;
    int status = tms_hunting_run(&hunting, &plan);
    if (status == TMS_EXIT_OK) {
        status = conclude(&hunting, values, &fail_on);
    }
    tms_hunting_free(&hunting);
    tms_words_free(&words);
    return status;
}

const struct tms_command tms_command_hunt = {
    .name = "hunt",
    .group = TMS_GROUP_PROGRAM,
    .summary = "run a program many times with different schedules",
    .usage = "[--] PROGRAM [ARGUMENT…]",
    .about =
        "Runs PROGRAM many times, each time with a different schedule, checks every run as tmesis "
        "run does, and keeps one result: each finding with the number of runs that showed it, "
        "the first seed, and whether the program failed in these runs. Findings that correlate "
        "with failures come first. The program's output is discarded; if standard input is a file "
        "or a pipe, every run gets a copy of it.\n\n"
        "Exit status: 1 if an error or a warning was observed (see --fail-on), or if the program "
        "failed in a run: its exit status was not 0, a signal ended it, or it took too long; 3 if "
        "the hunt was interrupted or a verdict is incomplete; 2 after wrong usage, or if PROGRAM "
        "can't be watched or the result can't be written; else 0.",
    .brief = "Runs PROGRAM many times, each time with a different schedule, and reports each "
             "finding with the number of runs that showed it. Findings that correlate with "
             "failures of the program come first.\n\n"
             "Exit status: 0 nothing, 1 violation or failed run, 2 bad usage, 3 incomplete.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .starts_program = true,
    .run = run,
};
