/* SPDX-License-Identifier: Apache-2.0 */
/* The function that a label names; see function_name.h. */
#include "base/function_name.h"

#include <stdbool.h>
#include <string.h>

/* The bytes of an operator at `at` that are no brackets of a template: "operator<<", "->". */
static size_t operator_length(const char *label, const char *at)
{
    static const char word[] = "operator";
    static const char *const signs[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>",
                                        "->",  "<=",  ">=",  "<",   ">"};
    size_t length = sizeof(word) - 1;

    if ((size_t)(at - label) < length || memcmp(at - length, word, length) != 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (strncmp(at, signs[i], strlen(signs[i])) == 0) {
            return strlen(signs[i]);
        }
    }
    return 0;
}

/* Brackets that are never closed are taken as they are. */
static const char *behind_brackets(const char *at)
{
    size_t depth = 0;

    for (const char *c = at; *c != '\0'; c++) {
        if (*c == '<') {
            depth++;
        } else if (*c == '>' && c[-1] != '-' && --depth == 0) {
            return c + 1;
        }
    }
    return at;
}

static size_t strip_templates(const char *label, char *out)
{
    size_t length = 0;

    for (const char *at = label; *at != '\0';) {
        size_t kept = operator_length(label, at);
        const char *behind = kept == 0 && *at == '<' ? behind_brackets(at) : at;
        if (behind != at) {
            at = behind;
            continue;
        }
        kept = kept == 0 ? 1 : kept;
        memcpy(out + length, at, kept);
        length += kept;
        at += kept;
    }
    return length;
}

/* "[clone .constprop.0]" at the end, or 0. */
static size_t clone_length(const char *text, size_t length)
{
    static const char start[] = "[clone ";

    if (length == 0 || text[length - 1] != ']') {
        return 0;
    }
    for (size_t at = length; at-- > 0;) {
        if (text[at] == '[') {
            return strncmp(text + at, start, sizeof(start) - 1) == 0 ? length - at : 0;
        }
    }
    return 0;
}

/* ".constprop.0", ".cold" at the end, or 0. */
static size_t suffix_length(const char *text, size_t length)
{
    static const char *const suffixes[] = {".constprop", ".isra", ".part", ".cold", ".lto_priv"};
    size_t end = length;

    while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9') {
        end--;
    }
    end = end < length && end > 0 && text[end - 1] == '.' ? end - 1 : length;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t size = strlen(suffixes[i]);
        if (end > size && memcmp(text + end - size, suffixes[i], size) == 0) {
            return length - end + size;
        }
    }
    return 0;
}

size_t tms_function_name(const char *label, char *out)
{
    size_t length = strip_templates(label, out), less;

    do {
        less = length > 0 && out[length - 1] == ' ' ? 1 : clone_length(out, length);
        less = less == 0 ? suffix_length(out, length) : less;
        length -= less;
    } while (less > 0);
    out[length] = '\0';
    return length;
}
