/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markdown as GitHub and GitLab show it, for a comment on a pull request: a line that counts, what
 * is wrong with the run as a whole, a table of findings, and the worst of them in full, folded.
 */
#include <string.h>

#include "base/utf8.h"
#include "report/exported_finding.h"
#include "report/part_outcome.h"
#include "report/xml_text.h"

#define ROWS_MOST 50 /* of the table, … */
#define FULL_MOST 10 /* … and findings in full: a comment has at most 65,536 characters */

/* ---- escaping ------------------------------------------------------------------------------- */

/* Inline text: nothing in it is markup or HTML. */
static void put_inline(FILE *out, const char *text, size_t length)
{
    for (const char *end = text + length; text < end;) {
        size_t size = tms_utf8_printable(text);
        if (*text != '\0' && strchr("<>&", *text) != NULL) {
            fprintf(out, "&#%d;", *text);
        } else if (*text != '\0' && strchr("\\`*_[]{}|~#!$", *text) != NULL) {
            fprintf(out, "\\%c", *text);
        } else if (size > 0) {
            fwrite(text, 1, size, out);
        } else {
            size = tms_utf8_length(text);
            fputs(TMS_UTF8_BAD, out);
        }
        text += size > 0 ? size : 1;
    }
}

static void put_note(FILE *out, const struct tms_page *page)
{
    fflush(page->note);
    put_inline(out, page->note_text, page->note_size);
}

static void put_words(FILE *out, const struct tms_exported *exported, const char *heading,
                      void (*write)(const struct tms_exported *exported, FILE *out))
{
    FILE *note = tms_page_note(exported->page);

    write(exported, note);
    if (ftell(note) > 0) {
        fprintf(out, "**%s** ", heading);
        put_note(out, exported->page);
        fputs("\n\n", out);
    }
}

/* ---- findings ------------------------------------------------------------------------------- */

static const char *mark_of(enum tms_level level)
{
    static const char *const marks[] = {[TMS_LEVEL_NOTE] = "note",
                                        [TMS_LEVEL_WARNING] = "**warning**",
                                        [TMS_LEVEL_ERROR] = "**error**"};

    return marks[level];
}

static void put_row(FILE *out, const struct tms_exported *exported)
{
    struct tms_page *page = exported->page;

    fprintf(out, "| %s | ", mark_of(exported->entry->level));
    tms_exported_headline(exported, tms_page_note(page));
    put_note(out, page);
    fputs(" | ", out);
    tms_exported_place(exported, &exported->first, "", tms_page_note(page));
    put_note(out, page);
    fprintf(out, " | %s | %s |", tms_evidence_text(exported->finding->evidence),
            exported->finding->id);
    const char *origin = tms_exported_origin(exported);
    if (origin != NULL) {
        fputc(' ', out);
        put_inline(out, origin, strlen(origin));
        fputs(" |", out);
    }
    fputc('\n', out);
}

/* A row for each step, a column for each of the two sides. */
static void put_steps(FILE *out, const struct tms_exported *exported)
{
    fputs("| | thread | step | where |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < exported->step_count; i++) {
        const struct tms_exported_step *step = &exported->steps[i];
        const char *thread = tms_exported_thread(exported, step->turn.thread);
        fprintf(out, "| %zu | ", i + 1);
        put_inline(out, thread, strlen(thread));
        fputs(step->own ? " | " : " | → ", out);
        tms_exported_operation(exported, step, tms_page_note(exported->page));
        put_note(out, exported->page);
        fputs(" | ", out);
        tms_exported_place(exported, &step->place, "", tms_page_note(exported->page));
        put_note(out, exported->page);
        fputs(" |\n", out);
    }
    fputc('\n', out);
}

static void put_full(FILE *out, const struct tms_exported *exported)
{
    struct tms_page *page = exported->page;

    fprintf(out, "<details><summary>%s: ", exported->finding->id); /* an HTML block */
    tms_exported_headline(exported, tms_page_note(page));
    fflush(page->note);
    tms_xml_text(out, page->note_text, page->note_size);
    fputs("</summary>\n\n", out);
    if (exported->step_count > 0) {
        put_steps(out, exported);
    }
    put_words(out, exported, "Why:", tms_exported_why);
    put_words(out, exported, "But:", tms_exported_but);
    put_words(out, exported, "Fix:", tms_exported_fix);
    put_words(out, exported, "Seen:", tms_exported_counted);
    put_words(out, exported, "Cut along with it:", tms_exported_outer);
    fputs("</details>\n\n", out);
}

/* Calls `put` for the first findings that are shown; how many there are in all. */
static int put_each(const struct tms_export_job *job, size_t most, size_t *shown,
                    void (*put)(FILE *out, const struct tms_exported *exported))
{
    struct tms_exported exported;
    int code = TMS_OK;

    *shown = 0;
    for (size_t i = 0; i < job->count && code == TMS_OK; i++) {
        if (!tms_export_is_shown(&job->entries[i]) || (*shown)++ >= most) {
            continue;
        }
        code = tms_exported_make(&exported, &job->entries[i]);
        if (code == TMS_OK) {
            put(job->out, &exported);
        }
        tms_exported_free(&exported);
    }
    return code;
}

