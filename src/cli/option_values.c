/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of an option's value to the value, by type; see option_table.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_length.h"
#include "cli/console.h"
#include "cli/option_table.h"

/*
 * One function per type: puts `text` into the field, or says what is accepted. `shown` is how
 * the user spelt the option, or its environment variable.
 */
typedef bool set_value(const struct tms_option *option, void *field, const char *text,
                       const char *shown);

static bool set_flag(const struct tms_option *option, void *field, const char *text,
                     const char *shown)
{
    static const char *const yes[] = {"yes", "1", "true", "on"};
    static const char *const no[] = {"no", "0", "false", "off", ""};

    (void)option;
    for (size_t i = 0; i < TMS_LENGTH(yes); i++) {
        if (strcmp(text, yes[i]) == 0) {
            *(bool *)field = true;
            return true;
        }
    }
    for (size_t i = 0; i < TMS_LENGTH(no); i++) {
        if (strcmp(text, no[i]) == 0) {
            *(bool *)field = false;
            return true;
        }
    }
    tms_say("%s takes yes or no, not \"%s\"", shown, text);
    return false;
}

static bool set_text(const struct tms_option *option, void *field, const char *text,
                     const char *shown)
{
    if (*text == '\0') {
        tms_say("%s needs a value (%s), and got an empty one", shown, option->value);
        return false;
    }
    *(const char **)field = text;
    return true;
}

static bool read_count(const char *text, uint64_t *count)
{
    static const struct {
        char letter;
        uint64_t factor;
    } suffixes[] = {{'k', 1000}, {'K', 1000}, {'M', 1000000}, {'G', 1000000000}};
    const char *at = text;

    for (*count = 0; isdigit((unsigned char)*at); at++) {
        if (__builtin_mul_overflow(*count, 10, count) ||
            __builtin_add_overflow(*count, (uint64_t)(*at - '0'), count)) {
            return false;
        }
    }
    if (at == text || *at == '\0') {
        return at != text;
    }
    for (size_t i = 0; i < TMS_LENGTH(suffixes); i++) {
        if (*at == suffixes[i].letter && at[1] == '\0') {
            return !__builtin_mul_overflow(*count, suffixes[i].factor, count);
        }
    }
    return false;
}

static bool set_count(const struct tms_option *option, void *field, const char *text,
                      const char *shown)
{
    uint64_t most = option->most != 0 ? option->most : UINT64_MAX;
    uint64_t count;

    if (!read_count(text, &count)) {
        tms_say("%s takes a whole number such as 250, 10k, 3M or 2G, not \"%s\"", shown, text);
        return false;
    }
    if (count < option->least || count > most) {
        if (option->most != 0) {
            tms_say("%s takes a number from %llu to %llu, not %s", shown,
                    (unsigned long long)option->least, (unsigned long long)most, text);
        } else {
            tms_say("%s takes a number of at least %llu, not %s", shown,
                    (unsigned long long)option->least, text);
        }
        return false;
    }
    *(uint64_t *)field = count;
    return true;
}

static bool set_share(const struct tms_option *option, void *field, const char *text,
                      const char *shown)
{
    char *end;
    double share = strtod(text, &end);

    (void)option;
    if (end != text && *end == '%') {
        share /= 100;
        end++;
    }
    if (end == text || *end != '\0' || !(share >= 0 && share <= 1)) {
        tms_say("%s takes a share between 0 and 1, or 0%% and 100%%, not \"%s\"", shown, text);
        return false;
    }
    *(double *)field = share;
    return true;
}

/* More than a few years is a mistake. */
#define SECONDS_MOST 1e9

static bool set_seconds(const struct tms_option *option, void *field, const char *text,
                        const char *shown)
{
    char *end;
    double seconds = strtod(text, &end);
    bool plain = text[strspn(text, "0123456789.")] == '\0';

    (void)option;
    if (!plain || end == text || *end != '\0' || seconds > SECONDS_MOST) {
        tms_say("%s takes seconds such as 30 or 0.5, or 0 for no limit, not \"%s\"", shown, text);
        return false;
    }
    *(double *)field = seconds;
    return true;
}

static bool is_word(const struct tms_option *option, const char *text, size_t length)
{
    for (size_t i = 0; option->word(i) != NULL; i++) {
        const char *word = option->word(i);
        if (strlen(word) == length && memcmp(word, text, length) == 0) {
            return true;
        }
    }
    return false;
}

