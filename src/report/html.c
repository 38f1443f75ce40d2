/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTML page without anything from elsewhere: the findings as JSON, and html_page.js, which
 * shows them. A finding is laid out when it is opened, so that thousands of them open at once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/exported_finding.h"
#include "report/html_about.h"
#include "report/html_page.inc"
#include "report/html_sources.h"
#include "report/html_stacks.h"
#include "report/json_write.h"
#include "report/pattern_words.h"
#include "report/sink_stream.h"
#include "report/xml_text.h"

#define BLOCK_MOST 60 /* characters of a function above a lane */

/* ---- findings as JSON ----------------------------------------------------------------------- */

static void put_words(FILE *out, const struct tms_exported *exported, const char *key,
                      void (*write)(const struct tms_exported *exported, FILE *out))
{
    write(exported, tms_page_note(exported->page));
    tms_exported_json(exported, out, ", ", key);
}

static void put_place(FILE *out, const struct tms_exported *exported, const struct tms_place *place,
                      const char *before)
{
    tms_exported_file(exported, place, tms_page_note(exported->page));
    tms_exported_json(exported, out, before, "file");
    fprintf(out, ", \"line\": %u", place->line);
    if (!tms_exported_is_known(place)) {
        tms_exported_place(exported, place, "", tms_page_note(exported->page));
        tms_exported_json(exported, out, ", ", "place");
    }
}

static void put_part(FILE *out, const char *key, const struct tms_stack_text *text)
{
    fprintf(out, ", \"%s\": ", key);
    tms_json_string(text->at, text->length, tms_json_to_stream, out);
}

static void put_step(FILE *out, const struct tms_exported *exported,
                     const struct tms_exported_step *step, struct tms_html_stacks *stacks)
{
    const char *thread = tms_exported_thread(exported, step->turn.thread);

    tms_json_text(out, "{", "thread", thread);
    tms_json_number(out, ", ", "event", step->turn.event);
    tms_exported_operation(exported, step, tms_page_note(exported->page));
    tms_exported_json(exported, out, ", ", "operation");
    put_place(out, exported, &step->place, ", ");
    put_part(out, "source", &step->place.source);
    fprintf(out, ", \"own\": %s", tms_json_bool(step->own));
    if (step->conflict != TMS_NO_CONFLICT) {
        tms_json_number(out, ", ", "conflict", step->conflict);
    }
    fprintf(out, ", \"stack\": %zu}",
            tms_html_stack_number(stacks, exported->page, step->turn.stack));
}

/* What the two threads of a judged finding are in, and what the last step comes to. */
static void put_blocks(FILE *out, const struct tms_exported *exported)
{
    const struct tms_judgement *judgement = exported->finding->judgement;

    if (judgement == NULL) {
        return;
    }
    uint32_t intruder = tms_judged_intruder(judgement);
    tms_json_text(out, ", ", "otherThread", tms_exported_thread(exported, intruder));
    FILE *note = tms_page_note(exported->page);
    if (judgement->culprit.unary || judgement->culprit.thread != intruder) {
        fputs("outside any block", note);
    } else {
        tms_judged_block(exported->page, note, &judgement->culprit, BLOCK_MOST);
    }
    tms_exported_json(exported, out, ", ", "otherBlock");
    note = tms_page_note(exported->page);
    tms_judged_block(exported->page, note, &exported->finding->transaction, BLOCK_MOST);
    tms_exported_json(exported, out, ", ", "ownBlock");
    note = tms_page_note(exported->page);
    tms_judged_phrase(&exported->judged, note, tms_pattern_words(judgement->pattern)->remark);
    tms_exported_json(exported, out, ", ", "remark");
}

/* When it was seen, and [column, level, results, runs] of each column that showed it. */
static void put_history(FILE *out, const struct tms_timeline_finding *history)
{
    tms_json_text(out, ", \"history\": {", "first", history->first_seen);
    tms_json_text(out, ", ", "firstIn", history->first_column);
    tms_json_text(out, ", ", "last", history->last_seen);
    tms_json_text(out, ", ", "lastIn", history->last_column);
    fprintf(out, ", \"isNew\": %s, \"cells\": [", tms_json_bool(history->is_new));
    for (size_t i = 0; i < history->cell_count; i++) {
        const struct tms_timeline_cell *cell = &history->cells[i];
        fprintf(out, "%s[%zu, \"%s\", %" PRIu64 ", %" PRIu64 "]", i > 0 ? ", " : "", cell->column,
                tms_level_text(cell->level), cell->results, cell->runs);
    }
    fputc(']', out);
    tms_json_if(out, "by", history->suppressed_by);
    tms_json_if(out, "at", history->suppressed_at);
    tms_json_if(out, "reason", history->suppressed_why);
    fputc('}', out);
}

