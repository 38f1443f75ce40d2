/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of documents, and the list of findings that they write; see export.h. */
#include "report/export.h"

#include <stdlib.h>
#include <string.h>

#include "report/export_order.h"
#include "report/sink_stream.h"

static const struct document {
    struct tms_export_format format;
    int (*write)(const struct tms_export_job *job);
    bool by_part; /* a finding of several parts is in each of them, also if there is a timeline */
} formats[] = {
    {.format = {"sarif", "application/sarif+json", "SARIF 2.1.0, for code scanning and editors"},
     .write = tms_export_sarif},
    {.format = {"junit", "application/xml", "JUnit XML, for test reports in CI"},
     .write = tms_export_junit,
     .by_part = true},
    {.format = {"github", "text/plain", "annotations that a GitHub workflow step prints"},
     .write = tms_export_github},
    {.format = {"markdown", "text/markdown", "Markdown, for a comment on a pull request"},
     .write = tms_export_markdown},
    {.format = {"csv", "text/csv", "CSV, a row for each finding"}, .write = tms_export_csv},
    {.format = {"html", "text/html", "one HTML page, with interleavings and source excerpts"},
     .write = tms_export_html},
    {.format = {"perfetto", "application/json", "Trace Event Format, a timeline for Perfetto"},
     .write = tms_export_perfetto},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct tms_export_format *tms_export_format(size_t index)
{
    return index < FORMATS ? &formats[index].format : NULL;
}

/* ---- which findings ----------------------------------------------------------------------- */

enum tms_level tms_export_level(const struct tms_finding *finding)
{
    if (finding->judgement != NULL) {
        return finding->judgement->level;
    }
    return finding->evidence == TMS_EVIDENCE_POTENTIAL ? TMS_LEVEL_NOTE : TMS_LEVEL_WARNING;
}

bool tms_export_is_shown(const struct tms_export_entry *entry)
{
    const struct tms_report_settings *settings = entry->part->settings;
    const struct tms_finding *finding = entry->finding;
    bool race = strcmp(finding->kind, "race") == 0;

    return !finding->known && !finding->suppressed && (!race || settings->races) &&
           (finding->evidence != TMS_EVIDENCE_POTENTIAL || race || settings->potential) &&
           (entry->level > TMS_LEVEL_NOTE || finding->judgement == NULL || settings->notes);
}

static size_t listed(const struct tms_result *result)
{
    return result->finding_count + result->known + result->suppressed;
}

static bool stands_for_itself(const struct tms_finding *finding)
{
    return finding->same_as == NULL && finding->judged == NULL;
}

static size_t count_findings(const struct tms_export_job *job)
{
    const struct tms_result *result;
    size_t count = 0;

    for (size_t i = 0; i < job->part_count; i++) {
        for (size_t j = 0; (result = tms_analysis_result(job->parts[i].analysis, j)) != NULL; j++) {
            count += listed(result);
        }
    }
    return count;
}

static void add_findings(struct tms_export_job *job, size_t part, const struct tms_result *result)
{
    for (size_t i = 0; i < listed(result); i++) {
        const struct tms_finding *finding = &result->findings[i];
        if (stands_for_itself(finding)) {
            struct tms_export_entry *entry = &job->entries[job->count];
            *entry = (struct tms_export_entry){.part = &job->parts[part],
                                               .page = &job->pages[part],
                                               .result = result,
                                               .finding = finding,
                                               .level = tms_export_level(finding),
                                               .several = job->part_count > 1,
                                               .rank = job->count};
            if (job->timeline != NULL) {
                entry->over_time = tms_timeline_find(job->timeline, finding->id);
            }
            job->count++;
        }
    }
}

/* The strongest evidence of a finding first, and the first part that has it. */
static int by_id(const void *a, const void *b)
{
    const struct tms_export_entry *one = a, *two = b;
    int order = strcmp(one->finding->id, two->finding->id);

    if (order == 0 && one->finding->evidence != two->finding->evidence) {
        order = one->finding->evidence < two->finding->evidence ? -1 : 1;
    }
    return order != 0 ? order : one->rank < two->rank ? -1 : one->rank > two->rank;
}

/* Of a finding that several parts have, leaves those of one part. */
static void leave_one_part(struct tms_export_job *job)
{
    size_t kept = 0, first = 0;

    qsort(job->entries, job->count, sizeof(*job->entries), by_id);
    for (size_t i = 0; i < job->count; i++) {
        if (strcmp(job->entries[first].finding->id, job->entries[i].finding->id) != 0) {
            first = i;
        }
        if (job->entries[i].part == job->entries[first].part) {
            job->entries[kept++] = job->entries[i];
        }
    }
    job->count = kept;
}

static int list_findings(struct tms_export_job *job, bool by_part)
{
    const struct tms_result *result;

    job->entries = calloc(count_findings(job) + 1, sizeof(*job->entries));
    if (job->entries == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < job->part_count; i++) {
        for (size_t j = 0; (result = tms_analysis_result(job->parts[i].analysis, j)) != NULL; j++) {
            add_findings(job, i, result);
        }
    }
    if (job->timeline != NULL && !by_part) {
        leave_one_part(job);
    }
    tms_export_arrange(job);
    return TMS_OK;
}

/* ---- the document ------------------------------------------------------------------------- */

/* Were data races found? Predictions may then not hold. */
static bool is_racing(const struct tms_analysis *analysis)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (result->verdict == TMS_VERDICT_RACE) {
            return true;
        }
    }
    return false;
}

static int write_document(struct tms_export_job *job, const struct document *document)
{
    size_t opened = 0;
    int code = TMS_OK;

    job->pages = calloc(job->part_count + 1, sizeof(*job->pages));
    if (job->pages == NULL) {
        return TMS_ERR_MEMORY;
    }
    while (opened < job->part_count && code == TMS_OK) {
        const struct tms_export_part *part = &job->parts[opened];
        struct tms_page *page = &job->pages[opened];
        code = tms_page_open(page, job->out, tms_analysis_context(part->analysis), part->settings);
        page->color = false;
        page->racing = is_racing(part->analysis);
        opened += code == TMS_OK;
    }
    code = code == TMS_OK ? list_findings(job, document->by_part) : code;
    code = code == TMS_OK ? document->write(job) : code;
    while (opened > 0) {
        int closed = tms_page_close(&job->pages[--opened]);
        code = code == TMS_OK ? closed : code;
    }
    free(job->entries);
    free(job->pages);
    return code;
}

int tms_export(const char *format, const struct tms_export_part *parts, size_t count,
               tms_sink *sink, void *user)
{
    struct tms_sink_stream stream;
    struct tms_export_job job = {.parts = parts,
                                 .part_count = count,
                                 .timeline = count > 0 ? parts[0].settings->timeline : NULL};
    size_t at = 0;

    while (at < FORMATS && strcmp(formats[at].format.name, format) != 0) {
        at++;
    }
    if (at == FORMATS) {
        return TMS_ERR_ARGUMENT;
    }
    job.out = tms_sink_stream_open(&stream, sink, user);
    if (job.out == NULL) {
        return TMS_ERR_MEMORY;
    }
    int code = write_document(&job, &formats[at]);
    bool written = tms_sink_stream_close(&stream);
    return code == TMS_OK && !written ? TMS_ERR_IO : code;
}
