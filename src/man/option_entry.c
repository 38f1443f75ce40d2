/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of an option list. Literal text is bold, placeholders are italic: the names of values
 * and operands, and, in the sentence of --help, a value that is explained ("auto: on a terminal").
 * Other words are left plain, because a value can't be distinguished from an English word.
 */
#include "man/option_entry.h"

#include <ctype.h>
#include <string.h>

#include "cli/option_table.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGIT "0123456789"
#define WORD  LOWER UPPER DIGIT "-"

struct entry {
    FILE *out;
    const struct tms_command *command;
    const struct tms_option *option;
    const char *extra;
};

static void write_plain(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        fprintf(out, "%s%c", strchr("_*\\", text[i]) != NULL ? "\\" : "", text[i]);
    }
}

/* `mark` is '*' for bold or '_' for italic. */
static void write_marked(FILE *out, char mark, const char *text, size_t length)
{
    putc(mark, out);
    write_plain(out, text, length);
    putc(mark, out);
}

/* Does `text` have this word, not as a part of another? */
static bool has_word(const char *text, const char *word, size_t length)
{
    const char *at = text;

    while (text != NULL && (at = memmem(at, strlen(at), word, length)) != NULL) {
        bool starts = at == text || strchr(WORD, at[-1]) == NULL;
        if (starts && (at[length] == '\0' || strchr(WORD, at[length]) == NULL)) {
            return true;
        }
        at += length;
    }
    return false;
}

/* ---- the spelling --------------------------------------------------------------------- */

void tms_option_spelling(const struct tms_option *option, char *out, size_t size)
{
    snprintf(out, size, "--%s%s", tms_option_negation(option), option->name);
}

/* "FILE|ID" are placeholders, "on|off" is literal. */
static void write_value(FILE *out, const char *value)
{
    while (*value != '\0') {
        size_t name = strspn(value, UPPER), literal = strspn(value, LOWER);
        if (name + literal > 0) {
            write_marked(out, name > 0 ? '_' : '*', value, name + literal);
            value += name + literal;
        } else {
            write_plain(out, value++, 1);
        }
    }
}

static void write_spelling(const struct entry *entry)
{
    const struct tms_option *option = entry->option;
    bool maybe = tms_option_may_be_bare(option);
    char text[TMS_SPELLING_SIZE];

    if (option->letter != 0) {
        fprintf(entry->out, "*-%c*, ", option->letter);
    }
    tms_option_spelling(option, text, sizeof(text));
    fprintf(entry->out, "*%s*", text);
    if (tms_option_takes_value(option)) {
        fputs(maybe ? "[=" : "=", entry->out);
        write_value(entry->out, option->value);
        fputs(maybe ? "]" : "", entry->out);
    }
    putc('\n', entry->out);
}

/* ---- the sentence of --help ----------------------------------------------------------- */

/* "--fail-on=note,observed" without a comma that follows it. */
static size_t option_length(const char *text)
{
    size_t length = strncmp(text, "--", 2) == 0 ? 2 + strspn(text + 2, LOWER "-") : 0;

    if (length > 2 && text[length] == '=') {
        length += 1 + strspn(text + length + 1, LOWER DIGIT ",");
        length -= text[length - 1] == ',';
    }
    return length > 2 ? length : 0;
}

/* "FILE", if the option or an operand of the command has a value of this name. */
static size_t name_length(const struct entry *entry, const char *text)
{
    size_t length = strspn(text, UPPER);
    bool ends = length > 0 && !isalnum((unsigned char)text[length]) && text[length] != '_';

    return ends && (has_word(entry->option->value, text, length) ||
                    has_word(entry->command->usage, text, length))
               ? length
               : 0;
}

/* "auto" in "auto: on a terminal" and in "auto (on a terminal)". */
static size_t explained_length(const struct entry *entry, const char *text)
{
    const char *(*word)(size_t index) = entry->option->word;
    size_t length = strspn(text, WORD);

    if (text[length] != ':' && strncmp(text + length, " (", 2) != 0) {
        return 0;
    }
    for (size_t i = 0; word != NULL && word(i) != NULL; i++) {
        if (strlen(word(i)) == length && strncmp(word(i), text, length) == 0) {
            return length;
        }
    }
    return 0;
}