static void put_finding(FILE *out, const struct tms_exported *exported,
                        struct tms_html_stacks *stacks)
{
    const struct tms_export_entry *entry = exported->entry;

    tms_json_text(out, "{", "id", entry->finding->id);
    tms_json_text(out, ", ", "level", tms_level_text(entry->level));
    tms_json_text(out, ", ", "evidence", tms_evidence_text(entry->finding->evidence));
    tms_json_text(out, ", ", "rule", exported->rule->id);
    tms_json_text(out, ", ", "engine", entry->result->engine->name);
    const char *origin = tms_exported_origin(exported);
    tms_json_text(out, ", ", "path", origin != NULL ? origin : entry->part->settings->path);
    tms_json_text(out, ", ", "block", tms_exported_block(exported));
    fprintf(out, ", \"group\": %zu", entry->head); /* as the other documents and the counts */
    put_words(out, exported, "headline", tms_exported_headline);
    put_words(out, exported, "why", tms_exported_why);
    put_words(out, exported, "but", tms_exported_but);
    put_words(out, exported, "fix", tms_exported_fix);
    put_words(out, exported, "counted", tms_exported_counted);
    put_words(out, exported, "outer", tms_exported_outer);
    put_blocks(out, exported);
    put_place(out, exported, &exported->first, ", ");
    fprintf(out, ", \"end\": %u, \"known\": %s, \"suppressed\": %s, \"steps\": [",
            exported->last.line, tms_json_bool(entry->finding->known),
            tms_json_bool(entry->finding->suppressed));
    for (size_t i = 0; i < exported->step_count; i++) {
        fputs(i > 0 ? ", " : "", out);
        put_step(out, exported, &exported->steps[i], stacks);
    }
    fputc(']', out);
    if (entry->over_time != NULL) {
        put_history(out, entry->over_time);
    }
    fputc('}', out);
}

/* The lines of the block that are shown, from the first to the second step. */
static int want_source(struct tms_source_ranges *ranges, const struct tms_exported *exported)
{
    const struct tms_place *first = &exported->first;
    size_t length = first->file.length;

    if (length == 0 || first->line == 0 || first->bare) {
        return TMS_OK;
    }
    const char *path = tms_exported_path(exported->page, first->file.at, &length);
    return tms_source_want(ranges, path, length, first->line, exported->last.line);
}

static int put_findings(FILE *out, const struct tms_export_job *job,
                        struct tms_source_ranges *ranges, struct tms_html_stacks *stacks)
{
    struct tms_exported exported;
    int code = TMS_OK;

    for (size_t i = 0; i < job->count && code == TMS_OK; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        code = tms_exported_make(&exported, &job->entries[i]);
        if (code == TMS_OK) {
            put_finding(out, &exported, stacks);
            code = want_source(ranges, &exported);
        }
        tms_exported_free(&exported);
    }
    return code;
}

/* The columns of the timeline. */
static void put_timeline(FILE *out, const struct tms_timeline *timeline)
{
    tms_json_text(out, ",\n\"timeline\": {", "unit", timeline->unit);
    fprintf(out, ", \"omitted\": %zu, \"columns\": [", timeline->omitted);
    for (size_t i = 0; i < timeline->column_count; i++) {
        const struct tms_timeline_column *column = &timeline->columns[i];
        tms_json_text(out, i > 0 ? ", {" : "{", "name", column->name);
        tms_json_number(out, ", ", "results", column->results);
        tms_json_number(out, ", ", "runs", column->runs);
        fprintf(out, ", \"reported\": %s", tms_json_bool(column->reported));
        for (enum tms_level level = TMS_LEVEL_NOTE; level <= TMS_LEVEL_ERROR; level++) {
            tms_json_number(out, ", ", tms_level_text(level), column->levels[level]);
        }
        fputc('}', out);
    }
    fputs("]}", out);
}

static void put_counts(FILE *out, const struct tms_export_counts *counts)
{
    fputs(",\n\"counts\": {", out);
    for (enum tms_level level = TMS_LEVEL_NOTE; level <= TMS_LEVEL_ERROR; level++) {
        tms_json_number(out, level > TMS_LEVEL_NOTE ? ", " : "", tms_level_text(level),
                        counts->levels[level]);
    }
    tms_json_number(out, ", ", "predicted", counts->predicted);
    tms_json_number(out, ", ", "race", counts->races);
    tms_json_number(out, ", ", "potential", counts->potential);
    fputc('}', out);
}

