/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis gen: generate a synthetic trace. The generator itself is in src/gen; here are
 * its options, which all may change a preset, and the writing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "gen/presets.h"
#include "gen/random.h"
#include "gen/trace_generator.h"
#include "tmesis/tmesis.h"

#define BATCH 4096

/* X(field of the shape, option, default, least, most, what it does) */
#define COUNTS(X)                                                                                  \
    X(events, "events", "10k", 1, TMS_SHAPE_EVENTS_MOST, "the exact number of events")             \
    X(seed, "seed", "1", 0, UINT64_MAX, "each number gives another trace of the same shape")       \
    X(threads, "threads", "4", 1, TMS_SHAPE_THREADS_MOST, "threads that run at the same time")     \
    X(locks, "locks", "4", 0, TMS_SHAPE_NAMES_MOST, "number of locks")                             \
    X(variables, "variables", "100", 1, TMS_SHAPE_NAMES_MOST,                                      \
      "number of variables; a short trace uses fewer")                                             \
    X(length, "transaction-length", "12", 2, TMS_SHAPE_LENGTH_MOST,                                \
      "mean number of events in a block, including begin and end")                                 \
    X(nesting, "nesting", "1", 1, TMS_SHAPE_NESTING_MOST,                                          \
      "how deep blocks nest; 1: no nested blocks")                                                 \
    X(labels, "labels", "10", 0, TMS_SHAPE_NAMES_MOST, "distinct labels of blocks; 0: no labels")  \
    X(cut, "cut-labels", "0", 0, TMS_SHAPE_NAMES_MOST,                                             \
      "number of labels that are not atomic: throughout the trace, blocks with these labels lose " \
      "updates to another thread, each label at least once")                                       \
    X(locations, "locations", "0", 0, TMS_SHAPE_NAMES_MOST,                                        \
      "distinct source locations such as gen.c:17; 0: no locations")                               \
    X(churn, "churn", "0", 0, TMS_SHAPE_NAMES_MOST,                                                \
      "how often a thread is joined and replaced by a new one (with --fork-join)")

/* X(field of the shape, option, default, what it does) */
#define SHARES(X)                                                                                  \
    X(reads, "read-share", "0.7", "share of reads among the accesses")                             \
    X(unary, "unary-share", "0.1", "share of events outside any block")                            \
    X(overlap, "overlap", "0.5",                                                                   \
      "how much blocks of different threads interleave: 0: one after the other; 1: a random "      \
      "thread at every event")                                                                     \
    X(sharing, "sharing", "0.5",                                                                   \
      "share of variables that all threads use, and of accesses to them; each of the others "      \
      "belongs to one thread")                                                                     \
    X(guarded, "guarded", "0.5",                                                                   \
      "share of the shared variables that are always accessed under the same lock")                \
    X(atomics, "atomics", "0",                                                                     \
      "share of the other shared variables that are atomic: loads, stores and read-modify-writes " \
      "with random memory orders, and a few fences")

struct values {
    struct tms_common common;
    const char *output;
    const char *format;
    const char *preset;
    const char *violation;
    bool fork_join;
    bool list_presets;
#define X(field, ...) uint64_t field;
    COUNTS(X)
#undef X
#define X(field, ...) double field;
    SHARES(X)
#undef X
    struct {
        bool violation, fork_join;
#define X(field, ...) bool field;
        COUNTS(X)
        SHARES(X)
#undef X
    } given;
};

#define AT(field) offsetof(struct values, field)

