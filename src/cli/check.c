/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis check: recorded traces in, a report and an exit status out.
 *
 * Every trace has a context of its own, so that names and failures of one never meet those of
 * the next. A trace that can't be read does not keep the others from being checked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/options.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    const char *engines;
    const char *format;
    const char *split;
    struct tms_maybe json;
    uint64_t max_violations;
    bool blame, lenient, all, first, stats;
};

#define AT(field) offsetof(struct values, field)

static const char *word_engine(size_t index)
{
    if (index == 0) {
        return "all";
    }
    const struct tms_engine_info *engine = tms_engine_info(index - 1);
    return engine != NULL ? engine->name : NULL;
}

static const struct {
    const char *word;
    unsigned bit;
} splits[] = {
#define X(name, value, text) {text, TMS_SPLIT_##name},
    TMS_SPLITS(X)
#undef X
        {"none", 0},
};

#define SPLIT_COUNT (sizeof(splits) / sizeof(splits[0]))

static const char *word_split(size_t index)
{
    return index < SPLIT_COUNT ? splits[index].word : NULL;
}

static const struct tms_option options[] = {
    {.name = "engine",
     .type = TMS_OPTION_LIST,
     .at = AT(engines),
     .initial = "frontier",
     .word = word_engine,
     .alone = "all",
     .environment = true,
     .value = "NAME,…",
     .help = "which engines decide, in one pass over the trace; tmesis engines tells them apart"},
    {.name = "blame",
     .type = TMS_OPTION_FLAG,
     .at = AT(blame),
     .initial = "yes",
     .environment = true,
     .help = "only the bare verdict, at full speed: don't work out which blocks are themselves "
             "not atomic"},
    {.name = "first",
     .type = TMS_OPTION_FLAG,
     .at = AT(first),
     .environment = true,
     .help = "stop at the first violation"},
    {.name = "all",
     .type = TMS_OPTION_FLAG,
     .at = AT(all),
     .environment = true,
     .help = "list every violation by itself instead of one finding per pattern with a count"},
    {.name = "max-violations",
     .type = TMS_OPTION_COUNT,
     .at = AT(max_violations),
     .environment = true,
     .value = "N",
     .help = "list at most N findings per engine; 0: all of them"},
    {.name = "split",
     .type = TMS_OPTION_LIST,
     .at = AT(split),
     .initial = "wait,barrier",
     .word = word_split,
     .alone = "none",
     .environment = true,
     .value = "WHAT,…",
     .help = "what cuts a block in two on purpose"},
    {.name = "lenient",
     .type = TMS_OPTION_FLAG,
     .at = AT(lenient),
     .environment = true,
     .help = "skip what can't be read or is not well-formed, say so, and go on; without a "
             "violation the verdict is then incomplete"},
    {.name = "format",
     .type = TMS_OPTION_CHOICE,
     .at = AT(format),
     .word = tms_word_format,
     .environment = true,
     .value = "NAME",
     .help = "the format of the traces; without it their content tells"},
    {.name = "json",
     .type = TMS_OPTION_MAYBE,
     .at = AT(json),
     .value = "FILE",
     .help = "write one JSON object per trace, to standard output or to FILE"},
    {.name = "stats",
     .type = TMS_OPTION_FLAG,
     .at = AT(stats),
     .environment = true,
     .help = "what the engines counted: time, memory, their own numbers"},
    {0}};

/* ---- JSON ----------------------------------------------------------------------------- */

static FILE *open_json(const struct tms_maybe *json)
{
    if (json->value == NULL || strcmp(json->value, "-") == 0) {
        return stdout;
    }
    FILE *file = fopen(json->value, "w");
    if (file == NULL) {
        tms_say("%s can't be written: %s", json->value, strerror(errno));
    }
    return file;
}

static int close_json(FILE *file, const struct tms_maybe *json)
{
    if (file == NULL || file == stdout) {
        return TMS_EXIT_OK;
    }
    int status = tms_console_flush(file, json->value);
    if (fclose(file) != 0 && status == TMS_EXIT_OK) {
        status = tms_bad("%s could not be written: %s", json->value, strerror(errno));
    }
    return status;
}

/* ---- one trace ------------------------------------------------------------------------ */

struct job {
    const struct values *values;
    const struct tms_settings *settings;
    const char *path;
    FILE *json; /* NULL: none wanted */
    struct tms_progress progress;
    struct tms_context *context;
    struct tms_reader *reader;
    struct tms_analysis *analysis;
};

/* By hand for as long as there is progress to show; the rest goes through in one call. */
static int read_trace(struct job *job)
{
    const struct tms_event *events;
    int64_t count;
    uint64_t size;

    while (job->progress.wanted && (count = tms_reader_next(job->reader, &events)) != 0) {
        int code = count < 0 ? (int)count
                             : tms_analysis_feed(job->analysis, events, (size_t)count, job->reader);
        if (code < 0) {
            return code;
        }
        if (code == 1) {
            return tms_analysis_finish(job->analysis);
        }
        uint64_t done = tms_reader_position(job->reader, &size);
        tms_progress_step(&job->progress, (uint64_t)count, done, size);
    }
    return tms_analysis_read(job->analysis, job->reader);
}