void tms_write_words(FILE *out, const char *(*word)(size_t index))
{
    for (size_t i = 0; word(i) != NULL; i++) {
        fprintf(out, "%s%s", i > 0 ? ", " : "", word(i));
    }
}

static bool not_a_word(const struct tms_option *option, const char *text, size_t length,
                       const char *shown)
{
    char copy[TMS_OPTION_NAME_SIZE + 1];

    snprintf(copy, sizeof(copy), "%.*s",
             (int)(length < TMS_OPTION_NAME_SIZE ? length : TMS_OPTION_NAME_SIZE), text);
    const char *near = tms_nearest(copy, option->word);
    tms_say_begin();
    fprintf(stderr, "%s takes %s ", shown,
            option->type == TMS_OPTION_LIST ? "one or more of"
            : option->word(1) != NULL       ? "one of"
                                            : "only");
    tms_write_words(stderr, option->word);
    fputs(", not \"", stderr);
    tms_console_name(stderr, copy);
    fputc('"', stderr);
    if (near != NULL && *copy != '\0') {
        fprintf(stderr, "; did you mean %s?", near);
    }
    fputc('\n', stderr);
    return false;
}

static bool set_choice(const struct tms_option *option, void *field, const char *text,
                       const char *shown)
{
    if (!is_word(option, text, strlen(text))) {
        return not_a_word(option, text, strlen(text), shown);
    }
    *(const char **)field = text;
    return true;
}

/* "all" is right, "all,frontier" is not. */
static bool stands_alone(const struct tms_option *option, const char *text, const char *at,
                         size_t length)
{
    bool alone = option->alone != NULL && strlen(option->alone) == length &&
                 memcmp(option->alone, at, length) == 0;

    return !alone || strlen(text) == length;
}

static bool set_list(const struct tms_option *option, void *field, const char *text,
                     const char *shown)
{
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (!is_word(option, at, length)) {
            return not_a_word(option, at, length, shown);
        }
        if (!stands_alone(option, text, at, length)) {
            tms_say("%s takes %s by itself, not together with other words as in \"%s\"", shown,
                    option->alone, text);
            return false;
        }
        at += length;
        if (*at == '\0') {
            break;
        }
    }
    *(const char **)field = text;
    return true;
}

unsigned tms_option_bits(const char *list, const struct tms_option_bit *bits)
{
    unsigned sum = 0;

    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        for (size_t i = 0; bits[i].word != NULL; i++) {
            if (strlen(bits[i].word) == length && memcmp(bits[i].word, list, length) == 0) {
                sum |= bits[i].bit;
            }
        }
        list += length + (list[length] == ',');
    }
    return sum;
}

static bool set_maybe(const struct tms_option *option, void *field, const char *text,
                      const char *shown)
{
    struct tms_maybe *maybe = field;

    maybe->given = true;
    return set_text(option, &maybe->value, text, shown);
}

static bool set_ordered(const struct tms_option *option, void *field, const char *text,
                        const char *shown)
{
    struct tms_given *given = field;
    struct tms_given_value value = {.option = option};

    if (!set_text(option, &value.text, text, shown)) {
        return false;
    }
    struct tms_given_value *values = realloc(given->values, (given->count + 1) * sizeof(value));
    if (values == NULL) {
        tms_say("out of memory");
        return false;
    }
    given->values = values;
    given->values[given->count++] = value;
    return true;
}

static set_value *const setters[] = {
    [TMS_OPTION_FLAG] = set_flag,           [TMS_OPTION_TEXT] = set_text,
    [TMS_OPTION_COUNT] = set_count,         [TMS_OPTION_SHARE] = set_share,
    [TMS_OPTION_SECONDS] = set_seconds,     [TMS_OPTION_CHOICE] = set_choice,
    [TMS_OPTION_LIST] = set_list,           [TMS_OPTION_MAYBE] = set_maybe,
    [TMS_OPTION_MAYBE_CHOICE] = set_choice, [TMS_OPTION_ORDERED] = set_ordered,
};

bool tms_option_set(const struct tms_option *option, void *values, const char *text,
                    const char *shown)
{
    return setters[option->type](option, (char *)values + option->at, text, shown);
}

bool tms_option_set_bare(const struct tms_option *option, void *values)
{
    void *field = (char *)values + option->at;

    switch (option->type) {
    case TMS_OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case TMS_OPTION_MAYBE:
        *(struct tms_maybe *)field = (struct tms_maybe){.given = true};
        return true;
    case TMS_OPTION_MAYBE_CHOICE:
        *(const char **)field = option->bare;
        return true;
    default:
        return false;
    }
}
