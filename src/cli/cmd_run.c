/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis run: watches a program and reports when it has ended. `frontier`, `sidetrack` and
 * `goodlock` check inside the program while it runs; other engines get the recording. A program
 * that was not built with tmesis cc gets the preload library, which records its locks.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/engine_options.h"
#include "cli/engine_plan.h"
#include "cli/option_arguments.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/predict_options.h"
#include "cli/preflight.h"
#include "cli/process_analysis.h"
#include "cli/process_reports.h"
#include "cli/process_result.h"
#include "cli/repeated_runs.h"
#include "cli/report_files.h"
#include "cli/report_options.h"
#include "cli/store_option.h"
#include "cli/suppress_options.h"
#include "cli/watched_run.h"
#include "protocol/config.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    struct tms_watching watching;
    struct tms_predicting predicting;
    struct tms_suppressing suppressing;
    struct tms_reporting reporting;
    struct tms_given report_files;
    struct tms_storing storing;
    struct tms_engine_options checking;
    const char *json;
    const char *baseline;
    const char *report_on;
    const char *schedule;
    uint64_t exit_code;
    uint64_t runs;
    bool strict, races;
};

#define AT(field) offsetof(struct values, field)

/*
 * Signals that may ask for a report. Without --report-on it is one that a process which gets
 * it by mistake ignores, and that is not sent on to the program otherwise.
 */
