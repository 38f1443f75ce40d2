/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis run: a program watched, and a report when it has ended. `frontier` decides inside the
 * program while it runs; other engines get what it recorded.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/new_file.h"
#include "cli/options.h"
#include "cli/remains.h"
#include "cli/watch.h"
#include "spool/observe.h"
#include "spool/trace.h"
#include "tmesis/tmesis.h"

#define INSIDE "frontier" /* the engine that the runtime has */

struct values {
    struct tms_common common;
    struct tms_watching watching;
    const char *engines;
    const char *json;
    uint64_t exit_code;
    uint64_t max_violations;
    bool blame, all, stats;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    TMS_WATCHING_OPTIONS(AT(watching)),
    {.name = "engine",
     .type = TMS_OPTION_LIST,
     .at = AT(engines),
     .initial = INSIDE,
     .word = tms_word_engine,
     .alone = "all",
     .environment = true,
     .value = "NAME,…",
     .help = "which engines decide: frontier does while the program runs, for others it is "
             "recorded and they are run at its end"},
    {.name = "blame",
     .type = TMS_OPTION_FLAG,
     .at = AT(blame),
     .initial = "yes",
     .environment = true,
     .help = "only the bare verdict: don't work out which blocks are themselves not atomic"},
    {.name = "all",
     .type = TMS_OPTION_FLAG,
     .at = AT(all),
     .environment = true,
     .help = "list violations by themselves instead of one finding per pattern with a count; "
             "those that the running program counted together stay together"},
    {.name = "max-violations",
     .type = TMS_OPTION_COUNT,
     .at = AT(max_violations),
     .environment = true,
     .value = "N",
     .help = "list at most N findings per engine; 0: all of them"},
    {.name = "json",
     .type = TMS_OPTION_TEXT,
     .at = AT(json),
     .value = "FILE",
     .help = "write one JSON object per process to FILE; standard output is the program's"},
    {.name = "exit-code",
     .type = TMS_OPTION_COUNT,
     .at = AT(exit_code),
     .initial = "66",
     .most = 255,
     .environment = true,
     .value = "N",
     .help = "the exit status if a violation was observed"},
    {.name = "stats",
     .type = TMS_OPTION_FLAG,
     .at = AT(stats),
     .environment = true,
     .help = "what the engines counted: time, memory, their own numbers"},
    {0}};

/* ---- one process -------------------------------------------------------------------------- */

struct job {
    const struct values *values;
    struct tms_settings settings;
    struct tms_watched watched;
    struct tms_new_file json; /* .out NULL: none wanted */
    bool violation, incomplete, bad;
    bool blocks; /* some process had one */
    size_t reports;
};

static bool decides_inside(const struct values *values)
{
    return strcmp(values->engines, INSIDE) == 0;
}

static int feed(void *user, const struct tms_event *events, size_t count)
{
    int code = tms_analysis_feed(user, events, count, NULL);

    return code < 0 ? code : TMS_OK;
}

/* The recorded events through the engines. */
static int run_engines(const struct job *job, struct tms_remains *remains,
                       struct tms_analysis **analysis)
{
    struct tms_trace_outcome outcome;
    char loss[TMS_SPOOL_REASON];
    int code = tms_analysis_new(remains->context, &job->settings, analysis);

    if (code == TMS_OK) {
        code = tms_spool_trace(&remains->names, feed, *analysis, &outcome);
    }
    if (code != TMS_OK) {
        return code;
    }
    tms_analysis_lost(*analysis, tms_spool_doubt(&remains->spool, loss) ? loss : NULL);
    return tms_analysis_finish(*analysis);
}

static int report(const struct job *job, const struct tms_remains *remains,
                  const struct tms_analysis *analysis)
{
    const char *source = remains->spool.header.block_source;
    struct tms_report_settings settings;

    tms_report_settings_init(&settings);
    settings.path = remains->title;
    settings.format = TMS_FORMAT_LIVE;
    settings.blocks = *source != '\0' ? source : NULL;
    settings.color = tms_console_color(job->values->common.color, stderr);
    settings.stats = job->values->stats;
    settings.quiet = job->values->common.quiet;
    int code = tms_report(analysis, "text", &settings, tms_console_sink, stderr);
    if (code != TMS_ERR_MEMORY && job->json.out != NULL) {
        code = tms_report(analysis, "json", &settings, tms_console_sink, job->json.out);
    }
    return code == TMS_ERR_IO ? TMS_OK : code; /* is seen when the file is closed */
}