/* ---- the comment ---------------------------------------------------------------------------- */

static void put_count(FILE *out, size_t count, const char *one, const char *many)
{
    fprintf(out, "%zu %s", count, count == 1 ? one : many);
}

/* What the table leaves out: "Not shown: 1 note (--notes), 77 data races (--races)." */
static void put_hidden(const struct tms_export_job *job)
{
    const struct tms_export_counts *counts = &job->counts;
    const struct {
        size_t count;
        const char *one, *many;
    } hidden[] = {
        {counts->hidden_notes, "note (--notes)", "notes (--notes)"},
        {counts->hidden_races, "data race (--races)", "data races (--races)"},
        {counts->hidden_potential, "potential finding (--potential)",
         "potential findings (--potential)"},
    };
    const char *before = "Not shown: ";

    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        if (hidden[i].count > 0) {
            fputs(before, job->out);
            put_count(job->out, hidden[i].count, hidden[i].one, hidden[i].many);
            before = ", ";
        }
    }
    fputs(*before == ',' ? ".\n\n" : "", job->out);
}

static void put_counts(const struct tms_export_job *job)
{
    const struct tms_export_counts *counts = &job->counts;

    fputs("### tmesis: ", job->out);
    put_count(job->out, counts->levels[TMS_LEVEL_ERROR], "error, ", "errors, ");
    put_count(job->out, counts->levels[TMS_LEVEL_WARNING], "warning, ", "warnings, ");
    if (counts->predicted > 0) {
        put_count(job->out, counts->predicted, "predicted, ", "predicted, ");
    }
    put_count(job->out, counts->levels[TMS_LEVEL_NOTE], "note", "notes");
    if (counts->known > 0) {
        fprintf(job->out, "; %zu known", counts->known);
    }
    if (counts->suppressed > 0) {
        fprintf(job->out, "; %zu suppressed", counts->suppressed);
    }
    fputs("\n\n", job->out);
}

/* A block counts once, but has a row for each of its findings that are shown. */
static void put_more_rows(const struct tms_export_job *job, size_t shown)
{
    size_t heads = 0;

    for (size_t i = 0; i < job->count; i++) {
        heads += job->entries[i].heads && tms_export_is_shown(&job->entries[i]);
    }
    if (shown > heads) {
        fprintf(job->out,
                "The counts are of blocks; %zu of the findings below %s in the same block "
                "as another one.\n\n",
                shown - heads, shown - heads == 1 ? "is" : "are");
    }
}

/* A paragraph: "**./bank:** The program was ended by SIGABRT." */
static void put_trouble(const struct tms_export_job *job, size_t part,
                        const struct tms_part_trouble *trouble)
{
    const char *path = job->parts[part].settings->path;
    struct tms_page *page = &job->pages[part];

    fputs("**", job->out);
    put_inline(job->out, path, strlen(path));
    fputs(":** ", job->out);
    trouble->write(&job->parts[part], tms_page_note(page));
    put_note(job->out, page);
    fputs("\n\n", job->out);
}

static void put_troubles(const struct tms_export_job *job)
{
    const struct tms_part_trouble *trouble;
    size_t put = 0, left = 0;

    for (size_t i = 0; i < job->part_count; i++) {
        for (size_t j = 0; (trouble = tms_part_trouble(j)) != NULL; j++) {
            bool there = trouble->is_there(&job->parts[i]);
            if (there && put < FULL_MOST) {
                put_trouble(job, i, trouble);
            }
            put += there && put < FULL_MOST;
            left += there;
        }
    }
    if (left > put) {
        fprintf(job->out, "… and %zu more that could not be read, failed or are incomplete.\n\n",
                left - put);
    }
}

/* Do rows say which process, trace or program they are from? */
static bool names_origins(const struct tms_export_job *job)
{
    bool processes = false;

    for (size_t i = 0; i < job->count; i++) {
        processes = processes || job->entries[i].finding->process != NULL;
    }
    return processes || job->part_count > 1;
}

int tms_export_markdown(const struct tms_export_job *job)
{
    size_t shown = 0;

    put_counts(job);
    put_troubles(job);
    for (size_t i = 0; i < job->count; i++) {
        shown += tms_export_is_shown(&job->entries[i]);
    }
    put_hidden(job);
    if (shown == 0) {
        fputs("Nothing to show.\n", job->out);
        return TMS_OK;
    }
    put_more_rows(job, shown);
    fputs(names_origins(job) ? "| level | what | where | evidence | id | in |\n"
                               "|---|---|---|---|---|---|\n"
                             : "| level | what | where | evidence | id |\n|---|---|---|---|---|\n",
          job->out);
    int code = put_each(job, ROWS_MOST, &shown, put_row);
    fputc('\n', job->out);
    if (shown > ROWS_MOST) {
        fprintf(job->out, "… and %zu more.\n\n", shown - ROWS_MOST);
    }
    return code == TMS_OK ? put_each(job, FULL_MOST, &shown, put_full) : code;
}