static const struct {
    const char *name;
    int number;
} report_signals[] = {
    {"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"URG", SIGURG}, {"WINCH", SIGWINCH},
};
#define REPORT_SIGNALS (sizeof(report_signals) / sizeof(report_signals[0]))

static const char *report_word(size_t index)
{
    return index < REPORT_SIGNALS ? report_signals[index].name : NULL;
}

static int report_signal(const char *name)
{
    for (size_t i = 0; name != NULL && i < REPORT_SIGNALS; i++) {
        if (strcmp(report_signals[i].name, name) == 0) {
            return report_signals[i].number;
        }
    }
    return SIGURG;
}

static const struct tms_option options[] = {
    TMS_WATCHING_OPTIONS(AT(watching)),
    TMS_ENGINE_OPTIONS(
        AT(checking),
        "which engines check the run: frontier, judge, sidetrack and goodlock do so while the "
        "program runs (judge alone includes frontier and sidetrack); any other engine needs a "
        "recording; then all engines run after the program has ended. Default for programs not "
        "built with "
        "tmesis cc: " TMS_LOCK_ENGINES,
        NULL, "give only the verdict: don't determine which blocks are at fault",
        "list each violation instead of one finding per pattern with a count; those that were "
        "counted together while the program ran stay together"),
    {.name = "races",
     .type = TMS_OPTION_FLAG,
     .at = AT(races),
     .environment = true,
     .help = "list data races too, as the engine fasttrack does; without it the report only counts "
             "them, since predictions may not hold if there are any",
     .brief = "also list data races"},
    TMS_PREDICTING_OPTIONS(AT(predicting)),
    TMS_SUPPRESS_OPTIONS(AT(suppressing)),
    {.name = "strict",
     .type = TMS_OPTION_FLAG,
     .at = AT(strict),
     .environment = true,
     .help = "count every block that was cut as a violation, whether or not data was affected; the "
             "same as --fail-on=note,observed",
     .brief = "count every block that was cut as a violation"},
    TMS_REPORTING_OPTIONS(AT(reporting)),
    {.name = "json",
     .type = TMS_OPTION_TEXT,
     .at = AT(json),
     .value = "FILE",
     .help = "write one JSON object per process to FILE, and if there are several, one more with "
             "all findings merged",
     .brief = "write the result to FILE as well"},
    TMS_REPORT_FILES_OPTION(AT(report_files)),
    TMS_STORING_OPTIONS(AT(storing)),
    TMS_BASELINE_OPTION(AT(baseline)),
    {.name = "report-on",
     .type = TMS_OPTION_CHOICE,
     .at = AT(report_on),
     .word = report_word,
     .environment = true,
     .value = "SIGNAL",
     .help = "write a report while the program runs when tmesis gets this signal, or the program "
             "if it has no handler for it; without this option: URG, and only to tmesis"},
    {.name = "schedule",
     .type = TMS_OPTION_TEXT,
     .at = AT(schedule),
     .value = "FILE",
     .help = "schedule the program's threads as FILE says: random delays, random priorities, or "
             "threads held inside windows; the JSON then lists the windows seen"},
    {.name = "runs",
     .type = TMS_OPTION_COUNT,
     .at = AT(runs),
     .initial = "1",
     .least = 1,
     .most = 1000000,
     .value = "N",
     .help = "run the program N times with different schedules, as tmesis hunt does, and report "
             "on all runs together; more than one discards the program's output",
     .brief = "run it N times with different schedules"},
    {.name = "exit-code",
     .type = TMS_OPTION_COUNT,
     .at = AT(exit_code),
     .initial = "66",
     .most = 255,
     .environment = true,
     .value = "N",
     .help = "the exit status after a violation as --fail-on defines it",
     .brief = "the exit status after a violation (default 66)"},
    {0}};

/* ---- one process -------------------------------------------------------------------------- */

struct job {
    const struct values *values;
    struct tms_settings settings;
    struct tms_engine_plan plan;  /* for processes with the runtime in them */
    struct tms_engine_plan locks; /* for those with the preload library */
    struct tms_fail_on fail_on;
    struct tms_suppress suppress;
    char preload[PATH_MAX];              /* the library for a program without the runtime, or "" */
    struct tms_chosen_schedule schedule; /* .text NULL: none */
    struct tms_watched watched;
    struct tms_process_reports reports;
    struct tms_new_file json; /* .stream.out NULL: none wanted */
    bool violation, incomplete, bad;
    bool unread; /* nothing is known of some process */
    bool blocks; /* some process had one */
};

static void note_verdicts(struct job *job, const struct tms_analysis *analysis)
{
    struct tms_fail_on_answer answer = tms_fail_on_ask(&job->fail_on, analysis);

    job->violation = job->violation || answer.fails;
    job->incomplete = job->incomplete || answer.doubts;
}

/*
 * A child process in which nothing was to be checked is not worth a report; nor is one that has
 * the library loaded because it started another, such as a shell.
 */
static bool is_silent(const struct job *job, const struct tms_process_result *process)
{
    const struct tms_spool_header *header = &process->spool.header;
    bool only_starts = tms_process_is_locks_only(process) && job->watched.spool_count > 1;
    char loss[TMS_SPOOL_REASON];

    return (process->child && header->blocks == 0 && !tms_spool_loss(&process->spool, loss)) ||
           (only_starts && header->threads < 2);
}

/* Takes `process` over. */
static void judge(struct job *job, struct tms_process_result *process)
{
    const struct tms_process_engines engines = {.settings = &job->settings,
                                                .runtime = &job->plan,
                                                .preload = &job->locks,
                                                .watched = &job->watched,
                                                .preloaded = job->preload[0] != '\0',
                                                .rules = job->values->watching.rules.count > 0};
    struct tms_analysis *analysis = NULL;
    int code = tms_process_analyse(&engines, process, &analysis, &job->blocks);

    if (code == TMS_OK) {
        tms_suppress_take(&job->suppress, analysis);
        code = tms_process_report(&job->reports, process, analysis);
    }
    if (code == TMS_OK) {
        note_verdicts(job, analysis);
        code = tms_process_reports_add(&job->reports, process, analysis);
    } else {
        tms_process_result_bad(process, code);
        tms_analysis_free(analysis);
        tms_process_result_free(process);
    }
    job->bad = job->bad || code != TMS_OK;
}

static void take_process(struct job *job, size_t index)
{
    struct tms_process_result *process = tms_process_result_new(&job->watched, index);

    if (process == NULL) {
        job->incomplete = job->unread = true;
        return;
    }
    if (!job->values->common.quiet) {
        tms_process_result_warn(process);
    }
    job->blocks = job->blocks || process->spool.header.blocks > 0;
    if (is_silent(job, process)) {
        tms_process_result_free(process);
    } else {
        judge(job, process);
    }
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* A violation takes precedence, then a signal that ended the program, then an incomplete verdict.
 */
static int exit_status(const struct job *job)
{
    if (job->violation) {
        return (int)job->values->exit_code;
    }
    if (job->bad) {
        return TMS_EXIT_WATCH_BAD;
    }
    if (job->watched.signalled) {
        return job->watched.status;
    }
    return job->incomplete || !job->blocks ? TMS_EXIT_INCOMPLETE : job->watched.status;
}

static void conclude(const struct job *job)
{
    bool any_function = job->preload[0] != '\0' && job->values->watching.rules.count == 0;
    bool nothing = !job->blocks && !job->violation && !job->unread;

    if (nothing && any_function) {
        tms_say("no function of %s used a lock (main and thread start functions do not count), so "
                "this says nothing about it; inlined functions are only seen with debug "
                "information (-g)",
                job->watched.command);
    } else if (nothing) {
        tms_process_result_advise(&job->watched);
    }
    if (job->values->watching.perturb.given && !job->values->common.quiet) {
        tms_say("perturbed with seed %llu; --perturb=%llu repeats the same delays",
                (unsigned long long)job->watched.seed, (unsigned long long)job->watched.seed);
    }
}

/* Options for recordings have no effect if all engines run inside the program. */
static void warn_unused(const struct job *job)
{
    const struct tms_watching *watching = &job->values->watching;
    bool along = job->plan.recorded[0] != '\0' && job->preload[0] != '\0';

    if (!job->plan.inside || job->values->common.quiet) {
        return;
    }
    if (watching->full || (watching->max_size != 0 && !along)) {
        tms_say("%s, which " TMS_ENGINE_INSIDE " does not need",
                along ? "--full is for recordings of accesses"
                      : "--full and --max-size are for recordings");
    }
}

/* The report settings of all processes. */
static void settle_reports(struct job *job)
{
    const struct values *values = job->values;
    struct tms_report_settings *settings = &job->reports.settings;

    tms_reporting_settings(&values->reporting, &values->common, settings);
    tms_engine_report_settings(&values->checking, &values->predicting, settings);
    settings->races =
        values->races || tms_predicting_has(values->checking.engines, TMS_ENGINE_RACES);
    settings->seeded = values->watching.perturb.given || values->schedule != NULL;
    job->reports.watched = &job->watched;
    job->reports.json = job->json.stream.out;
}

/* Reports on all processes, ended or not, as text and in --json; the last is stored as well. */
static void report_processes(struct job *job)
{
    const char *json = job->values->json;
    const struct tms_storing *storing = job->watched.running ? NULL : &job->values->storing;
    struct tms_report_files files;

    job->bad = tms_report_files_open(&files, &job->values->report_files, storing) != TMS_EXIT_OK ||
               job->bad;
    if (json != NULL && tms_new_file_open_text(&job->json, json) != TMS_EXIT_OK) {
        job->bad = true;
    }
    settle_reports(job);
    job->reports.files = &files;
    for (size_t i = 0; i < job->watched.spool_count; i++) {
        take_process(job, i);
    }
    job->bad = tms_process_reports_finish(&job->reports) != TMS_OK || job->bad;
    if (job->json.path != NULL && (job->reports.count == 0 || job->bad)) { /* not all was written */
        tms_new_file_abandon(&job->json);
    } else if (job->json.path != NULL && tms_new_file_close(&job->json) != TMS_EXIT_OK) {
        job->bad = true;
    }
    job->bad = job->bad || tms_report_files_write(&files, &job->reports.settings) != TMS_EXIT_OK;
    job->reports.files = NULL;
    tms_report_files_free(&files);
}

/* While the program runs, in a process of its own (live_report.h). */
static void report_interim(void *user)
{
    struct job *job = user;

    tms_say("%s: %s still runs, after %.1f s; open blocks are judged up to this point",
            job->watched.late ? "report after SIGTERM" : "report on demand", job->watched.command,
            job->watched.seconds);
    report_processes(job);
}

static int report_all(struct job *job)
{
    if (job->watched.reports > 0) {
        tms_say("final report: %s has ended after %.1f s", job->watched.command,
                job->watched.seconds);
    }
    report_processes(job);
    conclude(job);
    if (!job->values->common.quiet) {
        tms_suppress_warn(&job->suppress);
    }
    if (tms_suppress_write(&job->suppress, job->watched.command) != TMS_EXIT_OK) {
        return TMS_EXIT_WATCH_BAD;
    }
    bool files = job->values->json != NULL || job->values->report_files.count > 0 ||
                 job->values->storing.store.given;
    return files && job->bad ? TMS_EXIT_WATCH_BAD : exit_status(job);
}

/* For TMESIS_RT_MODE, as processes with the runtime in them need it. */
static const char *mode_of(const struct job *job)
{
    const struct tms_engine_plan *plan = &job->plan;

    if (plan->inside && job->preload[0] == '\0') {
        return "check"; /* others predict inside, too */
    }
    if (plan->inside || (plan->light && job->preload[0] != '\0')) {
        return plan->recorded[0] != '\0' || job->locks.recorded[0] != '\0' ? "along" : "check";
    }
    return "record";
}

/* For TMESIS_RT_PREDICT: what is predicted inside the program. */
static unsigned predicted_inside(const struct job *job)
{
    static const struct {
        const char *engine;
        unsigned bit;
    } parts[] = {{"sidetrack", TMS_RT_PREDICT_WINDOWS}, {"goodlock", TMS_RT_PREDICT_NESTING}};
    unsigned predict = 0;

    if (!job->plan.inside || job->preload[0] != '\0') {
        return 0;
    }
    for (const char *at = job->plan.recorded; *at != '\0';
         at += strcspn(at, ","), at += *at == ',') {
        for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
            size_t length = strlen(parts[i].engine);
            bool same = strcspn(at, ",") == length && memcmp(at, parts[i].engine, length) == 0;
            predict |= same ? parts[i].bit : 0;
        }
    }
    return predict == 0 ? 0 : predict | job->settings.predict;
}

static int run_job(struct job *job, const struct tms_operands *operands)
{
    struct tms_watching watching = job->values->watching;
    struct tms_manner manner = {.mode = mode_of(job),
                                .blame = job->values->checking.blame,
                                .predict = predicted_inside(job),
                                .judges = job->plan.judged,
                                .preload = job->preload[0] != '\0' ? job->preload : NULL,
                                .report_signal = report_signal(job->values->report_on),
                                .report_inside = job->values->report_on != NULL,
                                .report = report_interim,
                                .user = job};

    watching.full = watching.full || job->plan.judges;
    watching.schedule = job->schedule.text != NULL ? &job->schedule : NULL;
    int status = tms_watch(&job->watched, &watching, &manner, operands);

    if (status == TMS_EXIT_OK) {
        status = report_all(job);
    }
    tms_watched_free(&job->watched);
    return status;
}

/* ---- which engine runs where ---------------------------------------------------------- */

static void settle_settings(struct job *job)
{
    const struct values *values = job->values;

    tms_settings_init(&job->settings);
    tms_engine_settings(&values->checking, &job->settings);
    tms_split_settings(values->watching.split, &job->settings);
    tms_predicting_settings(&values->predicting, &job->settings);
    job->settings.suppressions = job->suppress.list;
}

/* `judge` alone implies the engines whose findings it judges. */
static const char *wanted_engines(const struct job *job)
{
    const char *engines = job->values->checking.engines;

    return strcmp(engines, TMS_JUDGE) == 0 ? TMS_DEFAULT_ENGINES : engines;
}

/* False after a sentence: the options contradict each other. */
static bool choose_status(struct job *job)
{
    const struct values *values = job->values;
    enum tms_level level = values->strict ? TMS_LEVEL_NOTE : TMS_LEVEL_WARNING;

    if (!tms_fail_on_parse(&job->fail_on, values->predicting.fail_on, level)) {
        return false;
    }
    if (values->strict && job->fail_on.level > TMS_LEVEL_NOTE) {
        tms_say("--strict counts every block that was cut, --fail-on=%s does not; use one of "
                "them",
                values->predicting.fail_on);
        return false;
    }
    return tms_predicting_levels(&values->predicting, &job->fail_on, wanted_engines(job));
}

/* Before the program runs: can the outputs be written, and do they replace no input? */
static bool outputs_are_good(const struct values *values, const char *program)
{
    const char *const files[] = {program, values->schedule};
    const struct tms_operands inputs = {files, values->schedule != NULL ? 2 : 1};
    const char *json = values->json, *rules = values->suppressing.output;

    return (json == NULL || (tms_new_file_spares(json, &inputs, &values->watching.rules) &&
                             tms_new_file_spares(json, NULL, &values->suppressing.rules) &&
                             tms_new_file_possible(json) == TMS_EXIT_OK)) &&
           tms_suppress_spares(&values->suppressing, &inputs, &values->watching.rules, json) &&
           tms_report_files_good(&values->report_files, &inputs, &values->watching.rules, json) &&
           tms_report_files_good(&values->report_files, NULL, &values->suppressing.rules, rules) &&
           tms_known_spared(values->baseline, &values->report_files, json, rules) &&
           (rules == NULL || tms_new_file_possible(rules) == TMS_EXIT_OK) &&
           tms_storing_spares(&values->storing, rules) &&
           tms_storing_good(&values->storing, json, &values->report_files);
}

/* Chooses the engines for processes of both kinds. */
static bool choose_engines(struct job *job)
{
    const struct values *values = job->values;
    bool by_locks = !values->checking.engine_given;
    char list[TMS_ENGINE_LIST_SIZE], left_out[TMS_ENGINE_LIST_SIZE];

    tms_predicting_engines(&values->predicting, wanted_engines(job), list);
    if (values->races) {
        tms_predicting_add(list, TMS_ENGINE_RACES);
    }
    tms_engine_plan(&job->plan, list, (job->settings.predict & TMS_PREDICT_VARIABLE) != 0);
    job->plan.races = job->plan.races && strcmp(values->watching.memory, "off") != 0;
    if (by_locks) {
        tms_predicting_engines(&values->predicting, TMS_LOCK_ENGINES, list);
    }
    bool any = tms_engine_plan_locks(&job->locks, list, left_out);
    if (job->preload[0] != '\0' && left_out[0] != '\0' && (!any || !values->common.quiet)) {
        tms_say("engines that need memory accesses, and so a program built with tmesis cc%s: %s",
                any ? ", left out" : "", left_out);
    }
    return any || job->preload[0] == '\0';
}

/* False after a sentence: the file is no schedule, or there is another one. */
static bool choose_schedule(struct job *job)
{
    if (job->values->schedule == NULL) {
        return true;
    }
    if (job->values->watching.perturb.given) {
        tms_say("--perturb and --schedule can't be combined; use one of them");
        return false;
    }
    return tms_chosen_schedule_open(&job->schedule, job->values->schedule);
}

/* False after a sentence if the program should not be started. */
static bool look_ahead(struct job *job, const char *program)
{
    const struct values *values = job->values;
    char path[PATH_MAX];

    if (!choose_schedule(job) ||
        !tms_preflight_find(program, &values->watching, "--json", values->json, path) ||
        !outputs_are_good(values, path) ||
        !tms_preflight_preload(program, values->common.quiet, job->preload) ||
        !choose_engines(job)) {
        return false;
    }
    if (!values->common.quiet) {
        tms_preflight_remark(program);
    }
    return true;
}

/* ---- many runs ----------------------------------------------------------------------------- */

/* Options that have no meaning for many runs together. False after a sentence. */
static bool can_be_many(const struct values *values)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {{"schedule", values->schedule != NULL},
                  {"report-on", values->report_on != NULL},
                  {"write-suppressions", values->suppressing.output != NULL},
                  {"stats", values->checking.stats}};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (others[i].given) {
            tms_say("--%s is for a single run; it can't be combined with --runs", others[i].name);
            return false;
        }
    }
    return true;
}

