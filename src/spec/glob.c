/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Glob matching of labels; see glob.h. On a mismatch only the last `*` takes one more character: an
 * earlier one could match nothing that the last cannot, so there is no backtracking search.
 */
#include "spec/glob.h"

#include <stdint.h>
#include <string.h>

/*
 * The next character, its UTF-8 bytes as one number, which preserves the order of characters. Both
 * pattern and text end with a zero byte, which is no continuation.
 */
static uint32_t take(const char **at)
{
    unsigned char lead = (unsigned char)*(*at)++;
    int more = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    uint32_t character = lead;

    for (int i = 0; i < more; i++) {
        unsigned char byte = (unsigned char)(*at)[i];
        if ((byte & 0xc0) != 0x80) {
            return lead;
        }
        character = character << 8 | byte;
    }
    *at += more;
    return character;
}

static uint32_t take_escaped(const char **at)
{
    if ((*at)[0] == '\\' && (*at)[1] != '\0') {
        (*at)++;
    }
    return take(at);
}

static bool negates(const char *set)
{
    return *set == '!' || *set == '^';
}

/* The `]` that closes the set whose first byte after the `[` is at `set`; NULL: none does. */
static const char *set_end(const char *set)
{
    set += negates(set);
    set += *set == ']';
    while (*set != '\0' && *set != ']') {
        take_escaped(&set);
    }
    return *set == ']' ? set : NULL;
}

static bool in_set(const char *set, const char *end, uint32_t character)
{
    bool negated = negates(set);
    bool found = false;

    set += negated;
    while (set < end) {
        uint32_t low = take_escaped(&set), high = low;
        if (*set == '-' && set + 1 < end) {
            set++;
            high = take_escaped(&set);
        }
        found = found || (low <= character && character <= high);
    }
    return found != negated;
}

/*
 * Does the first element of the pattern, which is no `*`, allow this character? Advances past it.
 */
static bool allows(const char **pattern, uint32_t character)
{
    if (**pattern == '?') {
        (*pattern)++;
        return true;
    }
    const char *end = **pattern == '[' ? set_end(*pattern + 1) : NULL;
    if (end != NULL) {
        const char *set = *pattern + 1;
        *pattern = end + 1;
        return in_set(set, end, character);
    }
    return take_escaped(pattern) == character;
}

bool tms_glob_matches(const char *pattern, const char *text, size_t length)
{
    const char *end = text + length;
    const char *after_star = NULL; /* in the pattern */
    const char *star_took = NULL;  /* in the text: the end of what it matches */

    while (text < end) {
        if (*pattern == '*') {
            after_star = ++pattern;
            star_took = text;
            continue;
        }
        uint32_t character = take(&text);
        if (*pattern != '\0' && allows(&pattern, character)) {
            continue;
        }
        if (after_star == NULL) {
            return false;
        }
        take(&star_took);
        text = star_took;
        pattern = after_star;
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

const char *tms_glob_fault(const char *pattern, size_t length)
{
    size_t backslashes = 0;

    while (backslashes < length && pattern[length - 1 - backslashes] == '\\') {
        backslashes++;
    }
    if (backslashes % 2 == 1) {
        return "ends with a single backslash; write \\\\ for a backslash itself";
    }
    return length == 0 ? "is empty; * matches every label" : NULL;
}

/* ---- parameter lists -------------------------------------------------------------------- */

/* The "(" that goes with the ")" at `close`; NULL: there is none. */
static const char *opening(const char *label, const char *close)
{
    size_t depth = 0;

    for (const char *at = close;; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (depth == 0) {
            return at;
        }
        if (at == label) {
            return NULL;
        }
    }
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t wanted = strlen(end);

    return length >= wanted && memcmp(text + length - wanted, end, wanted) == 0;
}

/*
 * The parameter list is the last pair of round brackets, unless the text after them shows that they
 * are part of a name: "(anonymous namespace)::f", "f()::{lambda(int)#1}", "g<(Kind)1>",
 * "operator()".
 */
size_t tms_glob_bare_length(const char *label)
{
    size_t whole = strlen(label);
    const char *close = strrchr(label, ')');

    if (close == NULL || strstr(close, "::") != NULL || strpbrk(close, "}>(") != NULL) {
        return whole;
    }
    const char *open = opening(label, close);
    if (open == NULL || open == label) {
        return whole;
    }
    size_t bare = (size_t)(open - label);
    if (close == open + 1 && ends_with(label, bare, "operator")) {
        return whole;
    }
    while (bare > 0 && label[bare - 1] == ' ') {
        bare--;
    }
    return bare > 0 ? bare : whole;
}

bool tms_glob_names(const char *pattern, const char *label)
{
    size_t length = strlen(pattern);
    size_t whole = strlen(label), bare = tms_glob_bare_length(label);

    if ((length == whole || length == bare) && memcmp(pattern, label, length) == 0) {
        return true;
    }
    return tms_glob_matches(pattern, label, whole) ||
           (bare != whole && tms_glob_matches(pattern, label, bare));
}
