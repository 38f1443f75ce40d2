/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-written text about options; see extra_text.h. Text about an option that does not exist fails
 * the build: it would be lost without a word when an option is renamed or removed.
 */
#include "man/extra_text.h"

#include <stdlib.h>
#include <string.h>

#include "cli/option_table.h"
#include "man/option_entry.h"

/* ---- reading -------------------------------------------------------------------------- */

static bool refuse(const struct tms_extra_texts *texts, const char *sentence)
{
    fprintf(stderr, "%s:%zu: %s\n", texts->path, texts->line, sentence);
    return false;
}

static bool append(char **text, const char *more)
{
    size_t before = *text != NULL ? strlen(*text) : 0, length = strlen(more);
    char *grown = realloc(*text, before + length + 1);

    if (grown != NULL) {
        memcpy(grown + before, more, length + 1);
        *text = grown;
    }
    return grown != NULL;
}

/* "*--store* (run, check)" */
static bool add_entry(struct tms_extra_texts *texts, const char *line)
{
    size_t length = strcspn(line + 1, "*");
    const char *rest = line + 1 + length;
    const char *list = strncmp(rest, "* (", 3) == 0 ? rest + 3 : NULL;
    size_t list_length = list != NULL ? strcspn(list, ")") : 0;

    if (list == NULL ? strcmp(rest, "*\n") != 0 : strcmp(list + list_length, ")\n") != 0) {
        return refuse(texts, "an option is written *--name* or *--name* (command, command)");
    }
    struct tms_extra_text *grown =
        realloc(texts->entries, (texts->count + 1) * sizeof(*texts->entries));
    if (grown == NULL) {
        return refuse(texts, "out of memory");
    }
    texts->entries = grown;
    grown[texts->count++] = (struct tms_extra_text){
        .option = strndup(line + 1, length),
        .commands = list != NULL ? strndup(list, list_length) : NULL,
        .text = strdup(""),
        .line = texts->line,
    };
    return true;
}

static bool add_text(struct tms_extra_texts *texts, const char *line)
{
    if (texts->count == 0) {
        return refuse(texts, "the text does not say which option it is about");
    }
    struct tms_extra_text *entry = &texts->entries[texts->count - 1];
    if (texts->skipped && *entry->text != '\0' && !append(&entry->text, "\n")) {
        return refuse(texts, "out of memory");
    }
    return append(&entry->text, line) || refuse(texts, "out of memory");
}

bool tms_extra_line(struct tms_extra_texts *texts, const char *line)
{
    bool good = true;

    texts->line++;
    if (strncmp(line, "*-", 2) == 0) {
        good = add_entry(texts, line);
    } else if (*line == '\t') {
        good = add_text(texts, line);
    } else if (*line != '\n' && strncmp(line, "; ", 2) != 0) {
        good = refuse(texts, "expected *--name*, or text that begins with a tab");
    }
    texts->skipped = *line == '\n';
    return good;
}

bool tms_extra_file(struct tms_extra_texts *texts)
{
    FILE *in = fopen(texts->path, "r");
    char *line = NULL;
    size_t size = 0;
    bool good = in != NULL || refuse(texts, "can't be read");

    while (good && getline(&line, &size, in) > 0) {
        good = tms_extra_line(texts, line);
    }
    free(line);
    if (in != NULL) {
        fclose(in);
    }
    return good;
}

void tms_extra_release(struct tms_extra_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->entries[i].option);
        free(texts->entries[i].commands);
        free(texts->entries[i].text);
    }
    free(texts->entries);
}

/* ---- which option it is about --------------------------------------------------------- */

static bool is_spelled(const struct tms_option *option, const char *text)
{
    char spelling[TMS_SPELLING_SIZE];

    tms_option_spelling(option, spelling, sizeof(spelling));
    return strcmp(spelling, text) == 0;
}

static bool has_option(const struct tms_command *command, const char *text)
{
    const struct tms_option *option;

    for (size_t i = 0; (option = tms_option_at(command, i)) != NULL; i++) {
        if (is_spelled(option, text)) {
            return true;
        }
    }
    return false;
}

static bool any_has_option(const char *text)
{
    const struct tms_command *command;

    for (size_t i = 0; (command = tms_command_at(i)) != NULL; i++) {
        if (has_option(command, text)) {
            return true;
        }
    }
    return false;
}

/* The next name of a list "run, check" in `name`; false at its end. */
static bool next_name(const char **list, char *name, size_t size)
{
    *list += strspn(*list, ", ");
    size_t length = strcspn(*list, ", ");
    snprintf(name, size, "%.*s", (int)length, *list);
    *list += length;
    return length > 0;
}

static bool is_for(const struct tms_extra_text *entry, const char *command)
{
    const char *list = entry->commands;
    char name[TMS_SPELLING_SIZE];

    while (list != NULL && next_name(&list, name, sizeof(name))) {
        if (strcmp(name, command) == 0) {
            return true;
        }
    }
    return entry->commands == NULL;
}

/* `command` NULL: none has the option. */
static bool refuse_option(const struct tms_extra_texts *texts, const struct tms_extra_text *entry,
                          const char *command)
{
    bool one = command != NULL;

    fprintf(stderr, "%s:%zu: %s%s has %s option %s\n", texts->path, entry->line,
            one ? "tmesis " : "no command", one ? command : "", one ? "no" : "an", entry->option);
    return false;
}

static bool is_known(const struct tms_extra_texts *texts, const struct tms_extra_text *entry)
{
    const char *list = entry->commands;
    char name[TMS_SPELLING_SIZE];

    while (list != NULL && next_name(&list, name, sizeof(name))) {
        const struct tms_command *command = tms_command_named(name);
        if (command == NULL || !has_option(command, entry->option)) {
            return refuse_option(texts, entry, name);
        }
    }
    return any_has_option(entry->option) || refuse_option(texts, entry, NULL);
}

bool tms_extra_known(const struct tms_extra_texts *texts, const struct tms_command *command)
{
    bool good = true;

    for (size_t i = 0; i < texts->count; i++) {
        const struct tms_extra_text *entry = &texts->entries[i];
        if (command == NULL) {
            good = is_known(texts, entry) && good;
        } else if (!has_option(command, entry->option)) {
            good = refuse_option(texts, entry, command->name);
        }
    }
    return good;
}

void tms_extra_write(const struct tms_extra_texts *texts, const struct tms_command *command,
                     const struct tms_option *option, FILE *out)
{
    for (size_t i = 0; i < texts->count; i++) {
        const struct tms_extra_text *entry = &texts->entries[i];
        if (is_spelled(option, entry->option) && is_for(entry, command->name)) {
            fputs(entry->text, out);
        }
    }
}
