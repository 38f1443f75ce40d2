/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table with one row per engine: its answer, time and memory. All engines see the same pass over
 * the trace, so the seconds are those spent inside each engine; the line below the table has the
 * time of the whole pass. If there were several passes, there are columns for the spread.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/report.h"
#include "report/text_layout.h"

/* X(name, heading, right-aligned, when it is shown) */
#define COLUMNS(X)                                                                                 \
    X(ENGINE, "engine", false, ALWAYS)                                                             \
    X(VERDICT, "verdict", false, ALWAYS)                                                           \
    X(EVENT, "event", true, ALWAYS)                                                                \
    X(VIOLATIONS, "violations", true, ALWAYS)                                                      \
    X(LABELS, "labels", true, ALWAYS)                                                              \
    X(CHECKED, "checked", true, UNTIL_FIRST)                                                       \
    X(SECONDS, "seconds", true, ONE_PASS)                                                          \
    X(MEDIAN, "median s", true, SEVERAL_PASSES)                                                    \
    X(LEAST, "least s", true, SEVERAL_PASSES)                                                      \
    X(MOST, "most s", true, SEVERAL_PASSES)                                                        \
    X(RATE, "events/s", true, ALWAYS)                                                              \
    X(MEMORY, "peak memory", true, ALWAYS)

enum occasion {
    ONE_PASS = 1,
    SEVERAL_PASSES = 2,
    UNTIL_FIRST = 4,
    ALWAYS = ONE_PASS | SEVERAL_PASSES,
};

enum column {
#define X(name, heading, right, shown) COLUMN_##name,
    COLUMNS(X)
#undef X
        COLUMN_COUNT
};

static const struct {
    const char *heading;
    bool right;
    int shown; /* on which occasions */
} columns[] = {
#define X(name, heading, right, shown) {heading, right, shown},
    COLUMNS(X)
#undef X
};

#define CELL_SIZE 32
#define GAP       2

struct row {
    char cells[COLUMN_COUNT][CELL_SIZE];
    enum tms_ink ink;   /* of the verdict */
    const char *remark; /* after the last column; NULL: none */
};

struct table {
    const struct tms_report_job *job;
    struct tms_page page;
    struct tms_trace_summary summary;
    struct row *rows; /* the first has the headings */
    size_t count;
    int widths[COLUMN_COUNT];
    int occasions;
};

/* ---- cells ------------------------------------------------------------------------------ */