/* clang-format off */
static const struct tms_option options[] = {
    {.name = "output", .letter = 'o', .type = TMS_OPTION_TEXT, .at = AT(output), .value = "FILE",
     .help = "where to write the trace; the extension selects the format (.std, .rt, .tms, optionally "
             "followed by .gz or .zst) unless --to does; \"-\" is standard output and needs --to"},
    {.name = "to", .type = TMS_OPTION_CHOICE, .at = AT(format), .word = tms_word_written,
     .value = "NAME", .help = "the format, regardless of the extension"},
    {.name = "preset", .type = TMS_OPTION_CHOICE, .at = AT(preset), .word = tms_preset_name,
     .value = "NAME",
     .help = "a named shape, scaled to --events; other options override single properties of it"},
    {.name = "list-presets", .type = TMS_OPTION_FLAG, .at = AT(list_presets),
     .help = "print the presets with their parameters and stop"},
#define X(field, option, standard, low, high, text) \
    {.name = option, .type = TMS_OPTION_COUNT, .at = AT(field), .given = AT(given.field), \
     .initial = standard, .least = low, .most = high, .value = "N", .help = text},
    COUNTS(X)
#undef X
#define X(field, option, standard, text) \
    {.name = option, .type = TMS_OPTION_SHARE, .at = AT(field), .given = AT(given.field), \
     .initial = standard, .value = "SHARE", .help = text},
    SHARES(X)
#undef X
    {.name = "fork-join", .type = TMS_OPTION_FLAG, .at = AT(fork_join),
     .given = AT(given.fork_join),
     .help = "the first thread forks the others, and joins them at the end"},
    {.name = "violation", .type = TMS_OPTION_TEXT, .at = AT(violation),
     .given = AT(given.violation), .initial = "none", .value = "WHERE",
     .help = "where one update is lost: an event number, a percentage of the events, or random; at "
             "that event or as close to it as possible. With none, the trace is serializable, "
             "however much its blocks overlap. With any, accesses follow no discipline, so it may "
             "or may not be serializable"},
    {0}};
/* clang-format on */

/* ---- from options to a shape ------------------------------------------------------------ */

/* "1500", "10k", "12.5%" and the like; false if it is none of these. */
static bool read_position(const char *text, struct tms_shape *shape)
{
    static const struct {
        const char *text;
        double factor;
        enum tms_planting planting;
    } units[] = {{"", 1, TMS_PLANT_AT},
                 {"k", 1e3, TMS_PLANT_AT},
                 {"M", 1e6, TMS_PLANT_AT},
                 {"G", 1e9, TMS_PLANT_AT},
                 {"%", TMS_MILLION / 100, TMS_PLANT_SHARE}};
    const char *unit = text + strspn(text, "0123456789.");
    char *end;
    double number = strtod(text, &end);

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && end == unit && end != text; i++) {
        double position = number * units[i].factor;
        if (strcmp(unit, units[i].text) == 0 && position <= TMS_SHAPE_EVENTS_MOST) {
            shape->planting = units[i].planting;
            shape->violation_at = (uint64_t)(position + 0.5);
            return shape->planting == TMS_PLANT_AT ? position >= 1 : position <= TMS_MILLION;
        }
    }
    return false;
}

static bool read_violation(const char *text, struct tms_shape *shape)
{
    static const struct {
        const char *text;
        enum tms_planting planting;
    } words[] = {{"none", TMS_PLANT_NONE}, {"any", TMS_PLANT_ANY}, {"random", TMS_PLANT_RANDOM}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i].text) == 0) {
            shape->planting = words[i].planting;
            return true;
        }
    }
    if (!read_position(text, shape)) {
        tms_say("--violation takes none, any, random, an event number such as 5000 or 10k, or a "
                "share such as 50%%, not \"%s\"",
                text);
        return false;
    }
    return true;
}

/* All options count when there is no preset, else only those that were given. */
static bool make_shape(const struct values *values, struct tms_shape *shape)
{
    bool all = values->preset == NULL;

    if (all) {
        tms_shape_init(shape);
    } else {
        tms_preset_shape(values->preset, values->given.events ? values->events : 0, shape);
    }
#define X(field, ...)                                                                              \
    if (all || values->given.field) {                                                              \
        shape->field = values->field;                                                              \
    }
    COUNTS(X)
#undef X
#define X(field, ...)                                                                              \
    if (all || values->given.field) {                                                              \
        shape->field = (uint32_t)(values->field * TMS_MILLION + 0.5);                              \
    }
    SHARES(X)
#undef X
    if (all || values->given.length) {
        shape->length *= TMS_MILLION; /* the shape has millionths, for the presets */
    }
    if (all || values->given.fork_join) {
        shape->fork_join = values->fork_join;
    }
    return !(all || values->given.violation) || read_violation(values->violation, shape);
}

/* ---- the work --------------------------------------------------------------------------- */

static int write_events(struct tms_gen *gen, struct tms_writer *writer,
                        struct tms_progress *progress, uint64_t total)
{
    struct tms_event *events = malloc(BATCH * sizeof(*events));
    int64_t count = events != NULL ? 0 : TMS_ERR_MEMORY;

    while (events != NULL && (count = tms_gen_next(gen, events, BATCH)) > 0) {
        int code = tms_writer_write(writer, events, (size_t)count);
        if (code != TMS_OK) {
            count = code;
            break;
        }
        tms_progress_step(progress, (uint64_t)count, progress->events, total);
    }
    free(events);
    return (int)count;
}

