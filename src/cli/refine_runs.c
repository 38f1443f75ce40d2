/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded runs of a program; see refine_runs.h. */
#include "cli/refine_runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/elf_probe.h"
#include "cli/preflight.h"
#include "spool/spool_trace.h"

bool tms_program_is_there(const struct tms_operands *operands)
{
    char path[PATH_MAX];

    return operands->count > 0 && tms_binary_find(operands->text[0], path) &&
           access(path, X_OK) == 0;
}

/* ---- running -------------------------------------------------------------------------- */

static bool add_trace(struct tms_program_runs *runs, size_t run, size_t spool)
{
    const struct tms_watched *watched = &runs->watched[run];
    size_t size = (runs->trace_count + 1) * sizeof(*runs->traces);
    struct tms_program_trace *traces = realloc(runs->traces, size);
    struct tms_program_trace trace = {.run = run, .spool = spool};

    if (traces == NULL) {
        return false;
    }
    runs->traces = traces;
    int length = spool == 0 ? asprintf(&trace.title, "%s, run %zu", watched->command, run + 1)
                            : asprintf(&trace.title, "%s, run %zu, process %zu", watched->command,
                                       run + 1, spool + 1);
    if (length < 0) {
        return false;
    }
    traces[runs->trace_count++] = trace;
    return true;
}

/* The i-th run has the i-th seed from the one that was given on. */
static int run_once(struct tms_program_runs *runs, const struct tms_program_options *options,
                    const struct tms_operands *operands, const char *split)
{
    static const struct tms_manner manner = {.mode = "record", .blame = true};
    struct tms_watching watching = {.split = split, .perturb = options->perturb, .full = true};
    struct tms_watched *watched = &runs->watched[runs->count++];
    char seed[24];

    if (watching.perturb.value != NULL && runs->count > 1) {
        unsigned long long first = strtoull(watching.perturb.value, NULL, 10);
        snprintf(seed, sizeof(seed), "%llu", first + runs->count - 1);
        watching.perturb.value = seed;
    }
    if (tms_watch(watched, &watching, &manner, operands) != TMS_EXIT_OK) {
        return TMS_EXIT_BAD;
    }
    if (watched->status != 0) {
        tms_say("%s, run %zu: it ended with status %d; its events until then count",
                watched->command, runs->count, watched->status);
    }
    for (size_t i = 0; i < watched->spool_count; i++) {
        if (!add_trace(runs, runs->count - 1, i)) {
            return tms_bad("out of memory");
        }
    }
    return TMS_EXIT_OK;
}

int tms_program_run(struct tms_program_runs *runs, const struct tms_program_options *options,
                    const struct tms_operands *operands, const char *split, bool quiet)
{
    int status = TMS_EXIT_OK;

    *runs = (struct tms_program_runs){0};
    if (!tms_preflight_watchable(operands->text[0], quiet)) {
        return TMS_EXIT_BAD;
    }
    runs->watched = calloc((size_t)options->runs, sizeof(*runs->watched));
    if (runs->watched == NULL) {
        return tms_bad("out of memory");
    }
    for (uint64_t i = 0; i < options->runs && status == TMS_EXIT_OK; i++) {
        status = run_once(runs, options, operands, split);
    }
    return status;
}

void tms_program_free(struct tms_program_runs *runs)
{
    for (size_t i = 0; i < runs->trace_count; i++) {
        free(runs->traces[i].title);
    }
    free(runs->traces);
    for (size_t i = 0; i < runs->count; i++) {
        tms_watched_free(&runs->watched[i]);
    }
    free(runs->watched);
    *runs = (struct tms_program_runs){0};
}

/* ---- checking ------------------------------------------------------------------------- */

static int feed(void *user, const struct tms_event *events, size_t count)
{
    int code = tms_analysis_feed(user, events, count, NULL);

    return code < 0 ? code : TMS_OK;
}

int tms_program_check(const struct tms_program_runs *runs, size_t index,
                      const struct tms_settings *settings, struct tms_checking *checking,
                      struct tms_process_result *process)
{
    const struct tms_program_trace *trace = &runs->traces[index];
    struct tms_trace_outcome outcome;
    char loss[TMS_SPOOL_REASON];

    checking->path = trace->title;
    if (!tms_process_result_open(process, &runs->watched[trace->run], trace->spool)) {
        return TMS_ERR_IO;
    }
    checking->context = process->context;
    int code = tms_analysis_new(process->context, settings, &checking->analysis);
    if (code == TMS_OK) {
        code = tms_spool_trace(&process->names, feed, checking->analysis, &outcome, NULL);
    }
    if (code == TMS_OK) {
        tms_analysis_lost(checking->analysis, tms_spool_loss(&process->spool, loss) ? loss : NULL);
        code = tms_analysis_finish(checking->analysis);
    }
    return code;
}

void tms_program_checked(struct tms_checking *checking, struct tms_process_result *process)
{
    tms_analysis_free(checking->analysis);
    tms_process_result_close(process);
}
