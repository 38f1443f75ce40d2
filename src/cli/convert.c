/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmesis convert: a trace from one format to another.
 *
 * A regular file is written under a temporary name beside it and renamed when whole, so that
 * OUT is never half a trace that looks like a good one, and may be IN itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/options.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    const char *from;
    const char *to;
    const char *compression;
    uint64_t level;
    bool lenient;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    {.name = "from",
     .type = TMS_OPTION_CHOICE,
     .at = AT(from),
     .word = tms_word_format,
     .value = "NAME",
     .help = "the format of IN; without it the content tells"},
    {.name = "format",
     .type = TMS_OPTION_CHOICE,
     .at = AT(from),
     .word = tms_word_format,
     .environment = true,
     .value = "NAME",
     .help = "the same as --from, as the other commands call it"},
    {.name = "to",
     .type = TMS_OPTION_CHOICE,
     .at = AT(to),
     .word = tms_word_written,
     .value = "NAME",
     .help = "the format of OUT; without it the extension of OUT tells"},
    {.name = "compression",
     .type = TMS_OPTION_CHOICE,
     .at = AT(compression),
     .word = tms_word_compression,
     .value = "NAME",
     .help = "of OUT; without it the extension tells. Not for tms, which compresses by itself"},
    {.name = "level",
     .type = TMS_OPTION_COUNT,
     .at = AT(level),
     .least = 1,
     .most = 22,
     .value = "N",
     .help = "how hard to compress: 1 to 9 with gz, 1 to 22 with zst and tms"},
    {.name = "lenient",
     .type = TMS_OPTION_FLAG,
     .at = AT(lenient),
     .environment = true,
     .help = "skip what can't be read, say so, and go on"},
    {0}};

/* ---- what to write -------------------------------------------------------------------- */

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);

    return length > end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

static const char *compression_by_name(const char *path, size_t *length)
{
    static const char *const known[][2] = {{".gz", "gz"}, {".zst", "zst"}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (ends_with(path, *length, known[i][0])) {
            *length -= strlen(known[i][0]);
            return known[i][1];
        }
    }
    return "none";
}

static const struct tms_format_info *format_by_name(const char *path, size_t length)
{
    const struct tms_format_info *format;

    for (size_t i = 0; (format = tms_format_info(i)) != NULL; i++) {
        if (ends_with(path, length, format->extension)) {
            return format;
        }
    }
    return NULL;
}

/* Format and compression of OUT from options and name; false after a sentence. */
static bool choose(const struct values *values, const char *path,
                   struct tms_writer_settings *settings)
{
    size_t length = strlen(path);
    const char *compression = compression_by_name(path, &length);
    const struct tms_format_info *format = format_by_name(path, length);

    tms_writer_settings_init(settings);
    settings->compression = values->compression != NULL ? values->compression : compression;
    settings->level = (int)values->level;
    settings->format = values->to;
    if (settings->format != NULL) {
        return true;
    }
    if (strcmp(path, "-") == 0) {
        tms_say("writing to standard output needs --to with the format");
    } else if (format == NULL) {
        tms_say("%s: the extension names no format; use --to, or .std, .rt or .tms, with .gz or "
                ".zst behind if wanted",
                path);
    } else if (!format->writes) {
        tms_say("%s: %s traces can be read, not written", path, format->name);
    } else {
        settings->format = format->name;
    }
    return settings->format != NULL;
}

/* ---- where to write ------------------------------------------------------------------- */

struct target {
    char *final;     /* what the user named, behind symbolic links */
    char *temporary; /* what is written; NULL: the final one directly */
};

static bool target_choose(struct target *target, const char *path)
{
    struct stat status;
    bool exists = strcmp(path, "-") != 0 && stat(path, &status) == 0;

    target->temporary = NULL;
    target->final = exists ? realpath(path, NULL) : strdup(path);
    if (target->final == NULL) {
        return false;
    }
    if (strcmp(path, "-") == 0 || (exists && !S_ISREG(status.st_mode))) {
        return true;
    }
    return asprintf(&target->temporary, "%s.tmp~", target->final) >= 0;
}

static const char *target_path(const struct target *target)
{
    return target->temporary != NULL ? target->temporary : target->final;
}

