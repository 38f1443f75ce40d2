/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables: where values come from, and what was meant by a wrong word; see options.h. */
#include "cli/options.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_length.h"
#include "cli/console.h"
#include "cli/option_table.h"
#include "tmesis/tmesis.h"

#define COMMON(field) offsetof(struct tms_common, field)

/* Prefix of the options of a raw command, to distinguish them from the other program's. */
#define RAW_PREFIX "tmesis-"

/* ---- words ---------------------------------------------------------------------------- */

static const char *word_help(size_t index)
{
    return index == 0 ? "all" : NULL;
}

static const char *word_color(size_t index)
{
    static const char *const words[] = {"auto", "always", "never"};

    return index < TMS_LENGTH(words) ? words[index] : NULL;
}

const char *tms_word_compression(size_t index)
{
    static const char *const words[] = {"none", "gz", "zst"};

    return index < TMS_LENGTH(words) ? words[index] : NULL;
}

const char *tms_word_format(size_t index)
{
    for (size_t i = 0; tms_format_info(i) != NULL; i++) {
        if (tms_format_info(i)->reads && index-- == 0) {
            return tms_format_info(i)->name;
        }
    }
    return NULL;
}

const char *tms_word_written(size_t index)
{
    for (size_t i = 0; tms_format_info(i) != NULL; i++) {
        if (tms_format_info(i)->writes && index-- == 0) {
            return tms_format_info(i)->name;
        }
    }
    return NULL;
}

/* ---- the tables of a command ---------------------------------------------------------- */

static const struct tms_option common_options[] = {
    {.name = "quiet",
     .letter = 'q',
     .type = TMS_OPTION_FLAG,
     .at = COMMON(quiet),
     .environment = true,
     .help = "print only what was asked for: no progress, no remarks",
     .brief = "print only what was asked for"},
    {.name = "color",
     .type = TMS_OPTION_MAYBE_CHOICE,
     .at = COMMON(color),
     .initial = "auto",
     .bare = "always",
     .word = word_color,
     .environment = true,
     .value = "WHEN",
     .help = "use colours in text; auto: on a terminal, unless NO_COLOR is set"},
    {.name = "progress",
     .type = TMS_OPTION_FLAG,
     .at = COMMON(progress),
     .initial = "yes",
     .environment = true,
     .help = "show no progress line; there is one only on a terminal"},
    {.name = "help",
     .letter = 'h',
     .type = TMS_OPTION_MAYBE_CHOICE,
     .at = COMMON(help),
     .bare = "brief",
     .word = word_help,
     .value = "all",
     .help = "print the options and stop; all: every option",
     .brief = "print this text; all: every option"},
};

const struct tms_option *tms_option_at(const struct tms_command *command, size_t index)
{
    size_t own = 0;

    while (command->options != NULL && command->options[own].name != NULL) {
        if (own == index) {
            return &command->options[own];
        }
        own++;
    }
    if (command->raw) {
        return NULL;
    }
    return index - own < TMS_LENGTH(common_options) ? &common_options[index - own] : NULL;
}

