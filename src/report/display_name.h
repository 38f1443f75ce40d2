/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and paths as a person wants to read them: C++ names without what the library fills in by
 * default, shortened in the middle where they are too long, and paths relative to the working
 * directory.
 */
#ifndef TMS_REPORT_DISPLAY_NAME_H
#define TMS_REPORT_DISPLAY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes a name in at most `most` characters, 3 at least: default template arguments and inline
 * namespaces of the standard library are left out, then other template arguments, then parameters,
 * then the middle of what remains. Returns how many characters were written.
 */
size_t tms_display_name(FILE *out, const char *name, size_t most);

/*
 * Writes a path, or a location that starts with one, of `length` bytes: without the directory
 * `prefix` if it begins with that, else relative to `directory` where that is shorter (each may be
 * NULL), and without its start if it is longer than `most`. Returns how many characters.
 */
size_t tms_display_path(FILE *out, const char *path, size_t length, const char *prefix,
                        const char *directory, size_t most);

/* The last component of a path of `length` bytes; *length becomes that of it. */
const char *tms_path_base(const char *path, size_t *length);

/* Equal for labels of one function: without template arguments and suffixes of clones. */
uint64_t tms_function_key(const char *label);

#endif
