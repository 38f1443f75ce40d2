/* SPDX-License-Identifier: Apache-2.0 */
/* JSON strings and members; see json_write.h. */
#include "report/json_write.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

/* ---- strings -------------------------------------------------------------------------- */

/* The number of a well-formed character below U+10000, as all that are escaped are. */
static unsigned number_of(const char *text)
{
    size_t length = tms_utf8_length(text);
    unsigned number = (unsigned char)text[0] & (length == 1 ? 0x7f : 0xff >> (length + 1));

    for (size_t i = 1; i < length; i++) {
        number = number << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return number;
}

static const char *escape(const char *text, char *buffer, size_t size)
{
    switch (*text) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    default:
        snprintf(buffer, size, "\\u%04x", number_of(text));
        return buffer;
    }
}

static bool is_plain(const char *text)
{
    return *text != '"' && *text != '\\' && tms_utf8_printable(text) != 0;
}

/* One character that must be escaped, or the replacement for a malformed byte. */
static bool put_special(const char *text, tms_sink *sink, void *user)
{
    char buffer[8];
    const char *piece = TMS_UTF8_BAD;

    if (tms_utf8_length(text) != 0) {
        piece = escape(text, buffer, sizeof(buffer));
    }
    return sink(user, piece, strlen(piece));
}

bool tms_json_string(const char *text, size_t length, tms_sink *sink, void *user)
{
    const char *end = text + length;
    bool good = sink(user, "\"", 1);

    while (good && text < end) {
        const char *start = text;
        while (text < end && is_plain(text)) {
            text += tms_utf8_length(text);
        }
        if (text > start) {
            good = sink(user, start, (size_t)(text - start));
        } else {
            size_t size = tms_utf8_length(text);
            good = put_special(text, sink, user);
            text += size != 0 ? size : 1;
        }
    }
    return good && sink(user, "\"", 1);
}

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
