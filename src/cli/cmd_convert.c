/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis convert: convert a trace to another format. */
#include <string.h>
#include <sys/stat.h>

#include "cli/console.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    const char *from;
    const char *to;
    const char *compression;
    uint64_t level;
    bool lenient;
    bool accesses;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    {.name = "from",
     .type = TMS_OPTION_CHOICE,
     .at = AT(from),
     .word = tms_word_format,
     .value = "NAME",
     .help = "the format of IN; default: detected from its content"},
    {.name = "format",
     .type = TMS_OPTION_CHOICE,
     .at = AT(from),
     .word = tms_word_format,
     .environment = true,
     .value = "NAME",
     .help = "the same as --from, under the name that other commands use"},
    {.name = "to",
     .type = TMS_OPTION_CHOICE,
     .at = AT(to),
     .word = tms_word_written,
     .value = "NAME",
     .help = "the format of OUT; default: by the extension of OUT"},
    {.name = "compression",
     .type = TMS_OPTION_CHOICE,
     .at = AT(compression),
     .word = tms_word_compression,
     .value = "NAME",
     .help = "the compression of OUT; default: by its extension. Not for tms, which is always "
             "compressed"},
    {.name = "level",
     .type = TMS_OPTION_COUNT,
     .at = AT(level),
     .least = 1,
     .most = 22,
     .value = "N",
     .help = "the compression level: 1 to 9 with gz, 1 to 22 with zst and tms"},
    {.name = "lenient",
     .type = TMS_OPTION_FLAG,
     .at = AT(lenient),
     .environment = true,
     .help = "skip what can't be read, with a warning"},
    {.name = "accesses",
     .type = TMS_OPTION_FLAG,
     .at = AT(accesses),
     .initial = "yes",
     .help = "leave out reads and writes, which are most of a long trace; for perfetto only"},
    {0}};

struct job {
    const struct values *values;
    const char *from, *to;
    struct tms_progress progress;
    struct tms_context *context;
    struct tms_reader *reader;
    struct tms_new_file file;
};

static void remark(const struct job *job)
{
    struct stat status;
    uint64_t events = job->progress.events;

    if (stat(job->to, &status) == 0 && S_ISREG(status.st_mode) && events > 0) {
        tms_say("%s: %llu events from %s, %.2f bytes per event", job->to,
                (unsigned long long)events, job->from, (double)status.st_size / (double)events);
    }
}

/* The reader has already said what was lost. */
static int finish(const struct job *job)
{
    if (!job->values->common.quiet) {
        remark(job);
    }
    if (tms_reader_loss(job->reader) == NULL) {
        return TMS_EXIT_OK;
    }
    tms_say("%s has only part of the trace", job->to);
    return TMS_EXIT_INCOMPLETE;
}

static int copy(struct job *job, struct tms_writer *writer)
{
    const struct tms_event *events;
    int64_t count = 0;
    uint64_t size;
    int code = TMS_OK;

    while (code == TMS_OK && (count = tms_reader_next(job->reader, &events)) > 0) {
        code = tms_writer_write(writer, events, (size_t)count);
        uint64_t done = tms_reader_position(job->reader, &size);
        tms_progress_step(&job->progress, (uint64_t)count, done, size);
    }
    tms_progress_hide(&job->progress);
    if (count < 0 || code != TMS_OK) {
        tms_writer_abandon(writer);
    } else {
        if (tms_reader_loss(job->reader) != NULL) {
            tms_writer_lost(writer, tms_reader_loss(job->reader));
        }
        code = tms_writer_close(writer);
    }
    if (count < 0) {
        return tms_bad_input(job->context, (int)count, job->values->from);
    }
    if (code != TMS_OK) {
        return tms_bad_output(job->context, code, job->to, job->values->to);
    }
    int status = tms_new_file_close(&job->file);
    return status == TMS_EXIT_OK ? finish(job) : status;
}

static int convert(struct job *job)
{
    const struct values *values = job->values;
    struct tms_reader_settings reader_settings;
    struct tms_writer_settings settings;
    struct tms_writer *writer;

    tms_reader_settings_init(&reader_settings);
    reader_settings.format = values->from;
    reader_settings.lenient = values->lenient;
    int code = tms_reader_open(job->context, job->from, &reader_settings, &job->reader);
    if (code != TMS_OK) {
        return tms_bad_input(job->context, code, values->from);
    }
    tms_writer_settings_init(&settings);
    settings.format = values->to;
    settings.compression = values->compression;
    settings.level = (int)values->level;
    settings.no_accesses = !values->accesses;
    if (tms_new_file_open(&job->file, job->to) != TMS_EXIT_OK) {
        return TMS_EXIT_BAD;
    }
    settings.descriptor = job->file.fd;
    code = tms_writer_open(job->context, job->to, &settings, &writer);
    if (code != TMS_OK) {
        return tms_bad_output(job->context, code, job->to, values->to);
    }
    return copy(job, writer);
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    struct job job = {.values = all_values, .from = operands->text[0], .to = operands->text[1]};

    if (!tms_new_file_spares(job.to, &(struct tms_operands){operands->text, 1}, NULL)) {
        return TMS_EXIT_BAD;
    }
    tms_progress_start(&job.progress, &job.values->common);
    job.context = tms_context_new(tms_console_complain, &job.progress);
    if (job.context == NULL) {
        return tms_bad("out of memory");
    }
    int status = convert(&job);
    tms_new_file_abandon(&job.file);
    tms_reader_close(job.reader);
    tms_context_free(job.context);
    return status;
}

const struct tms_command tms_command_convert = {
    .name = "convert",
    .group = TMS_GROUP_TRACE,
    .summary = "convert a trace to another format",
    .usage = "IN OUT",
    .about =
        "Reads the trace IN and writes it to OUT, in the format given by the extension of OUT "
        "(.std, .rt, .tms, .perfetto.json, optionally followed by .gz or .zst) or by --to. \"-\" "
        "is "
        "standard input or output. An existing OUT is replaced only when the new one is complete; "
        "it can't be "
        "IN.\n\n"
        "Exit status: 0, or 2 if IN can't be read or OUT can't be written, or 3 if IN is truncated "
        "or lines were skipped, and OUT has the rest.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 2,
    .operands_most = 2,
    .run = run,
};
