/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a trace or program; see part_outcome.h. */
#include "report/part_outcome.h"

#include <inttypes.h>
#include <string.h>

#define STILL_RUNS "the program was still running"

/* ---- a trace that could not be read --------------------------------------------------------- */

static bool is_unread(const struct tms_export_part *part)
{
    return part->settings->unread != NULL;
}

static void write_unread(const struct tms_export_part *part, FILE *out)
{
    fprintf(out, "The trace could not be read: %s.", part->settings->unread);
}

/* ---- how the program ended ------------------------------------------------------------------ */

void tms_signal_write(FILE *out, int number)
{
    const char *name = sigabbrev_np(number);

    if (name != NULL) {
        fprintf(out, "SIG%s", name);
    } else {
        fprintf(out, "signal %d", number);
    }
}

static bool has_failed(const struct tms_export_part *part)
{
    const struct tms_report_settings *settings = part->settings;

    return settings->failed_runs > 0 ||
           (settings->ended && (settings->exit_signal != 0 || settings->exit_status != 0));
}

static void write_runs(const struct tms_report_settings *settings, FILE *out)
{
    fprintf(out, "failed in %" PRIu64 " of %" PRIu64 " run%s", settings->failed_runs,
            settings->runs, settings->runs == 1 ? "" : "s");
    if (settings->failures != NULL) {
        fprintf(out, " (%s)", settings->failures);
    }
}

void tms_part_outcome_write(const struct tms_export_part *part, FILE *out)
{
    const struct tms_report_settings *settings = part->settings;

    if (settings->runs > 0) {
        write_runs(settings, out);
    } else if (settings->ended && settings->exit_signal != 0) {
        fputs("ended by ", out);
        tms_signal_write(out, settings->exit_signal);
    } else if (settings->ended) {
        fprintf(out, "ended with status %d", settings->exit_status);
    }
}

static void write_failure(const struct tms_export_part *part, FILE *out)
{
    const struct tms_report_settings *settings = part->settings;
    bool killed = settings->runs == 0 && settings->exit_signal != 0;

    fputs(killed ? "The program was " : "The program ", out);
    tms_part_outcome_write(part, out);
    fputc('.', out);
}

/* ---- what was not checked ------------------------------------------------------------------- */

/* Does the engine say what happened in the run itself? */
static bool is_about_run(const struct tms_result *result)
{
    return result->engine->found == TMS_VERDICT_VIOLATION ||
           result->engine->found == TMS_VERDICT_AFFECTED;
}

const char *tms_part_loss(const struct tms_export_part *part)
{
    const char *loss = tms_analysis_loss(part->analysis);
    const struct tms_result *result;

    for (size_t i = 0; loss == NULL && (result = tms_analysis_result(part->analysis, i)) != NULL;
         i++) {
        loss = is_about_run(result) ? result->loss : NULL;
    }
    return loss == NULL && part->settings->partial ? STILL_RUNS : loss;
}

static bool is_incomplete(const struct tms_export_part *part)
{
    return tms_part_loss(part) != NULL;
}

static void write_loss(const struct tms_export_part *part, FILE *out)
{
    struct tms_trace_summary summary;

    tms_analysis_summary(part->analysis, &summary);
    fprintf(out, "Incomplete: %s. %s", tms_part_loss(part),
            summary.transactions == 0
                ? "Nothing was checked, so this says nothing about the program."
                : "What was not seen may contain violations.");
}

/* ---- all of it ------------------------------------------------------------------------------ */

static const struct tms_part_trouble troubles[] = {
    {"trace", "not-read", is_unread, write_unread},
    {"program", "program-failed", has_failed, write_failure},
    {"complete result", "incomplete", is_incomplete, write_loss},
};

const struct tms_part_trouble *tms_part_trouble(size_t index)
{
    return index < sizeof(troubles) / sizeof(troubles[0]) ? &troubles[index] : NULL;
}

size_t tms_part_troubles(const struct tms_export_part *part)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
        count += troubles[i].is_there(part);
    }
    return count;
}
