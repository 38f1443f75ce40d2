/* SPDX-License-Identifier: Apache-2.0 */
/* Options as words; see option_arguments.h. */
#include "cli/option_arguments.h"

#include <stdlib.h>
#include <string.h>

static void add(struct tms_words *words, const char *name, const char *value)
{
    char *word = NULL;

    if (asprintf(&word, "--%s%s%s", name, value != NULL ? "=" : "", value != NULL ? value : "") <
        0) {
        words->failed = true;
        return;
    }
    tms_words_add(words, word);
    free(word);
}

/* ---- by type --------------------------------------------------------------------------------- */

typedef void add_option(const struct tms_option *option, const void *field,
                        struct tms_words *words);

static void add_flag(const struct tms_option *option, const void *field, struct tms_words *words)
{
    bool value = *(const bool *)field, initial = option->initial != NULL;

    if (value && !initial) {
        add(words, option->name, NULL);
    } else if (!value && initial) {
        char name[64];
        snprintf(name, sizeof(name), "no-%s", option->name);
        add(words, name, NULL);
    }
}

static void add_text(const struct tms_option *option, const void *field, struct tms_words *words)
{
    const char *text = *(const char *const *)field;

    if (text != NULL && (option->initial == NULL || strcmp(option->initial, text) != 0)) {
        add(words, option->name, text);
    }
}

static void add_number(const struct tms_option *option, const char *number, struct tms_words *words)
{
    if (strcmp(option->initial != NULL ? option->initial : "0", number) != 0) {
        add(words, option->name, number);
    }
}

static void add_count(const struct tms_option *option, const void *field, struct tms_words *words)
{
    char number[24];

    snprintf(number, sizeof(number), "%llu", (unsigned long long)*(const uint64_t *)field);
    add_number(option, number, words);
}

static void add_real(const struct tms_option *option, const void *field, struct tms_words *words)
{
    char number[40];

    snprintf(number, sizeof(number), "%.9f", *(const double *)field);
    if (*(const double *)field != 0) {
        add_number(option, number, words);
    }
}

static void add_maybe(const struct tms_option *option, const void *field, struct tms_words *words)
{
    const struct tms_maybe *maybe = field;

    if (maybe->given) {
        add(words, option->name, maybe->value);
    }
}

static void add_ordered(const struct tms_option *option, const void *field, struct tms_words *words)
{
    const struct tms_given *given = field;

    (void)option;
    for (size_t i = 0; i < given->count; i++) {
        add(words, given->values[i].option->name, given->values[i].text);
    }
}

static add_option *const adders[] = {
    [TMS_OPTION_FLAG] = add_flag,         [TMS_OPTION_TEXT] = add_text,
    [TMS_OPTION_COUNT] = add_count,       [TMS_OPTION_SHARE] = add_real,
    [TMS_OPTION_SECONDS] = add_real,      [TMS_OPTION_CHOICE] = add_text,
    [TMS_OPTION_LIST] = add_text,         [TMS_OPTION_MAYBE] = add_maybe,
    [TMS_OPTION_MAYBE_CHOICE] = add_text, [TMS_OPTION_ORDERED] = add_ordered,
};

/* ---- the table ------------------------------------------------------------------------------- */

static bool is_in(const char *name, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Has a row before this one the same field? All its values were added then. */
static bool is_shared(const struct tms_option *options, const struct tms_option *option)
{
    for (const struct tms_option *before = options; before < option; before++) {
        if (before->at == option->at) {
            return true;
        }
    }
    return false;
}

void tms_option_words(const struct tms_option *options, const void *values,
                      const char *const *except, struct tms_words *words)
{
    const char *bytes = values;

    for (const struct tms_option *option = options; option->name != NULL; option++) {
        bool unsaid = option->given != 0 && !*(const bool *)(bytes + option->given);
        if (!unsaid && !is_in(option->name, except) && !is_shared(options, option)) {
            adders[option->type](option, bytes + option->at, words);
        }
    }
}
