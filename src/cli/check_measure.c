/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring engines; see check_measure.h.
 *
 * --repeat makes whole passes with all engines, each in a context of its own. --until-first gives
 * each engine passes of its own. An exact stop looks at the engine after every event, which costs
 * more than many engines do, so the stop is found first and not measured: the measured passes take
 * the events up to there, in batches as usual. Before all of them the trace is read once without
 * engines, so that its size is known, its names are, and every pass finds the file in memory.
 */
#include "cli/check_measure.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool tms_measure_wanted(const struct tms_measure_options *options)
{
    return options->repeat > 1 || options->until_first;
}

static bool can_be_read_again(const char *path, const char *option)
{
    struct stat status;
    bool standard = strcmp(path, "-") == 0;

    if (!standard && (stat(path, &status) != 0 || S_ISREG(status.st_mode))) {
        return true; /* what is not there is reported when it is opened */
    }
    tms_say("%s: %s reads a trace several times, so it must be a regular file; save it first",
            standard ? "standard input" : path, option);
    return false;
}

bool tms_measure_good(const struct tms_measure_options *options, const struct tms_operands *traces,
                      const char *other)
{
    const char *option = options->until_first ? "--until-first" : "--repeat";
    bool good = true;

    if (options->until_first && other != NULL) {
        tms_say("--until-first and %s can't be combined; use one of them", other);
        return false;
    }
    for (size_t i = 0; tms_measure_wanted(options) && good && i < traces->count; i++) {
        good = can_be_read_again(traces->text[i], option);
    }
    return good;
}

/* ---- samples ---------------------------------------------------------------------------- */

static bool make_room(struct tms_measured *measured, size_t count, uint64_t repeat)
{
    measured->count = count;
    measured->timings = calloc(count + 1, sizeof(*measured->timings));
    measured->samples = calloc(2 * (count + 1) * repeat, sizeof(*measured->samples));
    return measured->timings != NULL && measured->samples != NULL;
}

/* The samples of a result: `repeat` seconds in the engine, then as many of the pass. */
static double *samples_of(const struct tms_measured *measured, size_t index, uint64_t repeat)
{
    return &measured->samples[2 * index * repeat];
}

static void take_sample(struct tms_measured *measured, size_t index,
                        const struct tms_analysis *analysis, const struct tms_result *result,
                        const struct tms_measuring *measuring, uint64_t time)
{
    double *samples = samples_of(measured, index, measuring->options->repeat);
    struct tms_trace_summary summary;

    tms_analysis_summary(analysis, &summary);
    samples[time] = result->seconds;
    samples[measuring->options->repeat + time] = summary.seconds;
}

static int by_seconds(const void *a, const void *b)
{
    double one = *(const double *)a, two = *(const double *)b;

    return (one > two) - (one < two);
}

static double sort_for_median(double *samples, uint64_t count)
{
    qsort(samples, count, sizeof(*samples), by_seconds);
    return (samples[(count - 1) / 2] + samples[count / 2]) / 2;
}

static void conclude(struct tms_measured *measured, const struct tms_measuring *measuring,
                     const struct tms_analysis *analysis)
{
    uint64_t repeat = measuring->options->repeat;

    for (size_t i = 0; i < measured->count; i++) {
        double *samples = samples_of(measured, i, repeat);
        double median = sort_for_median(samples, repeat);
        measured->timings[i] = (struct tms_timing){
            .runs = repeat,
            .least = samples[0],
            .median = median,
            .most = samples[repeat - 1],
            .pass = sort_for_median(samples + repeat, repeat),
            .events = tms_analysis_result(analysis, i)->events,
            .until_first = measuring->options->until_first,
        };
    }
}

/* ---- --repeat --------------------------------------------------------------------------- */

static void take_samples(struct tms_measured *measured, const struct tms_checking *checking,
                         const struct tms_measuring *measuring, uint64_t time)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(checking->analysis, i)) != NULL; i++) {
        take_sample(measured, i, checking->analysis, result, measuring, time);
    }
}

