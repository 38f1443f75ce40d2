/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of reports, and the stream that carries them to the user's sink. */
#include "report/report.h"

#include <string.h>

#include "base/context.h"

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
    *settings = (struct tms_report_settings){.path = "-", .format = "std", .potential = true};
}

struct carrier {
    tms_sink *sink;
    void *user;
};

static ssize_t carry(void *cookie, const char *text, size_t length)
{
    const struct carrier *carrier = cookie;

    return carrier->sink(carrier->user, text, length) ? (ssize_t)length : 0;
}

int tms_report(const struct tms_analysis *analysis, const char *kind,
               const struct tms_report_settings *settings, tms_sink *sink, void *user)
{
    struct tms_context *context = tms_analysis_context(analysis);
    struct carrier carrier = {sink, user};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, kind) != 0) {
            continue;
        }
        FILE *out = fopencookie(&carrier, "w", (cookie_io_functions_t){.write = carry});
        if (out == NULL) {
            return tms_fail_memory(context);
        }
        struct tms_report_job job = {analysis, context, settings, out};
        int code = kinds[i].write(&job);
        bool written = !ferror(out);
        written = fclose(out) == 0 && written;
        if (code != TMS_OK) {
            return tms_fail_memory(context);
        }
        return written ? TMS_OK : tms_fail(context, TMS_ERR_IO, "the report could not be written");
    }
    return tms_fail(context, TMS_ERR_ARGUMENT, "there is no report of the kind \"%s\"", kind);
}
