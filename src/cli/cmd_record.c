/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis record: runs a program and writes a trace of it, to be checked later. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/preflight.h"
#include "cli/process_result.h"
#include "cli/subprocess.h"
#include "cli/watched_run.h"
#include "spool/spool_trace.h"
#include "tmesis/tmesis.h"

struct values {
    struct tms_common common;
    struct tms_watching watching;
    const char *output;
};

#define AT(field) offsetof(struct values, field)

static const struct tms_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = TMS_OPTION_TEXT,
     .at = AT(output),
     .value = "FILE",
     .help = "where to write the trace; the extension selects the format, without one it is tms. A "
             "child process has its own file, FILE.PID.tms, and after exec FILE.PID.2.tms and so "
             "on",
     .brief = "where to write the trace"},
    TMS_WATCHING_OPTIONS(AT(watching)),
    {0}};

struct job {
    const struct values *values;
    struct tms_watched watched;
    char preload[PATH_MAX]; /* the library for a program without the runtime, or "" */
    bool bad, incomplete, blocks;
};

/* Is the extension that of a format? */
static bool is_known(const char *path)
{
    const struct tms_format_info *format;

    for (size_t i = 0; (format = tms_format_info(i)) != NULL; i++) {
        const char *at = strstr(path, format->extension);
        const char *rest = at != NULL ? at + strlen(format->extension) : "?";
        if (*rest == '\0' || strcmp(rest, ".gz") == 0 || strcmp(rest, ".zst") == 0) {
            return true;
        }
    }
    return false;
}

static int open_writer(struct tms_context *context, const char *path, int descriptor,
                       struct tms_writer **writer)
{
    struct tms_writer_settings settings;

    tms_writer_settings_init(&settings);
    settings.format = is_known(path) ? NULL : "tms";
    settings.descriptor = descriptor;
    return tms_writer_open(context, path, &settings, writer);
}

/* Is there such a format to write? The descriptor is any: nothing is written. */
static bool try_format(const char *path)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_writer *writer = NULL;
    int code =
        context != NULL ? open_writer(context, path, STDOUT_FILENO, &writer) : TMS_ERR_MEMORY;

    if (code != TMS_OK) {
        tms_say("%s", context != NULL ? tms_error(context) : "out of memory");
    } else {
        tms_writer_abandon(writer);
    }
    tms_context_free(context);
    return code == TMS_OK;
}