/* Program and options have been checked. */
static int run_many(const struct job *job, const struct tms_operands *operands)
{
    static const char *const own[] = {
        "runs",         "json",   "perturb",         "schedule",
        "report-on",    "notes",  "verbose",         "write-suppressions",
        "strip-prefix", "stats",  "exit-code",       "fail-on",
        "strict",       "report", TMS_STORING_NAMES, NULL};
    const struct values *values = job->values;
    struct tms_words words = {0};
    struct tms_report_settings settings;
    struct tms_many_runs many = {.common = &values->common,
                                 .program = operands,
                                 .options = &words,
                                 .fail_on = &job->fail_on,
                                 .settings = &settings,
                                 .runs = values->runs,
                                 .noise = values->watching.perturb.given,
                                 .exit_code = (int)values->exit_code,
                                 .json = values->json,
                                 .reports = &values->report_files,
                                 .storing = &values->storing};

    tms_reporting_settings(&values->reporting, &values->common, &settings);
    tms_engine_report_settings(&values->checking, &values->predicting, &settings);
    settings.races =
        values->races || tms_predicting_has(values->checking.engines, TMS_ENGINE_RACES);
    settings.baseline = values->baseline != NULL;
    tms_option_words(options, values, own, &words);
    bool good = !words.failed && tms_watch_seed(&values->watching.perturb, &many.seed);
    int status = good ? tms_many_runs(&many) : TMS_EXIT_WATCH_BAD;
    tms_words_free(&words);
    return status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    struct job job = {.values = all_values};
    bool many = job.values->runs > 1;
    bool good = choose_status(&job) && (!many || can_be_many(job.values)) &&
                tms_suppress_open(&job.suppress, &job.values->suppressing) == TMS_EXIT_OK;

    settle_settings(&job);
    good = good && tms_known_open(&job.reports.known, job.values->baseline) == TMS_EXIT_OK &&
           look_ahead(&job, operands->text[0]);
    if (good) {
        warn_unused(&job);
    }
    int status = !good  ? TMS_EXIT_WATCH_BAD
                 : many ? run_many(&job, operands)
                        : run_job(&job, operands);
    tms_chosen_schedule_free(&job.schedule);
    tms_suppress_close(&job.suppress);
    tms_process_reports_free(&job.reports);
    return status;
}

const struct tms_command tms_command_run = {
    .name = "run",
    .group = TMS_GROUP_PROGRAM,
    .summary = "run a program and check it",
    .usage = "[--] PROGRAM [ARGUMENT…]",
    .about =
        "Runs PROGRAM and checks, while it runs, whether its atomic blocks were cut apart by other "
        "threads. Build it with tmesis cc or tmesis c++ to have its memory accesses watched; in "
        "any other dynamically linked program only locks and threads are. The program's own input "
        "and output are untouched. The report goes to standard error when it ends. Everything "
        "after PROGRAM is passed to it.\n\n"
        "Exit status: that of PROGRAM (128 plus the signal number after a signal), but 66 if an "
        "error or a warning was observed (see --fail-on and --strict), 3 if the verdict is "
        "incomplete, 125 if PROGRAM could not be run and watched.",
    .brief = "Runs PROGRAM and reports on standard error which of its functions and blocks were "
             "not atomic. Build PROGRAM with tmesis cc or tmesis c++; otherwise only its locks and "
             "threads are watched.\n\n"
             "Exit status: PROGRAM's; 66 violation, 3 incomplete, 125 could not be run.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .starts_program = true,
    .bad = TMS_EXIT_WATCH_BAD,
    .run = run,
};
