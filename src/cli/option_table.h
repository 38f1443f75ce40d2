/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What parsing (options.c), values (option_values.c), help (help.c), completion
 * (cmd_completion.c) and manual pages (src/man) share.
 */
#ifndef TMS_CLI_OPTION_TABLE_H
#define TMS_CLI_OPTION_TABLE_H

#include "cli/options.h"

/* Room for the name of an option or of its environment variable, and for what is compared. */
#define TMS_OPTION_NAME_SIZE 40

/* The options of a command one after the other, the common ones last; NULL after the last. */
const struct tms_option *tms_option_at(const struct tms_command *command, size_t index);

static inline bool tms_option_takes_value(const struct tms_option *option)
{
    return option->type != TMS_OPTION_FLAG;
}

/* The value may be left out, and is never the next word. */
static inline bool tms_option_may_be_bare(const struct tms_option *option)
{
    return option->type == TMS_OPTION_MAYBE || option->type == TMS_OPTION_MAYBE_CHOICE;
}

/* "no-" before the name of a flag that is on: it is shown by what turns it off. Else "". */
static inline const char *tms_option_negation(const struct tms_option *option)
{
    return option->type == TMS_OPTION_FLAG && option->initial != NULL ? "no-" : "";
}

/* The environment variable of an option: "max-violations" is TMESIS_MAX_VIOLATIONS. */
void tms_option_variable(const struct tms_option *option, char *out, size_t size);

/*
 * Stores the value that `text` denotes in its field; false after saying what is accepted.
 * `shown` is how the user spelt the option, or its environment variable.
 */
bool tms_option_set(const struct tms_option *option, void *values, const char *text,
                    const char *shown);

/* The option was given without a value: false if its type needs one. */
bool tms_option_set_bare(const struct tms_option *option, void *values);

/* The words of a list, with commas between. */
void tms_write_words(FILE *out, const char *(*word)(size_t index));

#endif
