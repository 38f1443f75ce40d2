/* SPDX-License-Identifier: Apache-2.0 */
/* Results whose program is run again; see hunt_source.h. */
#include "cli/hunt_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/console.h"
#include "hunt/merged_json.h"
#include "hunt/run_json.h"

#define IDS_MOST 10 /* listed in the message that a finding is unknown */

/* ---- the program ---------------------------------------------------------------------- */

/* Reads a word that ends at a blank, quoted as by tms_words_write. Returns its end. */
static const char *read_word(const char *at, char *word)
{
    size_t length = 0;
    bool quoted = false;

    for (; *at != '\0' && (quoted || *at != ' '); at++) {
        if (*at == '\'') {
            quoted = !quoted;
        } else if (*at == '\\' && !quoted && at[1] != '\0') {
            word[length++] = *++at;
        } else {
            word[length++] = *at;
        }
    }
    word[length] = '\0';
    return at;
}

/* The words of `command`, as `run --json` wrote it. */
static void split_command(const char *command, struct tms_words *words)
{
    char *word = malloc(strlen(command) + 1);

    for (const char *at = command; word != NULL && *at != '\0';) {
        at = read_word(at, word);
        tms_words_add(words, word);
        at += *at == ' ';
    }
    words->failed = words->failed || word == NULL;
    free(word);
}

static void add_list(struct tms_words *words, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        if (word != NULL) {
            tms_words_add(words, word);
        }
    }
}

/* A hunt has its words and options, a run its command line. */
static bool read_program(struct tms_hunt_source *source)
{
    const json_t *hunts = json_object_get(json_object_get(source->result, "hunt"), "hunts");
    const json_t *hunt = json_array_get(hunts, 0);
    const char *command = json_string_value(json_object_get(source->result, "command"));
    const char *directory = json_string_value(json_object_get(hunt, "directory"));

    add_list(&source->program, json_object_get(hunt, "program"));
    add_list(&source->options, json_object_get(hunt, "options"));
    if (source->program.count == 0 && command != NULL) {
        split_command(command, &source->program);
    }
    if (directory != NULL) {
        snprintf(source->directory, sizeof(source->directory), "%s", directory);
    }
    if (source->program.failed || source->options.failed) {
        tms_say("out of memory");
        return false;
    }
    return true;
}

/* ---- opening -------------------------------------------------------------------------- */

static bool say(bool good, const char *reason)
{
    if (!good) {
        tms_say("%s", reason);
    }
    return good;
}

static void find_input(struct tms_hunt_source *source, const char *directory)
{
    int length = snprintf(source->input, sizeof(source->input), "%s/input", directory);

    if (length >= (int)sizeof(source->input) || access(source->input, R_OK) != 0) {
        source->input[0] = '\0';
    }
}

static bool open_directory(struct tms_hunt_source *source, const char *path, bool update)
{
    char reason[TMS_STORE_REASON] = "out of memory";

    source->stored = true;
    find_input(source, path);
    if ((update && !say(tms_hunt_directory_open(&source->store, path, reason), reason)) ||
        !say(tms_hunt_directory_load(&source->hunt, path, reason), reason)) {
        return false;
    }
    source->result = tms_hunt_json(&source->hunt, false);
    return say(source->result != NULL, "out of memory");
}

bool tms_hunt_source_open(struct tms_hunt_source *source, const char *path, bool update)
{
    char whole[PATH_MAX];
    struct stat status;

    *source = (struct tms_hunt_source){.store = {.runs = -1, .lock = -1}};
    if (!say(tms_hunt_init(&source->hunt), "out of memory")) {
        return false;
    }
    if (realpath(path, whole) == NULL || stat(whole, &status) != 0) {
        tms_say("%s can't be read: %s", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(status.st_mode)) {
        return open_directory(source, whole, update) && read_program(source);
    }
    source->result = tms_run_json(whole);
    if (source->result == NULL) {
        tms_say("%s is not a result; expected the directory of a hunt, or a file written by run "
                "--json or hunt --json",
                path);
        return false;
    }
    return read_program(source);
}

void tms_hunt_source_close(struct tms_hunt_source *source)
{
    json_decref(source->result);
    tms_hunt_clear(&source->hunt);
    tms_hunt_directory_close(&source->store);
    tms_words_free(&source->program);
    tms_words_free(&source->options);
}

/* ---- findings ------------------------------------------------------------------------- */

static const json_t *judged(const struct tms_hunt_source *source)
{
    const json_t *results = json_object_get(source->result, "results");

    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i);
        const char *engine = json_string_value(json_object_get(result, "engine"));
        if (engine != NULL && strcmp(engine, "judge") == 0) {
            return json_object_get(result, "violations");
        }
    }
    return NULL;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

const json_t *tms_hunt_source_finding(const struct tms_hunt_source *source, const char *id)
{
    const json_t *list = judged(source);

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *finding = json_array_get(list, i);
        if (strcmp(text_of(finding, "id"), id) == 0) {
            return finding;
        }
    }
    return NULL;
}

bool tms_is_finding_id(const char *word)
{
    return strncmp(word, "AV-", 3) == 0 && word[3] != '\0' &&
           word[3 + strspn(word + 3, "0123456789abcdef")] == '\0';
}

int tms_hunt_source_no_id(const struct tms_hunt_source *source, const char *path, const char *id)
{
    const json_t *list = judged(source);
    size_t count = json_array_size(list);
    char ids[IDS_MOST * 40] = "";

    for (size_t i = 0; i < count && i < IDS_MOST; i++) {
        size_t length = strlen(ids);
        snprintf(ids + length, sizeof(ids) - length, "%s%.36s", i > 0 ? ", " : "",
                 text_of(json_array_get(list, i), "id"));
    }
    if (count == 0) {
        return tms_bad("%s has no judged findings", path);
    }
    return tms_bad("%s has no judged finding %s; it has %s%s", path, id, ids,
                   count > IDS_MOST ? " and more" : "");
}

void tms_hunt_source_describe(const json_t *finding)
{
    const char *variable = text_of(json_object_get(finding, "variable"), "name");

    tms_console_name(stdout, text_of(finding, "id"));
    fputs("  ", stdout);
    tms_console_name(stdout, text_of(json_object_get(finding, "block"), "label"));
    if (*variable != '\0') {
        fputs(", ", stdout);
        tms_console_name(stdout, variable);
    }
    fputs(": ", stdout);
}

/* ---- running -------------------------------------------------------------------------- */

bool tms_hunt_source_program(const struct tms_hunt_source *source,
                             const struct tms_operands *operands, size_t first,
                             struct tms_operands *program)
{
    if (operands->count > first) {
        *program = (struct tms_operands){operands->text + first, operands->count - first};
        return true;
    }
    if (source->program.count == 0) {
        tms_say("the result does not say which program it is about; name it after \"--\"");
        return false;
    }
    if (source->directory[0] != '\0' && chdir(source->directory) != 0) {
        tms_say("%s, where the program ran, can't be entered: %s", source->directory,
                strerror(errno));
        return false;
    }
    *program =
        (struct tms_operands){(const char *const *)source->program.text, source->program.count};
    return true;
}