static const struct tms_option *find_long(const struct tms_command *command, const char *name,
                                          size_t length)
{
    const struct tms_option *option;

    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

/* ---- what was meant? ------------------------------------------------------------------ */

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* How many letters must be put in, taken out or changed. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[TMS_OPTION_NAME_SIZE + 1];
    size_t a_length = strlen(a), b_length = strlen(b);

    if (a_length > TMS_OPTION_NAME_SIZE || b_length > TMS_OPTION_NAME_SIZE) {
        return UINT_MAX;
    }
    for (unsigned j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned above = row[j];
            row[j] = least_of(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[b_length];
}

struct match {
    const char *text;
    const char *best;
    unsigned distance;
};

static void match_consider(struct match *match, const char *word)
{
    size_t length = strlen(match->text);
    bool starts = length >= 2 && strncmp(match->text, word, length) == 0;
    unsigned away = starts ? 1 : distance(match->text, word);

    if (away <= 1 + strlen(word) / 4 && (match->best == NULL || away < match->distance)) {
        match->best = word;
        match->distance = away;
    }
}

const char *tms_nearest(const char *text, const char *(*word)(size_t index))
{
    struct match match = {.text = text};

    for (size_t i = 0; word(i) != NULL; i++) {
        match_consider(&match, word(i));
    }
    return match.best;
}

/* --no-color means --color=never: the word of an option that says no, or NULL. */
static const char *word_for_no(const struct tms_option *option)
{
    for (size_t i = 0; option->word != NULL && option->word(i) != NULL; i++) {
        if (strcmp(option->word(i), "never") == 0 || strcmp(option->word(i), "none") == 0) {
            return option->word(i);
        }
    }
    return NULL;
}

/* The option that was most likely meant; a negated name can only be that of a flag. */
static const char *nearest_option(const struct tms_command *command, const char *name, bool negated)
{
    struct match match = {.text = name};
    const struct tms_option *option;

    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        if (!negated || option->type == TMS_OPTION_FLAG) {
            match_consider(&match, option->name);
        }
    }
    return match.best;
}

static bool unknown_option(const struct tms_command *command, const char *name)
{
    bool negated = strncmp(name, "no-", 3) == 0;
    const char *plain = negated ? name + 3 : name;
    const struct tms_option *option = find_long(command, plain, strlen(plain));
    const char *no = negated && option != NULL ? word_for_no(option) : NULL;

    if (no != NULL) {
        tms_say("%s has no option --%s; did you mean --%s=%s?", command->name, name, option->name,
                no);
        return false;
    }
    const char *near = nearest_option(command, plain, negated);
    if (near == NULL && negated) {
        negated = false;
        near = nearest_option(command, name, false);
    }
    if (near != NULL) {
        tms_say("%s has no option --%s; did you mean --%s%s?", command->name, name,
                negated ? "no-" : "", near);
    } else {
        tms_say("%s has no option --%s; see tmesis %s --help", command->name, name, command->name);
    }
    return false;
}

/* ---- defaults and environment --------------------------------------------------------- */

void tms_option_variable(const struct tms_option *option, char *out, size_t size)
{
    bool prefixed = strncmp(option->name, RAW_PREFIX, strlen(RAW_PREFIX)) == 0;

    assert(strlen("TMESIS_") + strlen(option->name) < size);
    snprintf(out, size, "%s%s", prefixed ? "" : "TMESIS_", option->name);
    for (char *at = out; *at != '\0'; at++) {
        *at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
    }
}

/* The user gave it, on the command line or in the environment. */
static void set_given(const struct tms_option *option, void *values)
{
    if (option->given != 0) {
        *(bool *)((char *)values + option->given) = true;
    }
}

static bool set_defaults(const struct tms_command *command, void *values)
{
    const struct tms_option *option;

    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        char variable[TMS_OPTION_NAME_SIZE];
        if (option->initial != NULL &&
            !tms_option_set(option, values, option->initial, option->name)) {
            assert(!"an option's own default is wrong");
        }
        if (!option->environment) {
            continue;
        }
        tms_option_variable(option, variable, sizeof(variable));
        const char *text = getenv(variable);
        if (text == NULL || *text == '\0') {
            continue;
        }
        if (!tms_option_set(option, values, text, variable)) {
            return false;
        }
        set_given(option, values);
    }
    return true;
}

void tms_options_release(const struct tms_command *command, void *values)
{
    const struct tms_option *option;

    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        if (option->type == TMS_OPTION_ORDERED) {
            struct tms_given *given = (struct tms_given *)((char *)values + option->at);
            free(given->values);
            *given = (struct tms_given){0};
        }
    }
}

/* ---- the command line ----------------------------------------------------------------- */

struct parse {
    const struct tms_command *command;
    char *const *words;
    int count, at; /* words[at] is the next one */
    void *values;
    const char *taker; /* the option that took the word before `at` for its value, or NULL */
};

static const struct tms_option *find_letter(const struct tms_command *command, char letter)
{
    const struct tms_option *option;

    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        if (option->letter != 0 && option->letter == letter) {
            return option;
        }
    }
    return NULL;
}

static bool refuse_value(const char *attached, const char *shown)
{
    tms_say("%s takes no value, but was given \"%s\"", shown, attached);
    return false;
}