static int write_trace(const struct values *values, struct tms_context *context,
                       struct tms_gen *gen, uint64_t total, int descriptor)
{
    struct tms_writer_settings settings;
    struct tms_writer *writer = NULL;
    struct tms_progress progress;

    tms_writer_settings_init(&settings);
    settings.format = values->format;
    settings.descriptor = descriptor;
    int code = tms_writer_open(context, values->output, &settings, &writer);
    if (code != TMS_OK) {
        return code;
    }
    tms_progress_start(&progress, &values->common);
    code = write_events(gen, writer, &progress, total);
    tms_progress_hide(&progress);
    if (code != TMS_OK) {
        tms_writer_abandon(writer);
        return code;
    }
    return tms_writer_close(writer);
}

#define CUT_SHOWN 10

static void say_cut(struct tms_context *context, struct tms_gen *gen, uint64_t count)
{
    for (uint64_t i = 0; i < count && i < CUT_SHOWN; i++) {
        fprintf(stderr, "%s%s", i == 0 ? "; cut apart: " : ", ",
                tms_name(context, TMS_CLASS_LABEL, tms_gen_cut_label(gen, i), NULL));
    }
    if (count > CUT_SHOWN) {
        fprintf(stderr, " and %" PRIu64 " more labels", count - CUT_SHOWN);
    }
    fputc('\n', stderr);
}

static void say_what(const struct values *values, const struct tms_shape *shape,
                     struct tms_context *context, struct tms_gen *gen)
{
    const char *where = strcmp(values->output, "-") == 0 ? "standard output" : values->output;
    uint64_t violation = tms_gen_violation(gen);

    tms_say_begin();
    tms_console_name(stderr, where);
    fprintf(stderr, ": %" PRIu64 " event%s, ", shape->events, shape->events == 1 ? "" : "s");
    if (violation != 0) {
        fprintf(stderr, "first violation at event %" PRIu64, violation);
    } else {
        fputs(shape->planting == TMS_PLANT_NONE ? "serializable" : "serializable or not", stderr);
    }
    say_cut(context, gen, shape->cut);
}

static int write_file(const struct values *values, const struct tms_shape *shape,
                      struct tms_context *context, struct tms_gen *gen)
{
    struct tms_new_file file;
    int status = tms_new_file_open(&file, values->output);

    if (status != TMS_EXIT_OK) {
        return status;
    }
    int code = write_trace(values, context, gen, shape->events, file.fd);
    status = code != TMS_OK ? tms_bad_output(context, code, values->output, values->format)
                            : tms_new_file_close(&file);
    tms_new_file_abandon(&file);
    if (code == TMS_OK && status == TMS_EXIT_OK && !values->common.quiet) {
        say_what(values, shape, context, gen);
    }
    return status;
}

static int generate(const struct values *values, const struct tms_shape *shape)
{
    struct tms_context *context = tms_context_new(tms_console_complain, NULL);
    struct tms_gen *gen = NULL;

    if (context == NULL) {
        return tms_bad("out of memory");
    }
    int code = tms_gen_new(context, shape, &gen);
    int status = code == TMS_OK ? write_file(values, shape, context, gen)
                                : tms_bad_output(context, code, values->output, values->format);
    tms_gen_free(gen);
    tms_context_free(context);
    return status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    char why[TMS_SHAPE_SENTENCE];
    struct tms_shape shape;

    (void)operands;
    if (values->list_presets) {
        tms_presets_list(stdout);
        return tms_console_flush();
    }
    if (values->output == NULL) {
        return tms_bad("gen needs an output: -o FILE, or -o - with --to for standard output");
    }
    if (!make_shape(values, &shape)) {
        return TMS_EXIT_BAD;
    }
    if (!tms_shape_check(&shape, why)) {
        return tms_bad("%s", why);
    }
    return generate(values, &shape);
}

const struct tms_command tms_command_gen = {
    .name = "gen",
    .group = TMS_GROUP_TRACE,
    .summary = "generate a synthetic trace",
    .about =
        "Writes a well-formed trace with the exact number of events: random blocks, critical "
        "sections, reads and writes, either serializable or with a violation at a known event. "
        "The same options give the same bytes on every machine.",
    .options = options,
    .values_size = sizeof(struct values),
    .run = run,
};
