/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects; see json_write.h. */
#include "report/json_write.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

bool tms_json_to_stream(void *user, const char *text, size_t length)
{
    return fwrite(text, 1, length, user) == length;
}

/* ---- members -------------------------------------------------------------------------- */

void tms_json_text(FILE *out, const char *before, const char *key, const char *text)
{
    fprintf(out, "%s\"%s\": ", before, key);
    if (text != NULL) {
        tms_json_string(text, strlen(text), tms_json_to_stream, out);
    } else {
        fputs("null", out);
    }
}

void tms_json_number(FILE *out, const char *before, const char *key, uint64_t value)
{
    fprintf(out, "%s\"%s\": %" PRIu64, before, key, value);
}

void tms_json_seconds(FILE *out, const char *before, double seconds)
{
    fprintf(out, "%s\"seconds\": %.6f", before, seconds);
}

const char *tms_json_bool(bool value)
{
    return value ? "true" : "false";
}

const char *tms_json_name(const struct tms_report_job *job, enum tms_class cls, uint32_t id)
{
    return tms_name(job->names, cls, id, NULL);
}

void tms_json_if(FILE *out, const char *key, const char *text)
{
    if (text != NULL) {
        tms_json_text(out, ", ", key, text);
    }
}

void tms_json_time(FILE *out, const char *key, double seconds)
{
    time_t whole = (time_t)seconds;
    struct tm parts;
    char text[32];

    if (seconds > 0 && gmtime_r(&whole, &parts) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts) > 0) {
        fprintf(out, ", \"%s\": \"%s.%03dZ\"", key, text, (int)((seconds - (double)whole) * 1000));
    }
}
