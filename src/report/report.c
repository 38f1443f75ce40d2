/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of reports, and the stream that carries them to the user's sink. */
#include "report/report.h"

#include <string.h>

#include "base/context.h"
#include "report/judged_findings.h"
#include "report/observed.h"
#include "report/sink_stream.h"
#include "report/text_layout.h"

static const struct {
    const char *name;
    int (*write)(const struct tms_report_job *job);
} kinds[] = {
    {"text", tms_report_text},
    {"table", tms_report_table},
    {"json", tms_report_json},
};

void tms_report_settings_init(struct tms_report_settings *settings)
{
    *settings = (struct tms_report_settings){
        .path = "-", .format = "std", .potential = true, .races = true};
}

/* Closes the stream of a report that ended with `code`. */
static int close_stream(struct tms_context *context, struct tms_sink_stream *stream, int code)
{
    bool written = tms_sink_stream_close(stream);

    if (code != TMS_OK) {
        return tms_fail_memory(context);
    }
    return written ? TMS_OK : tms_fail(context, TMS_ERR_IO, "the report could not be written");
}

int tms_report(const struct tms_analysis *analysis, const char *kind,
               const struct tms_report_settings *settings, tms_sink *sink, void *user)
{
    struct tms_context *context = tms_analysis_context(analysis);
    struct tms_sink_stream stream;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, kind) != 0) {
            continue;
        }
        FILE *out = tms_sink_stream_open(&stream, sink, user);
        if (out == NULL) {
            return tms_fail_memory(context);
        }
        struct tms_report_job job = {analysis, context, settings, out};
        return close_stream(context, &stream, kinds[i].write(&job));
    }
    return tms_fail(context, TMS_ERR_ARGUMENT, "there is no report of the kind \"%s\"", kind);
}

static int write_one(FILE *out, const struct tms_context *context, const struct tms_result *result,
                     size_t index, const struct tms_report_settings *settings)
{
    struct tms_page page;
    int code = tms_page_open(&page, out, context, settings);

    if (code == TMS_OK) {
        const struct tms_finding *finding = &result->findings[index];
        if (finding->judgement != NULL) {
            tms_judged_write(&page, finding, true);
        } else {
            code = tms_finding_write(&page, result, finding);
        }
        int closed = tms_page_close(&page);
        code = code == TMS_OK ? closed : code;
    }
    return code;
}

int tms_report_finding(struct tms_context *context, const struct tms_result *result, size_t index,
                       const struct tms_report_settings *settings, tms_sink *sink, void *user)
{
    struct tms_sink_stream stream;

    if (index >= result->finding_count) {
        return tms_fail(context, TMS_ERR_ARGUMENT, "the result has %zu findings, and none at %zu",
                        result->finding_count, index);
    }
    FILE *out = tms_sink_stream_open(&stream, sink, user);
    if (out == NULL) {
        return tms_fail_memory(context);
    }
    return close_stream(context, &stream, write_one(out, context, result, index, settings));
}
