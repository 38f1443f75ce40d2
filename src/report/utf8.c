/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 for reports; see utf8.h. */
#include "report/utf8.h"

#include <stdbool.h>
#include <stdint.h>

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

/* Bytes to move on by: a malformed one stands for itself. */
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

/* C0, DEL, and C1 as UTF-8 spells it: what a terminal might obey. */
static bool is_control(const char *text)
{
    unsigned char first = (unsigned char)text[0];

    return first < 0x20 || first == 0x7f || (first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

size_t tms_utf8_write(FILE *out, const char *text, size_t most)
{
    bool cut = tms_utf8_width(text) > most;
    size_t width = 0;

    for (; *text != '\0' && width + cut < most; text += step(text)) {
        size_t length = tms_utf8_length(text);
        if (length == 0 || is_control(text)) {
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
