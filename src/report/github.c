/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GitHub annotations: commands that a workflow step prints, one line for each finding, and that
 * GitHub shows at the line of the source. Lines without a place say what is wrong with a run.
 */
#include <string.h>

#include "base/utf8.h"
#include "report/exported_finding.h"
#include "report/part_outcome.h"

/* A value of a command; one of a property must not have what ends it. */
static void put_value(FILE *out, const char *text, size_t length, bool property)
{
    for (const char *end = text + length; text < end;) {
        size_t size = tms_utf8_printable(text);
        if (*text == '%' || (property && (*text == ':' || *text == ','))) {
            fprintf(out, "%%%02X", (unsigned char)*text++);
        } else if (size > 0) {
            fwrite(text, 1, size, out);
            text += size;
        } else { /* line ends among them */
            size = tms_utf8_length(text);
            fputs(*text == '\n' ? "%0A" : TMS_UTF8_BAD, out);
            text += size > 0 ? size : 1;
        }
    }
}

static void put_note(FILE *out, const struct tms_page *page, bool property)
{
    fflush(page->note);
    put_value(out, page->note_text, page->note_size, property);
}

static void put_annotation(FILE *out, const struct tms_exported *exported)
{
    static const char *const commands[] = {
        [TMS_LEVEL_NOTE] = "notice", [TMS_LEVEL_WARNING] = "warning", [TMS_LEVEL_ERROR] = "error"};
    struct tms_page *page = exported->page;
    FILE *note = tms_page_note(page);

    fprintf(out, "::%s ", commands[exported->entry->level]);
    tms_exported_file(exported, &exported->first, note);
    if (ftell(note) > 0) {
        fputs("file=", out);
        put_note(out, page, true);
        fprintf(out, ",line=%u,endLine=%u,", exported->first.line, exported->last.line);
    }
    fprintf(out, "title=tmesis %s %s::", exported->rule->id, exported->finding->id);
    tms_exported_message(exported);
    if (tms_exported_origin(exported) != NULL) {
        fprintf(page->note, " In: %s.", tms_exported_origin(exported));
    }
    put_note(out, page, false);
    fputc('\n', out);
}

static void put_trouble(const struct tms_export_job *job, size_t part,
                        const struct tms_part_trouble *trouble)
{
    struct tms_page *page = &job->pages[part];
    FILE *note = tms_page_note(page);

    fprintf(note, "%s: ", job->parts[part].settings->path);
    trouble->write(&job->parts[part], note);
    fprintf(job->out, "::warning title=tmesis %s::", trouble->type);
    put_note(job->out, page, false);
    fputc('\n', job->out);
}

static void put_troubles(const struct tms_export_job *job)
{
    const struct tms_part_trouble *trouble;

    for (size_t i = 0; i < job->part_count; i++) {
        for (size_t j = 0; (trouble = tms_part_trouble(j)) != NULL; j++) {
            if (trouble->is_there(&job->parts[i])) {
                put_trouble(job, i, trouble);
            }
        }
    }
}

int tms_export_github(const struct tms_export_job *job)
{
    struct tms_exported exported;
    int code = TMS_OK;

    put_troubles(job);
    for (size_t i = 0; i < job->count && code == TMS_OK; i++) {
        if (tms_export_is_shown(&job->entries[i])) {
            code = tms_exported_make(&exported, &job->entries[i]);
            if (code == TMS_OK) {
                put_annotation(job->out, &exported);
            }
            tms_exported_free(&exported);
        }
    }
    return code;
}
