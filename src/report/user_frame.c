/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of the user's code; see user_frame.h. */
#include "report/user_frame.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool starts_with(struct tms_stack_text text, const char *prefix)
{
    size_t length = strlen(prefix);

    return text.length >= length && memcmp(text.at, prefix, length) == 0;
}

/* ---- functions and labels --------------------------------------------------------------- */

/* The name of a function up to its template arguments, parameters or clone suffix. */
static size_t stem_length(struct tms_stack_text name)
{
    size_t length = 0;

    while (length < name.length && strchr("<(.[", name.at[length]) == NULL) {
        length++;
    }
    return length > 0 ? length : name.length;
}

/* Do both names denote the same function? */
static bool is_function(struct tms_stack_text function, const char *label)
{
    struct tms_stack_text other = {label, strlen(label)};
    size_t length = stem_length(function);

    return length > 0 && length == stem_length(other) && memcmp(function.at, label, length) == 0;
}

/* ---- which frames are skipped ----------------------------------------------------------- */

static bool is_library(const struct tms_stack_frame *frame)
{
    static const char *const files[] = {"/usr/include/", "/usr/lib/", "/usr/local/include/c++/"};
    static const char *const functions[] = {"std::", "__gnu_cxx::", "void std::", "__"};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (starts_with(frame->file, files[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (starts_with(frame->function, functions[i])) {
            return true;
        }
    }
    return frame->line.length == 0;
}

/* The word at `at`, of `length` bytes, compared without regard to case. */
static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(at, word, length) == 0;
}

static bool is_lock_word(const char *at, size_t length)
{
    static const char *const words[] = {"lock",    "unlock",   "mutex",  "mtx",    "acquire",
                                        "release", "rwlock",   "rdlock", "wrlock", "trylock",
                                        "spin",    "spinlock", "guard",  "locker"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (is_word(at, length, words[i])) {
            return true;
        }
    }
    return false;
}

/* Is a word of the name, as in nni_mtx_lock, MutexLock or ~lock_guard, one about locks? */
static bool is_lock_wrapper(struct tms_stack_text function)
{
    size_t length = stem_length(function);

    for (size_t start = 0, end; start < length; start = end) {
        end = start + 1;
        if (!isalpha((unsigned char)function.at[start])) {
            continue;
        }
        while (end < length && isalpha((unsigned char)function.at[end]) &&
               (islower((unsigned char)function.at[end]) ||
                !islower((unsigned char)function.at[end - 1]))) {
            end++;
        }
        if (is_lock_word(function.at + start, end - start)) {
            return true;
        }
    }
    return false;
}

static bool is_lock_event(const struct tms_turn *turn)
{
    return tms_event_class((enum tms_event_kind)turn->kind) == TMS_CLASS_LOCK;
}

/* ---- places ------------------------------------------------------------------------------ */

static struct tms_place place_of_frame(const struct tms_stack_frame *frame)
{
    return (struct tms_place){
        .function = frame->function,
        .file = frame->file,
        .source = frame->source,
        .line = frame->line.length > 0 ? (unsigned)strtoul(frame->line.at, NULL, 10) : 0,
    };
}

struct tms_place tms_place_of_location(const struct tms_page *page, uint32_t location)
{
    char number[TMS_NUMBER_SIZE];
    const char *name = tms_name(page->names, TMS_CLASS_LOCATION, location, number);
    const char *colon = strrchr(name, ':');

    if (location >= TMS_LOCATION_NUMBER) {
        return (struct tms_place){.line = location - TMS_LOCATION_NUMBER, .bare = true};
    }
    if (colon == NULL || colon == name || colon[1] < '1' || colon[1] > '9' ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1) || strlen(colon + 1) > 9) {
        return (struct tms_place){.file = {name, strlen(name)}};
    }
    return (struct tms_place){.file = {name, (size_t)(colon - name)},
                              .line = (unsigned)strtoul(colon + 1, NULL, 10)};
}

struct tms_place tms_place_of_event(const struct tms_page *page, const struct tms_turn *turn,
                                    uint32_t label)
{
    const char *at = tms_name(page->names, TMS_CLASS_STACK, turn->stack, NULL);
    const char *block = tms_name(page->names, TMS_CLASS_LABEL, label, NULL);
    struct tms_stack_frame frame;

    while (turn->stack != 0 && tms_stack_next(&at, &frame)) {
        bool own = is_function(frame.function, block);
        bool wrapper = is_lock_event(turn) && is_lock_wrapper(frame.function);
        if (frame.line.length > 0 && (own || (!is_library(&frame) && !wrapper))) {
            return place_of_frame(&frame);
        }
    }
    return tms_place_of_location(page, turn->location);
}

bool tms_place_in_block(const struct tms_page *page, const struct tms_turn *turn, uint32_t label,
                        struct tms_place *place)
{
    const char *at = tms_name(page->names, TMS_CLASS_STACK, turn->stack, NULL);
    const char *block = tms_name(page->names, TMS_CLASS_LABEL, label, NULL);
    struct tms_stack_frame frame;
    bool called = false;

    while (turn->stack != 0 && *block != '\0' && tms_stack_next(&at, &frame)) {
        if (is_function(frame.function, block) && frame.line.length > 0) {
            *place = place_of_frame(&frame);
            place->called = called;
            return true;
        }
        called = called || !is_library(&frame);
    }
    return false;
}

bool tms_same_file(const struct tms_place *a, const struct tms_place *b)
{
    return a->file.length == b->file.length && memcmp(a->file.at, b->file.at, a->file.length) == 0;
}
