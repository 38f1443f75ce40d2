/* SPDX-License-Identifier: Apache-2.0 */
/* The --help texts of a command, from its tables: a short one, and one with all options. */
#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/option_table.h"

#define HELP_COLUMN 28
#define VARIABLES   "The environment variable in parentheses sets the option, too."

/* Returns the column it ends at. */
static int write_spelling(FILE *out, const struct tms_option *option)
{
    bool valued = tms_option_takes_value(option), maybe = tms_option_may_be_bare(option);
    char text[2 * TMS_OPTION_NAME_SIZE];

    snprintf(text, sizeof(text), "--%s%s%s%s%s", tms_option_negation(option), option->name,
             maybe    ? "[="
             : valued ? "="
                      : "",
             valued ? option->value : "", maybe ? "]" : "");
    if (option->letter != 0) {
        fprintf(out, "  -%c, %s", option->letter, text);
    } else {
        fprintf(out, "      %s", text);
    }
    return 6 + tms_console_width(text, strlen(text));
}

/* What the table knows besides the sentence: words, repetition, default, variable. */
static void write_facts(FILE *out, const struct tms_option *option)
{
    const char *between = " (";

    if (option->word != NULL && option->word(1) != NULL) {
        fputs(between, out);
        tms_write_words(out, option->word);
        between = "; ";
    }
    if (option->type == TMS_OPTION_ORDERED) {
        fprintf(out, "%smay be repeated", between);
        between = "; ";
    }
    if (option->initial != NULL && option->type != TMS_OPTION_FLAG) {
        fprintf(out, "%sdefault %s", between, option->initial);
        between = "; ";
    }
    if (option->environment) {
        char variable[TMS_OPTION_NAME_SIZE];
        tms_option_variable(option, variable, sizeof(variable));
        fprintf(out, "%s%s", between, variable);
        between = "; ";
    }
    if (*between == ';') {
        fputc(')', out);
    }
}

static void help_option(FILE *out, const struct tms_option *option, bool all)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    int column = write_spelling(out, option);

    if (column > HELP_COLUMN - 2) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - column, "");
    if (memory != NULL) {
        fputs(all ? option->help : option->brief, memory);
        if (all) {
            write_facts(memory, option);
        }
        fclose(memory);
        tms_console_wrap(out, HELP_COLUMN, text);
        free(text);
    }
}

/* Where the rest is. */
static void help_more(FILE *out, const struct tms_command *command)
{
    char text[128];

    snprintf(text, sizeof(text),
             "All options: tmesis %s --help=all, and the manual page tmesis-%s(1).", command->name,
             command->name);
    putc('\n', out);
    tms_console_wrap(out, 0, text);
}

void tms_options_help(const struct tms_command *command, bool all, FILE *out)
{
    const struct tms_option *option;

    all = all || command->brief == NULL;

    fprintf(out, "Usage: tmesis %s [OPTION…]%s%s\n\n", command->name,
            command->usage != NULL ? " " : "", command->usage != NULL ? command->usage : "");
    tms_console_wrap(out, 0, all ? command->about : command->brief);
    fprintf(out, "\nOptions\n");
    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        if (all || option->brief != NULL) {
            help_option(out, option, all);
        }
    }
    if (!all) {
        help_more(out, command);
        return;
    }
    fputc('\n', out);
    tms_console_wrap(out, 0,
                     command->raw ? VARIABLES
                                  : "A value is the next word or follows \"=\"; \"--\" ends the "
                                    "options. " VARIABLES);
}
