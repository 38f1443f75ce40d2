/* SPDX-License-Identifier: Apache-2.0 */
/* Results whose program is run again; see result_to_rerun.h. */
#include "cli/result_to_rerun.h"

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
static bool read_program(struct tms_rerun *rerun)
{
    const json_t *hunts = json_object_get(json_object_get(rerun->result, "hunt"), "hunts");
    const json_t *hunt = json_array_get(hunts, 0);
    const char *command = json_string_value(json_object_get(rerun->result, "command"));
    const char *directory = json_string_value(json_object_get(hunt, "directory"));

    add_list(&rerun->program, json_object_get(hunt, "program"));
    add_list(&rerun->options, json_object_get(hunt, "options"));
    if (rerun->program.count == 0 && command != NULL) {
        split_command(command, &rerun->program);
    }
    if (directory != NULL) {
        snprintf(rerun->working_directory, sizeof(rerun->working_directory), "%s", directory);
    }
    if (rerun->program.failed || rerun->options.failed) {
        tms_say("out of memory");
        return false;
    }
    return true;
}

/* ---- opening -------------------------------------------------------------------------- */

static bool say_unless(bool good, const char *reason)
{
    if (!good) {
        tms_say("%s", reason);
    }
    return good;
}

static void find_input(struct tms_rerun *rerun, const char *directory)
{
    int length = snprintf(rerun->input, sizeof(rerun->input), "%s/input", directory);

    if (length >= (int)sizeof(rerun->input) || access(rerun->input, R_OK) != 0) {
        rerun->input[0] = '\0';
    }
}

static bool open_directory(struct tms_rerun *rerun, const char *path, bool update)
{
    char reason[TMS_HUNT_REASON] = "out of memory";

    rerun->is_directory = true;
    find_input(rerun, path);
    if ((update && !say_unless(tms_hunt_directory_open(&rerun->directory, path, reason), reason)) ||
        !say_unless(tms_hunt_directory_load(&rerun->hunt, path, reason), reason)) {
        return false;
    }
    rerun->result = tms_hunt_json(&rerun->hunt, false);
    return say_unless(rerun->result != NULL, "out of memory");
}

bool tms_rerun_open(struct tms_rerun *rerun, const char *path, bool update)
{
    char whole[PATH_MAX];
    struct stat status;

    *rerun = (struct tms_rerun){.directory = {.runs = -1, .lock = -1}};
    if (!say_unless(tms_hunt_init(&rerun->hunt), "out of memory")) {
        return false;
    }
    if (realpath(path, whole) == NULL || stat(whole, &status) != 0) {
        tms_say("%s can't be read: %s", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(status.st_mode)) {
        return open_directory(rerun, whole, update) && read_program(rerun);
    }
    rerun->result = tms_run_json(whole);
    if (rerun->result == NULL) {
        tms_say("%s is not a result; expected the directory of a hunt, or a file written by run "
                "--json or hunt --json",
                path);
        return false;
    }
    return read_program(rerun);
}

void tms_rerun_close(struct tms_rerun *rerun)
{
    json_decref(rerun->result);
    tms_hunt_clear(&rerun->hunt);
    tms_hunt_directory_close(&rerun->directory);
    tms_words_free(&rerun->program);
    tms_words_free(&rerun->options);
}

/* ---- findings ------------------------------------------------------------------------- */

static const json_t *judged(const struct tms_rerun *rerun)
{
    const json_t *results = json_object_get(rerun->result, "results");

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

const json_t *tms_rerun_finding(const struct tms_rerun *rerun, const char *id)
{
    const json_t *list = judged(rerun);

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

int tms_rerun_no_id(const struct tms_rerun *rerun, const char *path, const char *id)
{
    const json_t *list = judged(rerun);
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

void tms_rerun_describe(const json_t *finding)
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

bool tms_rerun_program(const struct tms_rerun *rerun, const struct tms_operands *operands,
                       size_t first, struct tms_operands *program)
{
    if (operands->count > first) {
        *program = (struct tms_operands){operands->text + first, operands->count - first};
        return true;
    }
    if (rerun->program.count == 0) {
        tms_say("the result does not say which program it is about; name it after \"--\"");
        return false;
    }
    if (rerun->working_directory[0] != '\0' && chdir(rerun->working_directory) != 0) {
        tms_say("%s, where the program ran, can't be entered: %s", rerun->working_directory,
                strerror(errno));
        return false;
    }
    *program =
        (struct tms_operands){(const char *const *)rerun->program.text, rerun->program.count};
    return true;
}
