/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 for people to read; see utf8.h. */
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tmesis/tmesis.h"

/* X(first byte from, to, second byte from, to, length): the well-formed sequences of Unicode. */
#define SEQUENCES(X)                                                                               \
    X(0x00, 0x7f, 0x00, 0x00, 1)                                                                   \
    X(0xc2, 0xdf, 0x80, 0xbf, 2)                                                                   \
    X(0xe0, 0xe0, 0xa0, 0xbf, 3)                                                                   \
    X(0xe1, 0xec, 0x80, 0xbf, 3)                                                                   \
    X(0xed, 0xed, 0x80, 0x9f, 3) /* no surrogates */                                               \
    X(0xee, 0xef, 0x80, 0xbf, 3)                                                                   \
    X(0xf0, 0xf0, 0x90, 0xbf, 4)                                                                   \
    X(0xf1, 0xf3, 0x80, 0xbf, 4)                                                                   \
    X(0xf4, 0xf4, 0x80, 0x8f, 4)

struct sequence {
    uint8_t first[2], second[2], length;
};

static bool fits(const struct sequence *sequence, const unsigned char *bytes)
{
    if (bytes[0] < sequence->first[0] || bytes[0] > sequence->first[1]) {
        return false;
    }
    if (sequence->length == 1) {
        return true;
    }
    if (bytes[1] < sequence->second[0] || bytes[1] > sequence->second[1]) {
        return false;
    }
    for (size_t i = 2; i < sequence->length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return false;
        }
    }
    return true;
}

size_t tms_utf8_length(const char *text)
{
    static const struct sequence sequences[] = {
#define X(a, b, c, d, length) {{a, b}, {c, d}, length},
        SEQUENCES(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
        if (fits(&sequences[i], (const unsigned char *)text)) {
            return sequences[i].length;
        }
    }
    return 0;
}

/* Bytes to move on by: a malformed byte counts as one character. */
static size_t step(const char *text)
{
    size_t length = tms_utf8_length(text);

    return length != 0 ? length : 1;
}

size_t tms_utf8_width(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text += step(text)) {
        width++;
    }
    return width;
}

/* X(first, last), in UTF-8: characters that a terminal might interpret. */
#define CONTROLS(X)                                                                                \
    X("\x01", "\x1f")                 /* C0 */                                                     \
    X("\x7f", "\x7f")                 /* DEL */                                                    \
    X("\xc2\x80", "\xc2\x9f")         /* C1 */                                                     \
    X("\xe2\x80\xa8", "\xe2\x80\xae") /* line and paragraph separators, changes of direction */    \
    X("\xe2\x81\xa6", "\xe2\x81\xa9") /* isolates of direction */

/* Bytes of UTF-8 are in the order of the characters. */
static bool is_control(const char *text, size_t length)
{
#define X(first, last)                                                                             \
    if (length == sizeof(first) - 1 && memcmp(text, first, length) >= 0 &&                         \
        memcmp(text, last, length) <= 0) {                                                         \
        return true;                                                                               \
    }
    CONTROLS(X)
#undef X
    return *text == '\0';
}

size_t tms_utf8_printable(const char *text)
{
    size_t length = tms_utf8_length(text);

    return length != 0 && !is_control(text, length) ? length : 0;
}

bool tms_printable_string(const char *text, size_t length, tms_sink *sink, void *user)
{
    const char *end = text + length;
    bool good = true;

    while (good && text < end) {
        const char *start = text;
        size_t size;
        while (text < end && (size = tms_utf8_printable(text)) != 0) {
            text += size;
        }
        if (text > start) {
            good = sink(user, start, (size_t)(text - start));
        } else {
            good = sink(user, TMS_UTF8_BAD, strlen(TMS_UTF8_BAD));
            text += step(text);
        }
    }
    return good;
}

void tms_utf8_clean(char *text)
{
    char *to = text;

    for (size_t size; *text != '\0'; text += size) {
        size = step(text);
        if (tms_utf8_printable(text) == 0) {
            *to++ = '?';
        } else {
            memmove(to, text, size);
            to += size;
        }
    }
    *to = '\0';
}

size_t tms_utf8_write(FILE *out, const char *text, size_t most)
{
    bool cut = tms_utf8_width(text) > most;
    size_t width = 0;

    for (; *text != '\0' && width + cut < most; text += step(text)) {
        size_t length = tms_utf8_printable(text);
        if (length == 0) {
            fputs(TMS_UTF8_BAD, out);
        } else {
            fwrite(text, 1, length, out);
        }
        width++;
    }
    if (cut && most > 0) {
        fputs("…", out);
        width++;
    }
    return width;
}