static int analyse(struct job *job)
{
    struct tms_reader_settings settings;

    tms_reader_settings_init(&settings);
    settings.format = job->values->format;
    settings.lenient = job->values->lenient;
    int code = tms_reader_open(job->context, job->path, &settings, &job->reader);
    if (code == TMS_OK) {
        code = tms_analysis_new(job->context, job->settings, &job->analysis);
    }
    if (code == TMS_OK) {
        tms_progress_start(&job->progress, &job->values->common);
        code = read_trace(job);
        tms_progress_hide(&job->progress);
    }
    return code;
}

static int report(const struct job *job)
{
    struct tms_report_settings settings;

    tms_report_settings_init(&settings);
    settings.path = job->path;
    settings.format = tms_reader_format(job->reader);
    settings.color = tms_console_color(job->values->common.color, stderr);
    settings.stats = job->values->stats;
    settings.quiet = job->values->common.quiet;
    int code = tms_report(job->analysis, "text", &settings, tms_console_sink, stderr);
    if (code == TMS_ERR_MEMORY) {
        return code;
    }
    /* What a stream could not take is found when it is flushed. */
    if (job->json != NULL) {
        code = tms_report(job->analysis, "json", &settings, tms_console_sink, job->json);
    }
    return code == TMS_ERR_IO ? TMS_OK : code;
}

static int status_of(const struct tms_analysis *analysis)
{
    const struct tms_result *result;
    bool incomplete = false;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (result->verdict == TMS_VERDICT_VIOLATION) {
            return TMS_EXIT_VIOLATION;
        }
        incomplete = incomplete || result->verdict == TMS_VERDICT_INCOMPLETE;
    }
    return incomplete ? TMS_EXIT_INCOMPLETE : TMS_EXIT_OK;
}

static int run_job(struct job *job)
{
    job->context = tms_context_new(tms_console_complain, &job->progress);
    if (job->context == NULL) {
        return tms_bad("%s: out of memory", job->path);
    }
    int code = analyse(job);
    if (code == TMS_OK) {
        code = report(job);
    }
    int status = TMS_EXIT_BAD;
    if (code == TMS_OK) {
        status = status_of(job->analysis);
    } else {
        tms_bad_input(job->context, code, job->values->format);
        if (job->json != NULL) {
            tms_console_json_error(job->json, job->path, tms_error(job->context));
        }
    }
    tms_analysis_free(job->analysis);
    tms_reader_close(job->reader);
    tms_context_free(job->context);
    return status;
}

/* ---- all of them ---------------------------------------------------------------------- */

static unsigned read_splits(const char *list)
{
    unsigned split = 0;

    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        for (size_t i = 0; i < SPLIT_COUNT; i++) {
            if (strlen(splits[i].word) == length && memcmp(splits[i].word, list, length) == 0) {
                split |= splits[i].bit;
            }
        }
        list += length + (list[length] == ',');
    }
    return split;
}

static bool standard_input_once(const struct tms_operands *operands)
{
    size_t times = 0;

    for (size_t i = 0; i < operands->count; i++) {
        times += strcmp(operands->text[i], "-") == 0;
    }
    if (times > 1) {
        tms_say("standard input (\"-\") can be read only once");
    }
    return times <= 1;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    struct tms_settings settings;
    FILE *json = NULL;
    int status = TMS_EXIT_OK;

    tms_settings_init(&settings);
    settings.engines = values->engines;
    settings.blame = values->blame;
    settings.all = values->all;
    settings.first = values->first;
    settings.lenient = values->lenient;
    settings.max_violations = values->max_violations;
    settings.split = read_splits(values->split);
    if (!standard_input_once(operands)) {
        return TMS_EXIT_BAD;
    }
    if (values->json.given && (json = open_json(&values->json)) == NULL) {
        return TMS_EXIT_BAD;
    }
    for (size_t i = 0; i < operands->count; i++) {
        struct job job = {
            .values = values, .settings = &settings, .path = operands->text[i], .json = json};
        if (i > 0 && !values->common.quiet) {
            fputc('\n', stderr);
        }
        status = tms_console_worse(status, run_job(&job));
    }
    return tms_console_worse(status, close_json(json, &values->json));
}

const struct tms_command tms_command_check = {
    .name = "check",
    .summary = "check recorded traces: was every atomic block left whole?",
    .usage = "TRACE…",
    .about =
        "Decides for each TRACE (\"-\" is standard input) whether its atomic blocks can be put "
        "one after the other without changing what any thread saw. If not, shows which "
        "blocks were cut apart, where, and by whom. The report goes to standard error.\n\n"
        "Exit status over all traces: 2 if one could not be read, else 1 if one has a "
        "violation, else 3 if a verdict is incomplete, else 0.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .run = run,
};