/* One more pass, whose results are those of the first. What goes wrong becomes the check's. */
static int repeat_pass(struct tms_measured *measured, struct tms_checking *checking,
                       const struct tms_measuring *measuring, uint64_t time)
{
    struct tms_checking again = {.path = checking->path};
    int code =
        tms_checking_run(&again, measuring->reading, measuring->settings, measuring->common, NULL);

    if (code == TMS_OK) {
        take_samples(measured, &again, measuring, time);
        tms_checking_free(&again);
    } else {
        tms_checking_free(checking);
        *checking = again;
    }
    return code;
}

static int check_together(struct tms_measured *measured, struct tms_checking *checking,
                          const struct tms_measuring *measuring)
{
    size_t count = 0;
    int code = tms_checking_run(checking, measuring->reading, measuring->settings,
                                measuring->common, tms_console_complain);

    if (code != TMS_OK || measuring->options->repeat == 1) {
        return code;
    }
    while (tms_analysis_result(checking->analysis, count) != NULL) {
        count++;
    }
    if (!make_room(measured, count, measuring->options->repeat)) {
        return TMS_ERR_MEMORY;
    }
    take_samples(measured, checking, measuring, 0);
    for (uint64_t time = 1; time < measuring->options->repeat && code == TMS_OK; time++) {
        code = repeat_pass(measured, checking, measuring, time);
    }
    if (code == TMS_OK) {
        conclude(measured, measuring, checking->analysis);
    }
    return code;
}

/* ---- --until-first ---------------------------------------------------------------------- */

/* Feeds at most `most` events, `batch` at a time; returns 1 if the analysis wants no more. */
static int feed(struct tms_analysis *analysis, struct tms_reader *reader, size_t batch,
                uint64_t most, uint64_t *fed)
{
    const struct tms_event *events;
    int64_t count;
    int code = TMS_OK;

    for (*fed = 0; *fed < most && (count = tms_reader_next(reader, &events)) != 0;) {
        if (count < 0) {
            return (int)count;
        }
        for (size_t at = 0; at < (size_t)count && *fed < most; at += batch) {
            size_t part = (size_t)count - at < batch ? (size_t)count - at : batch;
            part = part < most - *fed ? part : (size_t)(most - *fed);
            code = tms_analysis_feed(analysis, events + at, part, NULL);
            *fed += part;
            if (code != 0) {
                return code;
            }
        }
    }
    if (*fed < most && tms_reader_loss(reader) != NULL) {
        tms_analysis_lost(analysis, tms_reader_loss(reader));
    }
    return TMS_OK;
}

/* One engine over the first `most` events. */
static int pass_alone(const struct tms_checking *checking, const struct tms_measuring *measuring,
                      const struct tms_settings *settings, uint64_t most, uint64_t *fed,
                      struct tms_analysis **analysis)
{
    struct tms_reader_settings reader_settings;
    struct tms_reader *reader;

    tms_reader_settings_init(&reader_settings);
    reader_settings.format = measuring->reading->format;
    reader_settings.lenient = measuring->reading->lenient;
    int code = tms_reader_open(checking->context, checking->path, &reader_settings, &reader);
    if (code != TMS_OK) {
        return code;
    }
    code = tms_analysis_new(checking->context, settings, analysis);
    if (code == TMS_OK) {
        code = feed(*analysis, reader, settings->first ? 1 : SIZE_MAX, most, fed);
        code = code < 0 ? code : tms_analysis_finish(*analysis);
    }
    tms_reader_close(reader);
    return code;
}

/* The number of events up to the first violation, or of all. */
static int find_stop(const struct tms_checking *checking, const struct tms_measuring *measuring,
                     const struct tms_settings *settings, uint64_t *stop)
{
    struct tms_settings exact = *settings;
    struct tms_analysis *analysis = NULL;

    exact.first = true;
    int code = pass_alone(checking, measuring, &exact, UINT64_MAX, stop, &analysis);
    if (code == TMS_OK && tms_analysis_result(analysis, 0)->first_violation_event == 0) {
        *stop = UINT64_MAX;
    }
    tms_analysis_free(analysis);
    return code;
}