/* The value is `attached`, or else the next word. */
static bool take_value(struct parse *parse, const struct tms_option *option, const char *attached,
                       const char *shown)
{
    set_given(option, parse->values);
    if (attached == NULL && tms_option_set_bare(option, parse->values)) {
        return true;
    }
    if (attached == NULL && parse->at >= parse->count) {
        tms_say("%s needs a value: %s; see tmesis %s --help", shown, option->value,
                parse->command->name);
        return false;
    }
    if (attached != NULL && option->type == TMS_OPTION_FLAG) {
        return refuse_value(attached, shown);
    }
    if (attached == NULL) {
        attached = parse->words[parse->at++];
        parse->taker = option->name;
    }
    return tms_option_set(option, parse->values, attached, shown);
}

/* --no-name, for a flag. */
static bool take_no(struct parse *parse, const struct tms_option *option, const char *attached,
                    const char *shown)
{
    if (attached != NULL) {
        return refuse_value(attached, shown);
    }
    set_given(option, parse->values);
    return tms_option_set(option, parse->values, "no", shown);
}

static bool parse_long(struct parse *parse, const char *name)
{
    char shown[TMS_OPTION_NAME_SIZE + 3];
    size_t length = strcspn(name, "=");
    const char *attached = name[length] == '=' ? name + length + 1 : NULL;
    const struct tms_option *option = find_long(parse->command, name, length);

    snprintf(shown, sizeof(shown), "--%.*s",
             (int)(length < TMS_OPTION_NAME_SIZE ? length : TMS_OPTION_NAME_SIZE), name);
    if (option != NULL) {
        return take_value(parse, option, attached, shown);
    }
    if (length > 3 && strncmp(name, "no-", 3) == 0) {
        option = find_long(parse->command, name + 3, length - 3);
        if (option != NULL && option->type == TMS_OPTION_FLAG) {
            return take_no(parse, option, attached, shown);
        }
    }
    return unknown_option(parse->command, shown + 2);
}

/* -q, -o FILE, -oFILE; flags may be combined. */
static bool parse_letters(struct parse *parse, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        char shown[] = {'-', *letters, '\0'};
        const struct tms_option *option = find_letter(parse->command, *letters);
        if (option == NULL) {
            tms_say("%s has no option %s; see tmesis %s --help", parse->command->name, shown,
                    parse->command->name);
            return false;
        }
        if (option->type != TMS_OPTION_FLAG) {
            return take_value(parse, option, letters[1] != '\0' ? letters + 1 : NULL, shown);
        }
        set_given(option, parse->values);
        tms_option_set_bare(option, parse->values);
    }
    return true;
}

static bool is_operand(const struct tms_command *command, const char *word)
{
    if (command->raw) {
        return strncmp(word, "--" RAW_PREFIX, strlen("--" RAW_PREFIX)) != 0;
    }
    return word[0] != '-' || word[1] == '\0';
}

static bool check_operands(const struct parse *parse, size_t count)
{
    const struct tms_command *command = parse->command;

    if (command->starts_program && count == 0 && parse->taker != NULL) {
        const char *word = parse->words[parse->at - 1];
        tms_say("%s needs %s, and --%s took %s for its value; see tmesis %s --help", command->name,
                command->usage, parse->taker, word, command->name);
    } else if (command->usage == NULL && count > 0) {
        tms_say("%s takes no operands; see tmesis %s --help", command->name, command->name);
    } else if (count < command->operands_least) {
        tms_say("%s needs %s; see tmesis %s --help", command->name, command->usage, command->name);
    } else if (command->operands_most != 0 && count > command->operands_most) {
        tms_say("%s takes only %s, but %zu words were given; see tmesis %s --help", command->name,
                command->usage, count, command->name);
    } else {
        return true;
    }
    return false;
}

bool tms_options_parse(const struct tms_command *command, int count, char *const *words,
                       void *values, const char **operands, size_t *operand_count)
{
    struct parse parse = {.command = command, .words = words, .count = count, .values = values};
    bool options = true, good = set_defaults(command, values);

    *operand_count = 0;
    while (good && parse.at < count) {
        const char *word = words[parse.at++];
        parse.taker = NULL;
        if (!options || is_operand(command, word)) {
            operands[(*operand_count)++] = word;
            options = options && !command->starts_program;
        } else if (word[1] != '-') {
            good = parse_letters(&parse, word + 1);
        } else if (word[2] != '\0') {
            good = parse_long(&parse, word + 2);
        } else {
            options = false;
            ((struct tms_common *)values)->dashes = *operand_count == 0;
        }
    }
    return good &&
           (((struct tms_common *)values)->help != NULL || check_operands(&parse, *operand_count));
}
