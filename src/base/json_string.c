/* SPDX-License-Identifier: Apache-2.0 */
/* tms_json_string: JSON strings for reports and for traces that are written as JSON. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "tmesis/tmesis.h"

/* The code point of a well-formed character below U+10000, as all escaped characters are. */
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
