/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV as in RFC 4180: a header, and a row for each finding. What a spreadsheet would take for a
 * formula gets an apostrophe before it, because names come from the program that was watched.
 */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/exported_finding.h"

/* A field without the comma after it. */
static void put_field(FILE *out, const char *text, size_t length)
{
    bool formula = length > 1 && strchr("=+-@", *text) != NULL;

    fputs(formula ? "\"'" : "\"", out);
    for (const char *end = text + length; text < end;) {
        size_t size = tms_utf8_printable(text);
        if (*text == '"') {
            fputs("\"\"", out);
        } else if (size > 0) {
            fwrite(text, 1, size, out);
        } else {
            size = tms_utf8_length(text);
            fputs(TMS_UTF8_BAD, out);
        }
        text += size > 0 ? size : 1;
    }
    fputc('"', out);
}

static void put_text(FILE *out, const char *text, size_t length)
{
    put_field(out, text, length);
    fputc(',', out);
}

static void put_word(FILE *out, const char *text)
{
    put_text(out, text, strlen(text));
}

static void put_note(FILE *out, const struct tms_page *page)
{
    fflush(page->note);
    put_text(out, page->note_text, page->note_size);
}

static void put_numbers(FILE *out, const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;

    fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d,%d,",
            finding->count, judgement != NULL ? judgement->executions : 0,
            judgement != NULL ? judgement->cut : 0, finding->runs, finding->failed_runs,
            finding->known, finding->suppressed);
}

/* That it is about; of a prediction or a data race, that of the first conflict. 0: none. */
static uint32_t variable_of(const struct tms_finding *finding)
{
    if (finding->judgement != NULL) {
        return finding->judgement->variable;
    }
    bool known = finding->evidence != TMS_EVIDENCE_OBSERVED && finding->cycle_length > 0 &&
                 finding->cycle[0].on_class == TMS_CLASS_VARIABLE;
    return known ? finding->cycle[0].on : 0;
}

static void put_row(FILE *out, const struct tms_exported *exported)
{
    const struct tms_export_entry *entry = exported->entry;
    struct tms_page *page = exported->page;
    const char *process = entry->finding->process != NULL ? entry->finding->process : "";
    uint32_t variable = variable_of(entry->finding);

    put_word(out, entry->finding->id);
    put_word(out, tms_level_text(entry->level));
    put_word(out, tms_evidence_text(entry->finding->evidence));
    put_word(out, exported->rule->id);
    put_word(out, entry->result->engine->name);
    put_word(out, entry->part->settings->path);
    put_word(out, tms_exported_block(exported));
    put_word(out, variable != 0 ? tms_name(page->names, TMS_CLASS_VARIABLE, variable, NULL) : "");
    tms_exported_file(exported, &exported->first, tms_page_note(page));
    put_note(out, page);
    if (tms_exported_is_known(&exported->first)) {
        fprintf(out, "%u,%u,", exported->first.line, exported->last.line);
    } else {
        fputs(",,", out);
    }
    tms_exported_headline(exported, tms_page_note(page));
    put_note(out, page);
    put_numbers(out, entry->finding);
    tms_exported_place(exported, &exported->first, "", tms_page_note(page));
    put_note(out, page);
    put_field(out, process, strlen(process));
    fputs("\r\n", out);
}

int tms_export_csv(const struct tms_export_job *job)
{
    struct tms_exported exported;
    int code = TMS_OK;

    fputs("id,level,evidence,rule,engine,path,block,variable,file,first_line,last_line,message,"
          "count,executions,cut,runs,failed_runs,known,suppressed,"
          "location,process\r\n",
          job->out);
    for (size_t i = 0; i < job->count && code == TMS_OK; i++) {
        code = tms_exported_make(&exported, &job->entries[i]);
        if (code == TMS_OK) {
            put_row(job->out, &exported);
        }
        tms_exported_free(&exported);
    }
    return code;
}
