/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts the error message of a failed program; see failure_text.h. */
#include "hunt/failure_text.h"

#include <stdbool.h>
#include <string.h>

/* Messages of glibc's assert, C++, GLib and sanitizers, at the start of or inside a line. */
static const char *const signs[] = {
    "Assertion ", "assertion failed", "terminate called", "ERROR:", "*** ", "runtime error:",
};

static bool contains(const char *line, size_t length, const char *sign)
{
    return memmem(line, length, sign, strlen(sign)) != NULL;
}

static bool is_sign(const char *line, size_t length)
{
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (contains(line, length, signs[i])) {
            return true;
        }
    }
    return false;
}

void tms_failure_text(const char *said, size_t length, char text[TMS_FAILURE_TEXT])
{
    const char *end = said + length;

    text[0] = '\0';
    for (const char *line = said; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t size = (size_t)((stop != NULL ? stop : end) - line);
        if (is_sign(line, size)) {
            size = size < TMS_FAILURE_TEXT ? size : TMS_FAILURE_TEXT - 1;
            for (size_t i = 0; i < size; i++) {
                text[i] = (unsigned char)line[i] < ' ' ? ' ' : line[i];
            }
            text[size] = '\0';
            return;
        }
        line += size + 1;
    }
}