/* Standard output is the program's. */
static bool is_standard_output(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(path, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Before the program starts: can the trace be written, and does it replace nothing it must not? */
static bool try_output(const struct values *values, const char *program)
{
    const struct tms_operands inputs = {&program, 1};

    if (is_standard_output(values->output)) {
        tms_say(
            "-o %s would mix the trace with the program's standard output; name a file or a FIFO",
            values->output);
        return false;
    }
    return tms_new_file_spares(values->output, &inputs, &values->watching.rules) &&
           try_format(values->output) && tms_new_file_possible(values->output) == TMS_EXIT_OK;
}

/* False after a sentence if the program should not be started. */
static bool look_ahead(struct job *job, const char *program)
{
    const struct values *values = job->values;
    bool quiet = values->common.quiet;
    char path[PATH_MAX];

    if (!tms_preflight_find(program, &values->watching, "-o", values->output, path) ||
        !try_output(values, path) || !tms_preflight_preload(program, quiet, job->preload)) {
        return false;
    }
    if (!quiet) {
        tms_preflight_remark(program);
    }
    return true;
}

static int write_events(void *user, const struct tms_event *events, size_t count)
{
    return tms_writer_write(user, events, count);
}

static int write_to(struct tms_process_result *process, const char *path, int descriptor,
                    struct tms_trace_outcome *outcome)
{
    struct tms_writer *writer;
    char loss[TMS_SPOOL_REASON];
    int code = open_writer(process->context, path, descriptor, &writer);

    if (code != TMS_OK) {
        return code;
    }
    code = tms_spool_trace(&process->names, write_events, writer, outcome, NULL);
    if (code != TMS_OK) {
        tms_writer_abandon(writer);
        return code;
    }
    if (tms_spool_loss(&process->spool, loss)) {
        tms_writer_lost(writer, loss);
    }
    return tms_writer_close(writer);
}

/* False after a sentence. */
static bool write_trace(struct tms_process_result *process, const char *path,
                        struct tms_trace_outcome *outcome)
{
    struct tms_new_file file;

    if (tms_new_file_open(&file, path) != TMS_EXIT_OK) {
        return false;
    }
    int code = write_to(process, path, file.fd, outcome);
    if (code != TMS_OK) {
        tms_process_result_bad(process, code);
        tms_new_file_abandon(&file);
        return false;
    }
    return tms_new_file_close(&file) == TMS_EXIT_OK;
}

static void summarize(struct job *job, const struct tms_process_result *process, const char *path,
                      const struct tms_trace_outcome *outcome)
{
    char loss[TMS_SPOOL_REASON];
    bool lost = tms_spool_loss(&process->spool, loss);

    if (lost) {
        tms_say("%s is incomplete: %s", path, loss);
        job->incomplete = true;
    }
    if (!job->values->common.quiet) {
        tms_process_result_warn(process);
        char *quoted = tms_words_text(&path, 1);
        tms_say(
            "%s: %llu events of %llu threads, %llu atomic blocks; tmesis check %s decides", path,
            (unsigned long long)outcome->events, (unsigned long long)process->spool.header.threads,
            (unsigned long long)process->spool.header.transactions, quoted != NULL ? quoted : path);
        free(quoted);
    }
}

/* Every process has its own file, and so has each program that it executes. */
static char *output_of(const struct job *job, const struct tms_process_result *process)
{
    const struct tms_spool_header *header = &process->spool.header;
    char *path;
    int length = header->image > 1 ? asprintf(&path, "%s.%d.%u.tms", job->values->output,
                                              header->pid, header->image)
                 : process->child  ? asprintf(&path, "%s.%d.tms", job->values->output, header->pid)
                                   : asprintf(&path, "%s", job->values->output);

    return length >= 0 ? path : NULL;
}

static void take_process(struct job *job, size_t index)
{
    struct tms_trace_outcome outcome;
    struct tms_process_result process;
    char *path = NULL;

    if (!tms_process_result_open(&process, &job->watched, index)) {
        job->incomplete = true;
    } else if ((path = output_of(job, &process)) == NULL) {
        job->bad = true;
        tms_say("out of memory");
    } else {
        if (write_trace(&process, path, &outcome)) {
            summarize(job, &process, path, &outcome);
        } else {
            job->bad = true;
        }
        job->blocks = job->blocks || process.spool.header.blocks > 0;
    }
    free(path);
    tms_process_result_close(&process);
}

static int exit_status(const struct job *job)
{
    if (job->bad) {
        return TMS_EXIT_WATCH_BAD;
    }
    return job->incomplete && !job->watched.signalled ? TMS_EXIT_INCOMPLETE : job->watched.status;
}

static int run(const void *all_values, const struct tms_operands *operands)
{
    struct job job = {.values = all_values};

    if (job.values->output == NULL) {
        tms_say("record needs -o FILE; see tmesis record --help");
        return TMS_EXIT_WATCH_BAD;
    }
    if (!look_ahead(&job, operands->text[0])) {
        return TMS_EXIT_WATCH_BAD;
    }
    const struct tms_manner manner = {
        .mode = "record", .blame = true, .preload = job.preload[0] != '\0' ? job.preload : NULL};
    int status = tms_watch(&job.watched, &job.values->watching, &manner, operands);
    if (status == TMS_EXIT_OK) {
        for (size_t i = 0; i < job.watched.spool_count; i++) {
            take_process(&job, i);
        }
        if (!job.blocks && !job.incomplete) {
            tms_process_result_advise(&job.watched);
        }
        status = exit_status(&job);
    }
    tms_watched_free(&job.watched);
    return status;
}

const struct tms_command tms_command_record = {
    .name = "record",
    .group = TMS_GROUP_TRACE,
    .summary = "run a program and write a trace of it",
    .usage = "-o FILE [--] PROGRAM [ARGUMENT…]",
    .about =
        "Runs PROGRAM and writes a trace of it to FILE, for tmesis check and all its engines. "
        "Accesses that can't affect a verdict are omitted unless --full is given. If PROGRAM was "
        "not built with tmesis cc or tmesis c++, the trace has no memory accesses at all. "
        "Everything after PROGRAM is passed to it.\n\n"
        "Exit status: that of PROGRAM (128 plus the signal number after a signal), but 3 if the "
        "trace is incomplete, 125 if PROGRAM could not be run and watched.",
    .brief = "Runs PROGRAM and writes a trace of it to FILE, for tmesis check. Build PROGRAM with "
             "tmesis cc or tmesis c++; otherwise the trace has no memory accesses.\n\n"
             "Exit status: PROGRAM's; 3 trace incomplete, 125 could not be run.",
    .options = options,
    .values_size = sizeof(struct values),
    .operands_least = 1,
    .starts_program = true,
    .bad = TMS_EXIT_WATCH_BAD,
    .run = run,
};
