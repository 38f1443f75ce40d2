/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements as CSV; see check_csv.h. */
#include "cli/check_csv.h"

#include <inttypes.h>

#include "base/utf8.h"

#define EMPTY_COLUMNS ",,,,,,,,,,,,,,,,,,," /* of a bad trace, between its path and the remark */

void tms_check_csv_head(FILE *out)
{
    fputs("trace,format,events,threads,variables,locks,transactions,engine,verdict,complete,"
          "violations,first_violation_event,until_first,events_checked,runs,seconds,seconds_min,"
          "seconds_max,pass_seconds,memory_bytes,remark\r\n",
          out);
}

/* In quotation marks; malformed UTF-8 is replaced, as in JSON. */
static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text != '\0') {
        size_t size = tms_utf8_length(text);
        if (*text == '"') {
            fputs("\"\"", out);
        } else if (size > 0) {
            fwrite(text, 1, size, out);
        } else {
            fputs(TMS_UTF8_BAD, out);
        }
        text += size > 0 ? size : 1;
    }
    fputc('"', out);
}

static void put_trace(FILE *out, const struct tms_analysis *analysis,
                      const struct tms_report_settings *settings)
{
    struct tms_trace_summary summary;

    tms_analysis_summary(analysis, &summary);
    put_text(out, settings->path);
    fprintf(out, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
            settings->format, summary.events, summary.threads, summary.variables, summary.locks,
            summary.transactions);
}

/* What a single pass says of its time. */
static struct tms_timing single(const struct tms_analysis *analysis,
                                const struct tms_result *result)
{
    struct tms_trace_summary summary;

    tms_analysis_summary(analysis, &summary);
    return (struct tms_timing){.runs = 1,
                               .least = result->seconds,
                               .median = result->seconds,
                               .most = result->seconds,
                               .pass = summary.seconds,
                               .events = result->events};
}

static void put_result(FILE *out, const struct tms_result *result, const struct tms_timing *timing)
{
    fprintf(out, "%s,%s,%s,%" PRIu64 ",", result->engine->name, tms_verdict_text(result->verdict),
            result->complete ? "true" : "false", result->violations);
    if (result->first_violation_event != 0) {
        fprintf(out, "%" PRIu64, result->first_violation_event);
    }
    fprintf(out, ",%s,%" PRIu64 ",%" PRIu64 ",%.9f,%.9f,%.9f,%.9f,%" PRIu64 ",",
            timing->until_first ? "true" : "false", timing->events, timing->runs, timing->median,
            timing->least, timing->most, timing->pass, result->memory_bytes);
    put_text(out, result->loss != NULL ? result->loss : "");
    fputs("\r\n", out);
}

void tms_check_csv_rows(FILE *out, const struct tms_analysis *analysis,
                        const struct tms_report_settings *settings)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        struct tms_timing timing =
            i < settings->timing_count ? settings->timings[i] : single(analysis, result);
        put_trace(out, analysis, settings);
        put_result(out, result, &timing);
    }
}

void tms_check_csv_bad(FILE *out, const char *path, const char *message)
{
    put_text(out, path);
    fputs(EMPTY_COLUMNS ",", out);
    put_text(out, message);
    fputs("\r\n", out);
}
