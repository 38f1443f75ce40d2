/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and paths are untrusted bytes; reports and messages are UTF-8. Invalid UTF-8 is shown as
 * U+FFFD, and control characters never reach a terminal.
 */
#ifndef TMS_BASE_UTF8_H
#define TMS_BASE_UTF8_H

#include <stddef.h>
#include <stdio.h>

#define TMS_UTF8_BAD "\xef\xbf\xbd"

/* Bytes of the character at `text`, which ends with a zero byte: 1 to 4, or 0 if malformed. */
size_t tms_utf8_length(const char *text);

/* The same, but also 0 for a control character, which must not reach a terminal. */
size_t tms_utf8_printable(const char *text);

/* Replaces, in place, each character that is not printable by "?". */
void tms_utf8_clean(char *text);

/* Characters, not bytes; a malformed byte counts as the one it is shown as. */
size_t tms_utf8_width(const char *text);

/*
 * Writes at most `most` characters for a person: malformed bytes and control characters
 * replaced, an ellipsis as the last one if something was left out. Returns how many.
 */
size_t tms_utf8_write(FILE *out, const char *text, size_t most);

#endif
