/* SPDX-License-Identifier: Apache-2.0 */
/* What an HTML report says about each trace or program; see html_about.h. */
#include "report/html_about.h"

#include <inttypes.h>

#include "report/json_write.h"
#include "report/part_outcome.h"

static void put_note(FILE *out, const struct tms_page *page, const char *before)
{
    fflush(page->note);
    fputs(before, out);
    tms_json_string(page->note_text, page->note_size, tms_json_to_stream, out);
}

/* What is wrong with the run as a whole: sentences. */
static void put_troubles(FILE *out, const struct tms_export_part *part, struct tms_page *page)
{
    const struct tms_part_trouble *trouble;
    const char *between = "";

    fputs(", \"troubles\": [", out);
    for (size_t i = 0; (trouble = tms_part_trouble(i)) != NULL; i++) {
        if (trouble->is_there(part)) {
            trouble->write(part, tms_page_note(page));
            put_note(out, page, between);
            between = ", ";
        }
    }
    fputc(']', out);
}

/* "frontier: violation, judge: affected" */
static void put_verdicts(FILE *out, const struct tms_export_part *part, struct tms_page *page)
{
    FILE *note = tms_page_note(page);
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(part->analysis, i)) != NULL; i++) {
        fprintf(note, "%s%s: %s", i > 0 ? ", " : "", result->engine->name,
                tms_verdict_text(result->verdict));
    }
    put_note(out, page, ", \"verdict\": ");
}

static void put_part(FILE *out, const struct tms_export_part *part, struct tms_page *page)
{
    const struct tms_report_settings *settings = part->settings;

    tms_json_text(out, "{", "path", settings->path);
    fprintf(out, ", \"live\": %s", tms_json_bool(tms_report_is_live(settings)));
    put_troubles(out, part, page);
    put_verdicts(out, part, page);
    tms_part_outcome_write(part, tms_page_note(page));
    put_note(out, page, ", \"outcome\": ");
    tms_json_time(out, "started", settings->started);
    tms_json_if(out, "host", settings->host);
    tms_json_if(out, "version", settings->version);
    if (settings->seeded) { /* as text: it may have more digits than a number of JavaScript */
        fprintf(tms_page_note(page), "%" PRIu64, settings->seed);
        put_note(out, page, ", \"seed\": ");
    }
    fputc('}', out);
}

void tms_html_about_write(FILE *out, const struct tms_export_job *job)
{
    fputs(", \"parts\": [", out);
    for (size_t i = 0; i < job->part_count; i++) {
        fputs(i > 0 ? ",\n" : "", out);
        put_part(out, &job->parts[i], &job->pages[i]);
    }
    fputc(']', out);
}
