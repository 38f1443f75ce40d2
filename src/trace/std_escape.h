/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes of the std format. A byte that would end a name, a field or a line is written as \xHH:
 * docs/user/formats.md lists which. Only these are read as escapes, and a backslash that would
 * begin one is escaped itself. So every name without a zero byte round-trips, and nearly every text
 * with backslashes is read literally.
 */
#ifndef TMS_TRACE_STD_ESCAPE_H
#define TMS_TRACE_STD_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "tmesis/tmesis.h"

#define TMS_STD_ESCAPE_SIZE 4 /* bytes that an escaped byte takes */

/* Can the name of this class be written without escapes? */
bool tms_std_is_plain(enum tms_class cls, const char *name, size_t length);

/*
 * Writes the name with escapes. There is room for TMS_STD_ESCAPE_SIZE times its length. Returns one
 * past the last byte written.
 */
char *tms_std_escape(enum tms_class cls, const char *name, size_t length, char *to);

/* Writes the name without escapes, at most as many bytes. Returns how many. */
size_t tms_std_unescape(const char *text, size_t length, char *to);

#endif
