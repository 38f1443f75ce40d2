/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns on labels: `*` any text, `?` one character, `[abc]` `[a-z]` `[!a-z]` one character of a
 * set or not of it, `\` takes the next character literally. A character is one of UTF-8, or a
 * single byte where the text is not UTF-8.
 *
 * A `[` that no `]` closes is literal, because labels are full of them: Java signatures
 * ("main([Ljava/lang/String;)V") and "operator[]", where the `]` after the `[` is a member of the
 * set and closes nothing.
 */
#ifndef TMS_SPEC_GLOB_H
#define TMS_SPEC_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Does the pattern match the whole text? Cost: at most the product of the two lengths. */
bool tms_glob_matches(const char *pattern, const char *text, size_t length);

/* The error in a pattern, as the end of a sentence about it; NULL: none. */
const char *tms_glob_fault(const char *pattern, size_t length);

/*
 * The length of a label without its parameter list and what follows that: 1 for "f(int) const".
 * The whole length if it has none.
 */
size_t tms_glob_bare_length(const char *label);

/*
 * Does a rule with this pattern apply to the label? Matches with and without its parameters, and
 * always if the two are equal, even if brackets in the text would make it a different glob.
 */
bool tms_glob_names(const char *pattern, const char *label);

#endif