static int put_data(FILE *out, const struct tms_export_job *job)
{
    struct tms_source_ranges ranges = {0};
    struct tms_html_stacks stacks = {0};

    tms_json_text(out, "{", "version", tms_version());
    tms_html_about_write(out, job);
    put_counts(out, &job->counts);
    if (job->timeline != NULL) {
        put_timeline(out, job->timeline);
    }
    fputs(",\n\"findings\": [", out);
    int code = put_findings(out, job, &ranges, &stacks);
    fputs("],\n\"stacks\": ", out);
    tms_html_stacks_write(&stacks, out);
    fputs(",\n\"sources\": ", out);
    tms_source_write(&ranges, out);
    fputs("}\n", out);
    code = stacks.failed ? TMS_ERR_MEMORY : code;
    tms_html_stacks_free(&stacks);
    tms_source_free(&ranges);
    return code;
}

/* ---- the page ------------------------------------------------------------------------- */

/* JSON inside a script element: "</script>" and "<!--" must not be in it. */
static bool write_safely(void *user, const char *text, size_t length)
{
    FILE *out = user;

    for (const char *end = text + length; text < end;) {
        const char *angle = memchr(text, '<', (size_t)(end - text));
        size_t part = angle != NULL ? (size_t)(angle - text) : (size_t)(end - text);
        fwrite(text, 1, part, out);
        text += part;
        if (angle != NULL) {
            fputs("\\u003c", out);
            text++;
        }
    }
    return ferror(out) == 0;
}

/* The name of a column: a label, or a time, "2026-11-18T05:38:27.617Z", for people. */
static void put_column(FILE *out, const char *name)
{
    size_t length = strlen(name);

    if (length >= 20 && strspn(name, "0123456789-") == 10 && name[10] == 'T' &&
        strspn(name + 11, "0123456789:") >= 8 && name[length - 1] == 'Z') {
        tms_xml_text(out, name, 10);
        fputc(' ', out);
        tms_xml_text(out, name + 11, 8);
        fputs(" UTC", out);
    } else {
        tms_xml_text(out, name, length);
    }
}

/* What the page is about: a trace or program, or columns of a history. */
static void put_subject(FILE *out, const struct tms_export_job *job)
{
    const struct tms_timeline_column *first = NULL, *last = NULL;

    for (size_t i = 0; job->timeline != NULL && i < job->timeline->column_count; i++) {
        if (job->timeline->columns[i].reported) {
            last = &job->timeline->columns[i];
            first = first != NULL ? first : last;
        }
    }
    if (first != NULL) {
        put_column(out, first->name);
    }
    if (last != first) {
        fputs(" to ", out);
        put_column(out, last->name);
    }
    fputs(first != NULL ? ": " : "", out);
    if (job->part_count == 1) {
        const char *path = job->parts[0].settings->path;
        tms_xml_text(out, path, strlen(path));
    } else {
        fprintf(out, "%zu results", job->part_count);
    }
}

static void put_head(FILE *out, const struct tms_export_job *job)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>tmesis: ",
          out);
    put_subject(out, job);
    fputs("</title>\n<style>\n", out);
    fwrite(html_page_css, 1, sizeof(html_page_css), out);
    fputs("</style>\n</head>\n<body>\n<header><h1>tmesis <span id=\"subject\">", out);
    put_subject(out, job);
    fputs("</span></h1></header>\n<main id=\"main\"><noscript><p>This page needs JavaScript to "
          "show its findings; tmesis report --format=markdown writes them as text.</p></noscript>"
          "</main>\n<script type=\"application/json\" id=\"data\">\n",
          out);
}

int tms_export_html(const struct tms_export_job *job)
{
    struct tms_sink_stream stream;

    put_head(job->out, job);
    FILE *data = tms_sink_stream_open(&stream, write_safely, job->out);
    if (data == NULL) {
        return TMS_ERR_MEMORY;
    }
    int code = put_data(data, job);
    tms_sink_stream_close(&stream); /* what could not be written is an error of the page's stream */
    fputs("</script>\n<script>\n", job->out);
    fwrite(html_page_js, 1, sizeof(html_page_js), job->out);
    fputs("</script>\n</body>\n</html>\n", job->out);
    return code;
}
