/* SPDX-License-Identifier: Apache-2.0 */
/* The function that a label names, the same for all instances of a template and all clones. */
#ifndef TMS_BASE_FUNCTION_NAME_H
#define TMS_BASE_FUNCTION_NAME_H

#include <stddef.h>

/*
 * Writes the label without template arguments, clone suffixes and blanks at the end (docs/judge.md,
 * "Objects and ids") to `out`, which has room for strlen(label) + 1 bytes. Returns its length.
 */
size_t tms_function_name(const char *label, char *out);

#endif
