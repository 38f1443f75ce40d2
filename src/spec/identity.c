/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts objects and functions from names; see identity.h. */
#include "spec/identity.h"

#include <ctype.h>
#include <string.h>
#include <xxhash.h>

/* "@05.": the number of an object in a log of RoadRunner. Its length, 0: there is none. */
static size_t number_length(const char *name)
{
    size_t length = 1;

    if (name[0] != '@') {
        return 0;
    }
    while (isxdigit((unsigned char)name[length])) {
        length++;
    }
    return length > 1 && name[length] == '.' ? length + 1 : 0;
}

/* How deep in brackets a name is after one more character; "->" closes nothing. */
static size_t nested(const char *name, size_t at, size_t depth)
{
    bool opens = name[at] == '<' || name[at] == '(';
    bool closes = (name[at] == '>' && (at == 0 || name[at - 1] != '-')) || name[at] == ')';

    return opens ? depth + 1 : depth - (closes && depth > 0);
}

static bool ends_object(const char *name, size_t at)
{
    return at > 0 && name[at] != '\0' &&
           (strchr(".[+#@", name[at]) != NULL || (name[at] == '-' && name[at + 1] == '>'));
}

static size_t object_length(const char *name)
{
    size_t depth = 0, at;

    if (strncmp(name, "heap:", 5) == 0) {
        return strcspn(name, "#");
    }
    for (at = 0; name[at] != '\0'; at++) {
        if (depth == 0 && ends_object(name, at)) {
            break;
        }
        depth = nested(name, at, depth);
    }
    return at;
}

size_t tms_object_text(const char *name, char *text)
{
    size_t number = number_length(name);
    size_t length = number != 0 ? strlen(name + number) : object_length(name);

    memcpy(text, name + number, length);
    text[length] = '\0';
    return length;
}

/* Elements, offsets and numbers are left out: "[3]", "#2", "@1". */
size_t tms_member_text(const char *name, char *text)
{
    size_t length = tms_object_text(name, text);
    const char *at = name + number_length(name) + length;

    while (*at != '\0') {
        if (*at == '[') {
            at += strcspn(at, "]");
            at += *at == ']';
        } else if (*at == '#' || *at == '@') {
            at += 1 + strspn(at + 1, "0123456789");
        } else {
            text[length++] = *at++;
        }
    }
    text[length] = '\0';
    return length;
}

/* ---- functions ------------------------------------------------------------------------ */

/* Is it "operator<" and the like that ends here? Then brackets are part of the name. */
static bool is_operator(const char *text, size_t length)
{
    static const char word[] = "operator";
    size_t most = sizeof(word) - 1;

    while (length > 0 && strchr("<>=-(", text[length - 1]) != NULL) {
        length--;
    }
    return length >= most && memcmp(text + length - most, word, most) == 0 &&
           (length == most || !isalnum((unsigned char)text[length - most - 1]));
}

/* Template arguments are left out. */
static size_t without_arguments(const char *label, char *text)
{
    size_t depth = 0, length = 0;

    for (size_t at = 0; label[at] != '\0'; at++) {
        bool plain = depth == 0 && is_operator(text, length);
        if (label[at] == '<' && !plain) {
            depth++;
        } else if (label[at] == '>' && !plain && depth > 0) {
            depth -= label[at - 1] != '-';
        } else if (depth == 0) {
            text[length++] = label[at];
        }
    }
    text[length] = '\0';
    return length;
}

static bool ends_with(const char *text, size_t length, const char *suffix)
{
    size_t size = strlen(suffix);

    return length >= size && memcmp(text + length - size, suffix, size) == 0;
}

/* The length without a blank or one suffix of a clone at the end: ".cold", ".part.0" and so on. */
static size_t without_suffix(const char *text, size_t length)
{
    static const char *const numbered[] = {".constprop.", ".isra.",     ".part.",
                                           ".cold.",      ".lto_priv.", NULL};
    size_t bare = length;

    if (ends_with(text, length, " ") || ends_with(text, length, ".cold")) {
        return length - (text[length - 1] == ' ' ? 1 : strlen(".cold"));
    }
    while (bare > 0 && isdigit((unsigned char)text[bare - 1])) {
        bare--;
    }
    for (size_t i = 0; bare < length && numbered[i] != NULL; i++) {
        if (ends_with(text, bare, numbered[i])) {
            return bare - strlen(numbered[i]);
        }
    }
    return length;
}

/* Demanglers write " [clone .part.0]", also several times. */
static size_t clone_length(const char *text, size_t length)
{
    const char *clone = ends_with(text, length, "]") ? strstr(text, "[clone ") : NULL;
    size_t shorter = clone != NULL ? (size_t)(clone - text) : length;

    do {
        length = shorter;
        shorter = without_suffix(text, length);
    } while (shorter < length);
    return length;
}

size_t tms_function_text(const char *label, char *text)
{
    size_t length = without_arguments(label, text);

    length = clone_length(text, length);
    text[length] = '\0';
    return length;
}

bool tms_is_data(const char *name)
{
    return strncmp(name, "semaphore:", 10) != 0 && strncmp(name, "once:", 5) != 0;
}

bool tms_is_main(const char *label)
{
    size_t length = strcspn(label, "(");
    size_t start = length;

    while (start > 0 && strchr("./:", label[start - 1]) == NULL) {
        start--;
    }
    return length - start == 4 && memcmp(label + start, "main", 4) == 0;
}

uint64_t tms_judged_hash(const char *function, const char *object, const char *other)
{
    XXH3_state_t *state = XXH3_createState();
    bool swapped = other != NULL && strcmp(other, object) < 0;
    const char *first = swapped ? other : object, *second = swapped ? object : other;
    uint64_t hash = 0;

    if (state != NULL) {
        XXH3_64bits_reset(state);
        XXH3_64bits_update(state, function, strlen(function) + 1);
        XXH3_64bits_update(state, first, strlen(first));
        if (second != NULL && strcmp(first, second) != 0) {
            XXH3_64bits_update(state, "", 1);
            XXH3_64bits_update(state, second, strlen(second));
        }
        hash = XXH3_64bits_digest(state);
        XXH3_freeState(state);
    }
    return hash;
}