static void note_verdicts(struct job *job, const struct tms_analysis *analysis)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        job->violation = job->violation || result->verdict == TMS_VERDICT_VIOLATION;
        job->incomplete = job->incomplete || result->verdict == TMS_VERDICT_INCOMPLETE;
    }
}

/* A child process in which nothing was to be checked is not worth a report. */
static bool is_silent(const struct tms_remains *remains)
{
    return remains->child && remains->spool.header.blocks == 0;
}

static void judge(struct job *job, struct tms_remains *remains)
{
    struct tms_analysis *analysis = NULL;
    int code = decides_inside(job->values) ? tms_spool_observe(&remains->names, &job->settings,
                                                               job->watched.seconds, &analysis)
                                           : run_engines(job, remains, &analysis);

    if (code == TMS_OK) {
        if (job->reports++ > 0 && !job->values->common.quiet) {
            fputc('\n', stderr);
        }
        code = report(job, remains, analysis);
        note_verdicts(job, analysis);
    }
    if (code != TMS_OK) {
        tms_remains_bad(remains, code);
        job->bad = true;
    }
    tms_analysis_free(analysis);
}

static void take_process(struct job *job, size_t index)
{
    struct tms_remains remains;

    if (!tms_remains_open(&remains, &job->watched, index)) {
        job->incomplete = true;
    } else {
        if (!job->values->common.quiet) {
            tms_remains_warn(&remains);
        }
        job->blocks = job->blocks || remains.spool.header.blocks > 0;
        if (!is_silent(&remains)) {
            judge(job, &remains);
        }
    }
    tms_remains_close(&remains);
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* A violation outweighs everything, and how the program died what is not known of it. */
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
    if (!job->blocks && !job->violation) {
        tms_remains_advise(&job->watched);
    }
    if (job->values->watching.perturb.given && !job->values->common.quiet) {
        tms_say("perturbed with seed %llu; --perturb=%llu makes the same delays again",
                (unsigned long long)job->watched.seed, (unsigned long long)job->watched.seed);
    }
}

/* What is decided inside the program is not recorded. */
static void warn_unused(const struct values *values)
{
    bool recording = values->watching.full || values->watching.max_size != 0;

    if (recording && decides_inside(values) && !values->common.quiet) {
        tms_say("--full and --max-size are for recordings, which " INSIDE " alone does not need");
    }
}

static int run_job(struct job *job, const struct tms_operands *operands)
{
    const char *mode = decides_inside(job->values) ? "check" : "record";
    int status =
        tms_watch(&job->watched, &job->values->watching, mode, job->values->blame, operands);

    if (status == TMS_EXIT_OK) {
        for (size_t i = 0; i < job->watched.spool_count; i++) {
            take_process(job, i);
        }
        conclude(job);
        status = exit_status(job);
    }
    tms_watched_free(&job->watched);
    return status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    struct job job = {.values = values};

    if (values->json != NULL && tms_new_file_open(&job.json, values->json) != TMS_EXIT_OK) {
        return TMS_EXIT_WATCH_BAD;
    }
    warn_unused(values);
    tms_settings_init(&job.settings);
    job.settings.engines = values->engines;
    job.settings.blame = values->blame;
    job.settings.all = values->all;
    job.settings.max_violations = values->max_violations;
    tms_split_settings(values->watching.split, &job.settings);
    int status = run_job(&job, operands);
    if (values->json != NULL && status == TMS_EXIT_WATCH_BAD && job.reports == 0) {
        tms_new_file_abandon(&job.json);
    } else if (values->json != NULL && tms_new_file_close(&job.json) != TMS_EXIT_OK) {
        status = TMS_EXIT_WATCH_BAD;
    }
    return status;
}

const struct tms_command tms_command_run = {
    .name = "run",
    .summary = "run a program built with tmesis cc and check it",
    .usage = "[--] PROGRAM [ARGUMENT…]",
    .about =
        "Runs PROGRAM, which was built with tmesis cc or tmesis c++, and decides while it runs "
        "whether its atomic blocks are left whole. What it reads and writes stays its own; the "
        "report follows on standard error when it has ended, however that came about. All words "
        "behind PROGRAM are for it.\n\n"
        "Exit status: that of PROGRAM (128 and its number after a signal), but 66 if a violation "
        "was observed, 3 if the verdict is incomplete, 125 if PROGRAM could not be run and "
        "watched.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .starts_program = true,
    .bad = TMS_EXIT_WATCH_BAD,
    .run = run,
};