/* "tmesis run", "tmesis history import". */
static size_t command_length(const char *text)
{
    size_t first = strncmp(text, "tmesis ", 7) == 0 ? 7 : 0;
    size_t length = first > 0 ? strspn(text + first, LOWER "+") : 0;
    char name[TMS_SPELLING_SIZE];

    snprintf(name, sizeof(name), "%.*s", (int)length, text + first);
    const struct tms_command *command = tms_command_named(name);
    if (command == NULL) {
        return 0;
    }
    const char *rest = text + first + length;
    size_t action = *rest == ' ' ? strspn(rest + 1, LOWER) : 0;
    bool belongs = action > 0 && has_word(command->usage, rest + 1, action);
    return first + length + (belongs ? 1 + action : 0);
}

/* Writes a word, or what is between two, and returns its length; `first`: of the sentence. */
static size_t write_piece(const struct entry *entry, const char *text, bool first)
{
    size_t bold = option_length(text), italic = name_length(entry, text);

    bold = bold > 0 ? bold : command_length(text);
    italic = italic > 0 ? italic : explained_length(entry, text);
    if (bold + italic > 0) {
        write_marked(entry->out, bold > 0 ? '*' : '_', text, bold + italic);
        return bold + italic;
    }
    size_t length = strspn(text, WORD);
    length = length > 0 ? length : 1;
    char letter = first ? (char)toupper((unsigned char)*text) : *text;
    write_plain(entry->out, &letter, 1);
    write_plain(entry->out, text + 1, length - 1);
    return length;
}

static void write_sentence(const struct entry *entry)
{
    const char *text = entry->option->help;
    size_t length = strlen(text);

    putc('\t', entry->out);
    for (size_t at = 0; at < length;) {
        at += write_piece(entry, text + at, at == 0);
    }
    fputs(text[length - 1] == '.' ? "\n" : ".\n", entry->out);
}

/* ---- what else the row says ----------------------------------------------------------- */

/* Do spelling and text name every word that the option takes? */
static bool names_words(const struct entry *entry)
{
    const struct tms_option *option = entry->option;

    for (size_t i = 0; option->word(i) != NULL; i++) {
        const char *word = option->word(i);
        if (!has_word(option->value, word, strlen(word)) &&
            !has_word(option->help, word, strlen(word)) &&
            !has_word(entry->extra, word, strlen(word))) {
            return false;
        }
    }
    return true;
}

/* The words but the one that does not go with others: "_a_, _b_ and _c_". */
static void write_words(const struct entry *entry, const char *last)
{
    const struct tms_option *option = entry->option;
    const char *alone = option->alone != NULL ? option->alone : "";
    size_t count = 0, written = 0;

    for (size_t i = 0; option->word(i) != NULL; i++) {
        count += strcmp(option->word(i), alone) != 0;
    }
    for (size_t i = 0; option->word(i) != NULL; i++) {
        if (strcmp(option->word(i), alone) != 0) {
            fputs(written == 0 ? "" : written + 1 < count ? ", " : last, entry->out);
            write_marked(entry->out, '_', option->word(i), strlen(option->word(i)));
            written++;
        }
    }
}

static void write_choice(const struct entry *entry)
{
    const struct tms_option *option = entry->option;
    bool list = option->type == TMS_OPTION_LIST;

    if (option->word == NULL || names_words(entry)) {
        return;
    }
    fputs(list ? "\tSome of " : "\tOne of ", entry->out);
    write_words(entry, list ? " and " : " or ");
    if (option->alone != NULL) {
        fprintf(entry->out, ", or _%s_ by itself", option->alone);
    }
    fputs(".\n", entry->out);
}

static void write_facts(const struct entry *entry)
{
    const struct tms_option *option = entry->option;

    if (option->type == TMS_OPTION_ORDERED) {
        fputs("\tMay be repeated.\n", entry->out);
    }
    if (option->initial != NULL && tms_option_takes_value(option)) {
        fputs("\tDefault: ", entry->out);
        write_marked(entry->out, '*', option->initial, strlen(option->initial));
        fputs(".\n", entry->out);
    }
    if (option->environment) {
        char variable[TMS_OPTION_NAME_SIZE];
        tms_option_variable(option, variable, sizeof(variable));
        fputs("\tEnvironment: ", entry->out);
        write_marked(entry->out, '*', variable, strlen(variable));
        fputs(*tms_option_negation(option) != '\0' ? "=no.\n" : ".\n", entry->out);
    }
}

void tms_option_entry(FILE *out, const struct tms_command *command, const struct tms_option *option,
                      const char *extra)
{
    const struct entry entry = {out, command, option, extra};

    write_spelling(&entry);
    write_sentence(&entry);
    write_choice(&entry);
    fputs(extra, out);
    write_facts(&entry);
    putc('\n', out);
}
