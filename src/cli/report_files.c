/* SPDX-License-Identifier: Apache-2.0 */
/* Documents; see report_files.h. */
#include "cli/report_files.h"

#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/output_file.h"

/* ---- options ------------------------------------------------------------------------------ */

const char *tms_word_export(size_t index)
{
    const struct tms_export_format *format = tms_export_format(index);

    return format != NULL ? format->name : NULL;
}

static void say_formats(const char *text)
{
    char list[256] = "";
    const char *word;

    for (size_t i = 0, used = 0; (word = tms_word_export(i)) != NULL && used < sizeof(list); i++) {
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "", word);
    }
    tms_say("--report takes FORMAT:FILE, such as sarif:tmesis.sarif, not \"%s\"; formats are %s",
            text, list);
}

/* The format that "sarif:out.sarif" begins with; NULL after a sentence. */
static const char *format_of(const char *text)
{
    const char *colon = strchr(text, ':'), *word;
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;

    for (size_t i = 0; (word = tms_word_export(i)) != NULL; i++) {
        if (strlen(word) == length && memcmp(word, text, length) == 0) {
            if (colon[1] == '\0') {
                tms_say("--report=%s names no file; write --report=%sFILE", text, text);
                return NULL;
            }
            return word;
        }
    }
    say_formats(text);
    return NULL;
}

static const char *path_of(const char *text)
{
    return strchr(text, ':') + 1;
}

static bool is_apart(const char *path, const char *other)
{
    if (other == NULL || !tms_new_file_twice(path, other)) {
        return true;
    }
    tms_say("%s is written twice; give each report a file of its own", path);
    return false;
}

bool tms_report_files_good(const struct tms_given *reports, const struct tms_operands *inputs,
                           const struct tms_given *rules, const char *other)
{
    bool good = true;

    for (size_t i = 0; i < reports->count && good; i++) {
        good = format_of(reports->values[i].text) != NULL;
    }
    for (size_t i = 0; i < reports->count && good; i++) {
        const char *path = path_of(reports->values[i].text);
        good = tms_new_file_spares(path, inputs, rules) && is_apart(path, other);
        for (size_t j = 0; j < i && good; j++) {
            good = is_apart(path, path_of(reports->values[j].text));
        }
        good = good && tms_new_file_possible(path) == TMS_EXIT_OK;
    }
    return good;
}

/* ---- one document ------------------------------------------------------------------------- */

/* The parts of a document, with what they point to. */
struct parts {
    struct tms_export_part *list;
    struct tms_analysis **analyses;
    struct tms_report_settings *settings;
    size_t count;
};

static bool make_room(struct parts *parts, const struct tms_saved *saved, size_t count)
{
    size_t objects = 1;

    for (size_t i = 0; i < count; i++) {
        objects += saved[i].object_count;
    }
    parts->list = calloc(objects, sizeof(*parts->list));
    parts->analyses = calloc(objects, sizeof(struct tms_analysis *));
    parts->settings = calloc(objects, sizeof(*parts->settings));
    return parts->list != NULL && parts->analyses != NULL && parts->settings != NULL;
}

static int collect_parts(struct parts *parts, struct tms_saved *saved,
                         const struct tms_report_settings *settings)
{
    int code = TMS_OK;

    for (size_t i = 0; i < saved->object_count && code == TMS_OK; i++) {
        if (tms_saved_is_shown(saved, i)) {
            size_t at = parts->count;
            parts->settings[at] = *settings;
            tms_saved_settings(&saved->objects[i], &parts->settings[at]);
            code = tms_saved_restore(saved, i, &parts->analyses[at]);
            parts->list[at] = (struct tms_export_part){parts->analyses[at], &parts->settings[at]};
            parts->count += code == TMS_OK;
        }
    }
    return code;
}

static void free_parts(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        tms_analysis_free(parts->analyses[i]);
    }
    free(parts->list);
    free(parts->analyses);
    free(parts->settings);
}

int tms_report_file(struct tms_saved *saved, size_t count, const char *format, const char *path,
                    const struct tms_report_settings *settings)
{
    struct tms_new_file file = {0};
    struct parts parts = {0};
    int status = tms_new_file_open_text(&file, path);

    if (status != TMS_EXIT_OK) {
        return status;
    }
    int code = make_room(&parts, saved, count) ? TMS_OK : TMS_ERR_MEMORY;
    for (size_t i = 0; i < count && code == TMS_OK; i++) {
        code = collect_parts(&parts, &saved[i], settings);
    }
    if (code == TMS_OK) {
        code = tms_export(format, parts.list, parts.count, tms_console_sink, file.stream.out);
    }
    free_parts(&parts);
    if (code != TMS_OK && code != TMS_ERR_IO) {
        tms_new_file_abandon(&file);
        return tms_bad("%s", tms_strerror(code));
    }
    return tms_new_file_close(&file); /* finds what could not be written */
}

/* ---- all of them -------------------------------------------------------------------------- */

int tms_report_files_open(struct tms_report_files *files, const struct tms_given *reports,
                          const struct tms_storing *storing)
{
    bool stores = storing != NULL && storing->store.given;
    bool wanted = reports->count > 0 || stores;

    *files = (struct tms_report_files){.reports = reports, .storing = stores ? storing : NULL};
    if (wanted) {
        files->json = open_memstream(&files->text, &files->size);
    }
    return wanted && files->json == NULL ? tms_bad("out of memory") : TMS_EXIT_OK;
}

int tms_report_files_add(struct tms_report_files *files, const struct tms_analysis *analysis,
                         const struct tms_report_settings *settings)
{
    if (files == NULL || files->json == NULL) {
        return TMS_OK;
    }
    int code = tms_report(analysis, "json", settings, tms_console_sink, files->json);
    files->results++;
    files->broken = files->broken || code != TMS_OK;
    return code == TMS_OK ? TMS_OK : TMS_ERR_MEMORY;
}

void tms_report_files_add_bad(struct tms_report_files *files, const char *path, const char *message)
{
    if (files->json != NULL) {
        tms_console_json_error(files->json, path, message);
    }
}

static int write_documents(const struct tms_report_files *files,
                           const struct tms_report_settings *settings)
{
    char reason[TMS_SAVED_REASON];
    struct tms_saved saved;
    int status = TMS_EXIT_OK;

    if (!tms_saved_parse(&saved, "the result", files->text, files->size, reason)) {
        status = tms_bad("%s", reason);
    }
    for (size_t i = 0; i < files->reports->count && status == TMS_EXIT_OK; i++) {
        const char *text = files->reports->values[i].text;
        status = tms_console_worse(
            status, tms_report_file(&saved, 1, format_of(text), path_of(text), settings));
    }
    tms_saved_close(&saved);
    return status;
}

int tms_report_files_write(struct tms_report_files *files,
                           const struct tms_report_settings *settings)
{
    int status = TMS_EXIT_OK;

    if (files->json == NULL) {
        return TMS_EXIT_OK;
    }
    if (fflush(files->json) != 0) {
        return tms_bad("out of memory");
    }
    if (files->size == 0 || files->broken) {
        return TMS_EXIT_OK;
    }
    if (files->reports->count > 0) {
        status = write_documents(files, settings);
    }
    return files->storing != NULL && files->results > 0
               ? tms_console_worse(status,
                                   tms_storing_import(files->storing, files->text, files->size))
               : status;
}

void tms_report_files_free(struct tms_report_files *files)
{
    if (files->json != NULL) {
        fclose(files->json);
    }
    free(files->text);
}