/* The analysis of the first pass is kept. */
static int measure_engine(struct tms_measured *measured, const struct tms_checking *checking,
                          const struct tms_measuring *measuring, const char *engine, size_t index)
{
    struct tms_settings settings = *measuring->settings;
    uint64_t stop, fed;

    settings.engines = engine;
    settings.parallel = false; /* one thread, as published tools */
    int code = find_stop(checking, measuring, &settings, &stop);
    for (uint64_t time = 0; time < measuring->options->repeat && code == TMS_OK; time++) {
        struct tms_analysis *analysis = NULL;
        code = pass_alone(checking, measuring, &settings, stop, &fed, &analysis);
        if (code == TMS_OK) {
            take_sample(measured, index, analysis, tms_analysis_result(analysis, 0), measuring,
                        time);
        }
        if (time == 0) {
            measured->alone[index] = analysis;
        } else {
            tms_analysis_free(analysis);
        }
    }
    return code;
}

/* The name of the index-th engine of a list; false after the last. */
static bool engine_at(const char *list, size_t index, char name[TMS_ENGINE_LIST_SIZE])
{
    if (strcmp(list, "all") == 0) {
        const struct tms_engine_info *engine = tms_engine_info(index);
        snprintf(name, TMS_ENGINE_LIST_SIZE, "%s", engine != NULL ? engine->name : "");
        return engine != NULL;
    }
    for (; index > 0 && *list != '\0'; index--) {
        list += strcspn(list, ",");
        list += *list == ',';
    }
    snprintf(name, TMS_ENGINE_LIST_SIZE, "%.*s", (int)strcspn(list, ","), list);
    return name[0] != '\0';
}

/* One analysis with the results of all engines, instead of the one without any. */
static int join_results(struct tms_measured *measured, struct tms_checking *checking)
{
    struct tms_result *results = calloc(measured->count + 1, sizeof(*results));
    struct tms_restored restored = {.results = results,
                                    .result_count = measured->count,
                                    .loss = tms_analysis_loss(checking->analysis)};
    struct tms_analysis *joined = NULL;
    int code = results != NULL ? TMS_OK : TMS_ERR_MEMORY;

    tms_analysis_summary(checking->analysis, &restored.summary);
    for (size_t i = 0; i < measured->count && code == TMS_OK; i++) {
        results[i] = *tms_analysis_result(measured->alone[i], 0);
    }
    if (code == TMS_OK) {
        code = tms_analysis_restore(checking->context, &restored, &joined);
    }
    if (code == TMS_OK) {
        tms_analysis_free(checking->analysis);
        checking->analysis = joined;
    }
    free(results);
    return code;
}

static int check_alone(struct tms_measured *measured, struct tms_checking *checking,
                       const struct tms_measuring *measuring)
{
    struct tms_settings settings = *measuring->settings;
    char name[TMS_ENGINE_LIST_SIZE];
    size_t count = 0;

    settings.engines = "";
    int code = tms_checking_run(checking, measuring->reading, &settings, measuring->common,
                                tms_console_complain);
    if (code != TMS_OK) {
        return code;
    }
    checking->progress.muted = true;
    while (engine_at(measuring->settings->engines, count, name)) {
        count++;
    }
    measured->alone = calloc(count + 1, sizeof(*measured->alone));
    if (measured->alone == NULL || !make_room(measured, count, measuring->options->repeat)) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < count && code == TMS_OK; i++) {
        engine_at(measuring->settings->engines, i, name);
        code = measure_engine(measured, checking, measuring, name, i);
    }
    code = code == TMS_OK ? join_results(measured, checking) : code;
    if (code == TMS_OK) {
        conclude(measured, measuring, checking->analysis);
    }
    return code;
}

int tms_measure(struct tms_measured *measured, struct tms_checking *checking,
                const struct tms_measuring *measuring)
{
    return (measuring->options->until_first ? check_alone : check_together)(measured, checking,
                                                                            measuring);
}

void tms_measured_free(struct tms_measured *measured)
{
    for (size_t i = 0; measured->alone != NULL && i < measured->count; i++) {
        tms_analysis_free(measured->alone[i]);
    }
    free(measured->alone);
    free(measured->timings);
    free(measured->samples);
    *measured = (struct tms_measured){0};
}