/* Gives the file its name, or takes it away. */
static bool target_finish(struct target *target, bool good)
{
    bool done = good;

    if (target->temporary != NULL && good && rename(target->temporary, target->final) != 0) {
        tms_say("%s can't be written: %s", target->final, strerror(errno));
        done = false;
    }
    if (target->temporary != NULL && !done) {
        unlink(target->temporary);
    }
    free(target->temporary);
    free(target->final);
    return done;
}

/* ---- the work ------------------------------------------------------------------------- */

static int copy(struct tms_reader *reader, struct tms_writer *writer, struct tms_progress *progress)
{
    const struct tms_event *events;
    int64_t count;
    uint64_t size;

    while ((count = tms_reader_next(reader, &events)) > 0) {
        int code = tms_writer_write(writer, events, (size_t)count);
        if (code != TMS_OK) {
            return code;
        }
        uint64_t done = tms_reader_position(reader, &size);
        tms_progress_step(progress, (uint64_t)count, done, size);
    }
    return (int)count;
}

static int convert(struct tms_context *context, struct tms_reader *reader, const char *path,
                   const struct tms_writer_settings *settings, struct tms_progress *progress)
{
    struct tms_writer *writer = NULL;
    int code = tms_writer_open(context, path, settings, &writer);

    if (code != TMS_OK) {
        return code;
    }
    code = copy(reader, writer, progress);
    int closed = tms_writer_close(writer);
    return code != TMS_OK ? code : closed;
}

static void remark(const char *from, const char *to, uint64_t events)
{
    struct stat status;

    if (stat(to, &status) == 0 && S_ISREG(status.st_mode) && events > 0) {
        tms_say("%s: %llu events from %s, %.2f bytes an event", to, (unsigned long long)events,
                from, (double)status.st_size / (double)events);
    }
}

/* The reader is open, the way to write is chosen: write, name the file, say what was lost. */
static int write_out(const struct values *values, struct tms_context *context,
                     struct tms_reader *reader, const char *path,
                     const struct tms_writer_settings *settings, struct tms_progress *progress)
{
    struct target target;

    if (!target_choose(&target, path)) {
        int error = errno;
        target_finish(&target, false);
        return tms_bad("%s can't be written: %s", path, strerror(error));
    }
    int code = convert(context, reader, target_path(&target), settings, progress);
    tms_progress_hide(progress);
    if (code != TMS_OK) {
        tms_say("%s", tms_error(context));
    }
    if (!target_finish(&target, code == TMS_OK)) {
        return TMS_EXIT_BAD;
    }
    if (!values->common.quiet) {
        remark(tms_reader_path(reader), path, progress->events);
    }
    const char *loss = tms_reader_loss(reader);
    if (loss == NULL) {
        return TMS_EXIT_OK;
    }
    tms_say("%s holds only part of the trace: %s", path, loss);
    return TMS_EXIT_INCOMPLETE;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    const struct values *values = all_values;
    struct tms_writer_settings settings;
    struct tms_reader_settings reader_settings;
    struct tms_progress progress;
    struct tms_reader *reader = NULL;
    int status = TMS_EXIT_BAD;

    if (!choose(values, operands->text[1], &settings)) {
        return TMS_EXIT_BAD;
    }
    tms_progress_start(&progress, &values->common);
    struct tms_context *context = tms_context_new(tms_console_complain, &progress);
    if (context == NULL) {
        return tms_bad("out of memory");
    }
    tms_reader_settings_init(&reader_settings);
    reader_settings.format = values->from;
    reader_settings.lenient = values->lenient;
    if (tms_reader_open(context, operands->text[0], &reader_settings, &reader) == TMS_OK) {
        status = write_out(values, context, reader, operands->text[1], &settings, &progress);
    } else {
        tms_say("%s", tms_error(context));
    }
    tms_reader_close(reader);
    tms_context_free(context);
    return status;
}

const struct tms_command tms_command_convert = {
    .name = "convert",
    .summary = "a trace from one format to another",
    .usage = "IN OUT",
    .about =
        "Reads the trace IN and writes it to OUT, in the format that the extension of OUT "
        "names (.std, .rt, .tms, with .gz or .zst behind) or that --to says. \"-\" is standard "
        "input or output. An existing OUT is replaced only once the new one is whole.\n\n"
        "Exit status: 0, or 2 if IN can't be read or OUT not written, or 3 if IN was cut "
        "off or lines were skipped, and OUT holds the rest.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 2,
    .operands_most = 2,
    .run = run,
};