/* 1234567 as "1.23 M": three digits are enough to compare. */
static void write_short(char *cell, double number, const char *unit)
{
    static const char *const letters[] = {"", "k", "M", "G", "T"};
    size_t power = 0;

    while (number >= 999.5 && power + 1 < sizeof(letters) / sizeof(letters[0])) {
        number /= 1000;
        power++;
    }
    int digits = power == 0 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
    snprintf(cell, CELL_SIZE, "%.*f%s%s%s", digits, number, power > 0 || *unit != '\0' ? " " : "",
             letters[power], unit);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The labels that a finding speaks of: those refuted, or that of its transaction. */
static size_t labels_of(const struct tms_finding *finding, uint32_t *labels)
{
    size_t count = 0;

    for (size_t i = 0; i < finding->refuted_count; i++) {
        labels[count++] = finding->refuted[i].label;
    }
    if (finding->refuted_count == 0) {
        labels[count++] = finding->transaction.label;
    }
    return count;
}

static size_t count_distinct(uint32_t *labels, size_t count)
{
    size_t distinct = 0;

    qsort(labels, count, sizeof(*labels), by_number);
    for (size_t i = 0; i < count; i++) {
        distinct += labels[i] != 0 && (i == 0 || labels[i] != labels[i - 1]);
    }
    return distinct;
}

/* Distinct labels of what was blamed or, if the engine does not blame, of what was cut. */
static int count_labels(const struct tms_result *result, size_t *distinct)
{
    size_t most = 1, count = 0;

    for (size_t i = 0; i < result->finding_count; i++) {
        most += result->findings[i].refuted_count + 1;
    }
    uint32_t *labels = calloc(most, sizeof(*labels));
    if (labels == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < result->finding_count; i++) {
        if (!result->blamed || result->findings[i].not_atomic) {
            count += labels_of(&result->findings[i], &labels[count]);
        }
    }
    *distinct = count_distinct(labels, count);
    free(labels);
    return TMS_OK;
}

static void write_event(char *cell, uint64_t event)
{
    if (event != 0) {
        snprintf(cell, CELL_SIZE, "%" PRIu64, event);
    } else {
        snprintf(cell, CELL_SIZE, "-");
    }
}

static void fill_times(struct row *row, const struct tms_result *result,
                       const struct tms_timing *timing)
{
    double seconds = timing != NULL ? timing->median : result->seconds;

    snprintf(row->cells[COLUMN_SECONDS], CELL_SIZE, "%.3f", seconds);
    write_short(row->cells[COLUMN_RATE], seconds > 0 ? (double)result->events / seconds : 0, "");
    if (timing != NULL) {
        snprintf(row->cells[COLUMN_CHECKED], CELL_SIZE, "%" PRIu64, timing->events);
        snprintf(row->cells[COLUMN_MEDIAN], CELL_SIZE, "%.6f", timing->median);
        snprintf(row->cells[COLUMN_LEAST], CELL_SIZE, "%.6f", timing->least);
        snprintf(row->cells[COLUMN_MOST], CELL_SIZE, "%.6f", timing->most);
    }
}

static int fill_row(struct row *row, const struct tms_result *result,
                    const struct tms_timing *timing)
{
    size_t labels;
    int code = count_labels(result, &labels);

    if (code != TMS_OK) {
        return code;
    }
    snprintf(row->cells[COLUMN_ENGINE], CELL_SIZE, "%s", result->engine->name);
    snprintf(row->cells[COLUMN_VERDICT], CELL_SIZE, "%s", tms_verdict_text(result->verdict));
    write_event(row->cells[COLUMN_EVENT], result->first_violation_event);
    snprintf(row->cells[COLUMN_VIOLATIONS], CELL_SIZE, "%" PRIu64, result->violations);
    snprintf(row->cells[COLUMN_LABELS], CELL_SIZE, "%zu", labels);
    fill_times(row, result, timing);
    write_short(row->cells[COLUMN_MEMORY], (double)result->memory_bytes, "B");
    row->ink = tms_ink_of(result->verdict);
    row->remark = result->loss;
    return TMS_OK;
}

static const struct tms_timing *timing_of(const struct tms_report_job *job, size_t index)
{
    return index < job->settings->timing_count ? &job->settings->timings[index] : NULL;
}

static int occasions_of(const struct tms_report_job *job)
{
    const struct tms_timing *timing = timing_of(job, 0);

    return timing == NULL         ? ONE_PASS
           : !timing->until_first ? SEVERAL_PASSES
                                  : SEVERAL_PASSES | UNTIL_FIRST;
}

static int fill_rows(struct table *table)
{
    const struct tms_analysis *analysis = table->job->analysis;

    while (tms_analysis_result(analysis, table->count) != NULL) {
        table->count++;
    }
    table->rows = calloc(++table->count, sizeof(*table->rows));
    if (table->rows == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (int i = 0; i < COLUMN_COUNT; i++) {
        snprintf(table->rows[0].cells[i], CELL_SIZE, "%s", columns[i].heading);
    }
    for (size_t i = 1; i < table->count; i++) {
        int code = fill_row(&table->rows[i], tms_analysis_result(analysis, i - 1),
                            timing_of(table->job, i - 1));
        if (code != TMS_OK) {
            return code;
        }
    }
    return TMS_OK;
}

/* ---- the page --------------------------------------------------------------------------- */

static void measure(struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        for (int c = 0; c < COLUMN_COUNT; c++) {
            int width = (int)strlen(table->rows[i].cells[c]);
            table->widths[c] = width > table->widths[c] ? width : table->widths[c];
        }
    }
}

static void write_row(const struct table *table, const struct row *row)
{
    FILE *out = table->page.out;

    for (int c = 0; c < COLUMN_COUNT; c++) {
        if ((columns[c].shown & table->occasions) == 0) {
            continue;
        }
        int width = (int)strlen(row->cells[c]), room = table->widths[c] - width;
        int before = columns[c].right ? room : 0;
        bool last = c + 1 == COLUMN_COUNT;
        tms_page_blank(out, (size_t)before);
        tms_page_ink(&table->page, c == COLUMN_VERDICT ? row->ink : TMS_INK_PLAIN);
        fputs(row->cells[c], out);
        tms_page_ink(&table->page, TMS_INK_PLAIN);
        tms_page_blank(out, last ? 0 : (size_t)(room - before + GAP));
    }
    if (row->remark != NULL) {
        tms_page_blank(out, GAP);
        tms_utf8_write(out, row->remark, SIZE_MAX);
    }
    fputc('\n', out);
}

static void write_head(const struct table *table)
{
    const struct tms_trace_summary *summary = &table->summary;
    FILE *out = table->page.out;

    tms_utf8_write(out, table->job->settings->path, SIZE_MAX);
    fprintf(out,
            ": events %" PRIu64 ", threads %" PRIu64 ", locks %" PRIu64 ", variables %" PRIu64
            ", atomic blocks %" PRIu64 "\n",
            summary->events, summary->threads, summary->locks, summary->variables,
            summary->transactions);
}

static void write_foot(const struct table *table)
{
    const struct tms_timing *timing = timing_of(table->job, 0);
    FILE *out = table->page.out;

    if (timing == NULL) {
        fprintf(out,
                "Seconds, events/s and memory are the engine's own; the whole pass took %.3f s.\n",
                table->summary.seconds);
    } else {
        fprintf(out, "Seconds of %" PRIu64 " %s, without reading%s.\n", timing->runs,
                timing->runs == 1 ? "pass" : "passes",
                timing->until_first ? "; each engine alone, up to its first violation" : "");
    }
}

int tms_report_table(const struct tms_report_job *job)
{
    struct table table = {.job = job, .occasions = occasions_of(job)};
    int code = tms_page_open(&table.page, job->out, job->names, job->settings);

    if (code != TMS_OK) {
        return code;
    }
    tms_analysis_summary(job->analysis, &table.summary);
    code = fill_rows(&table);
    if (code == TMS_OK) {
        measure(&table);
        write_head(&table);
        for (size_t i = 0; i < table.count; i++) {
            write_row(&table, &table.rows[i]);
        }
        if (!job->settings->quiet) {
            write_foot(&table);
        }
    }
    free(table.rows);
    int closed = tms_page_close(&table.page);
    return code != TMS_OK ? code : closed;
}
