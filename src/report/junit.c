/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JUnit XML: a suite for each trace or program, and a test case for each block that has a finding.
 * It fails if an error or a warning was observed in the block, as the exit status of `run` counts
 * them, and is skipped if there is nothing worse than a note or a prediction. A trace that could
 * not be read, a program that failed and a result that is not complete are errors: test cases of
 * their own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/exported_finding.h"
#include "report/part_outcome.h"
#include "report/xml_text.h"

/* Entries of one part; those of a block that was written are marked. */
struct suite {
    const struct tms_export_job *job;
    const struct tms_export_part *part;
    bool *written; /* by entry */
};

static bool fails(const struct tms_export_entry *entry)
{
    return entry->level >= TMS_LEVEL_WARNING && entry->finding->evidence == TMS_EVIDENCE_OBSERVED &&
           !entry->finding->known && !entry->finding->suppressed;
}

static bool is_same_block(const struct tms_export_entry *a, const struct tms_export_entry *b)
{
    const struct tms_transaction *one = &a->finding->transaction, *two = &b->finding->transaction;

    return a->part == b->part && one->label == two->label &&
           (one->label != 0 || one->location == two->location);
}

/* The first entry of the block of an entry that fails, else the entry itself. */
static size_t worst_of(const struct suite *suite, size_t index)
{
    for (size_t i = index; i < suite->job->count; i++) {
        if (is_same_block(&suite->job->entries[index], &suite->job->entries[i]) &&
            fails(&suite->job->entries[i])) {
            return i;
        }
    }
    return index;
}

/* ---- test cases ----------------------------------------------------------------------------- */

static void put_note(FILE *out, const struct tms_page *page)
{
    fflush(page->note);
    tms_xml_text(out, page->note_text, page->note_size);
}

static void put_steps(FILE *out, const struct tms_exported *exported)
{
    for (size_t i = 0; i < exported->step_count; i++) {
        const struct tms_exported_step *step = &exported->steps[i];
        const char *thread = tms_exported_thread(exported, step->turn.thread);
        fputs("  ", out);
        tms_xml_text(out, thread, strlen(thread));
        fputs(": ", out);
        FILE *note = tms_page_note(exported->page);
        tms_exported_operation(exported, step, note);
        tms_exported_place(exported, &step->place, " at ", note);
        put_note(out, exported->page);
        fputc('\n', out);
    }
}

/* "observed, cut in 3 of 4 executions", "predicted once": the evidence, but not twice. */
static void put_counted(FILE *out, const struct tms_exported *exported)
{
    const char *evidence = tms_evidence_text(exported->finding->evidence);
    struct tms_page *page = exported->page;

    tms_exported_counted(exported, tms_page_note(page));
    fflush(page->note);
    if (strncmp(page->note_text, evidence, strlen(evidence)) != 0) {
        fprintf(out, "%s, ", evidence);
    }
    put_note(out, page);
}

/* The process of a merged result, and blocks around the one that was cut. */
static void put_origin(FILE *out, const struct tms_exported *exported)
{
    const char *process = exported->finding->process;
    FILE *note = tms_page_note(exported->page);

    if (process != NULL) {
        fprintf(note, "  in %s\n", process);
    }
    if (exported->finding->judgement != NULL && exported->finding->judgement->outer_count > 0) {
        fputs("  cut along with it: ", note);
        tms_exported_outer(exported, note);
        fputc('\n', note);
    }
    put_note(out, exported->page);
}

/* One finding in a few lines. */
static int put_finding(FILE *out, const struct tms_export_entry *entry)
{
    struct tms_exported exported;
    int code = tms_exported_make(&exported, entry);

    if (code == TMS_OK) {
        fprintf(out, "\n%s %s, ", tms_level_text(entry->level), entry->finding->id);
        fputs(entry->finding->known ? "known, " : "", out);
        fputs(entry->finding->suppressed ? "suppressed, " : "", out);
        put_counted(out, &exported);
        fputs(": ", out);
        tms_exported_message(&exported);
        put_note(out, exported.page);
        fputc('\n', out);
        put_origin(out, &exported);
        put_steps(out, &exported);
    }
    tms_exported_free(&exported);
    return code;
}

/* The findings of the block of an entry, as the text of an element. */
static int put_findings(const struct suite *suite, size_t index)
{
    int code = TMS_OK;

    for (size_t i = index; i < suite->job->count && code == TMS_OK; i++) {
        if (is_same_block(&suite->job->entries[index], &suite->job->entries[i])) {
            suite->written[i] = true;
            code = put_finding(suite->job->out, &suite->job->entries[i]);
        }
    }
    return code;
}

/* Test cases of a suite have different names. */
static void put_name(FILE *out, const struct tms_exported *exported)
{
    const char *block = tms_exported_block(exported);

    if (*block != '\0') {
        tms_xml_attribute(out, "name", block);
    } else {
        fprintf(out, " name=\"(block without a name, %s)\"", exported->finding->id);
    }
}

/* The opening tag of the test case, and of the element that says what is wrong. */
static void open_case(FILE *out, const struct tms_exported *exported, bool failed)
{
    FILE *note = tms_page_note(exported->page);

    fputs("    <testcase", out);
    tms_xml_attribute(out, "classname", "tmesis");
    put_name(out, exported);
    tms_exported_file(exported, &exported->first, note);
    if (ftell(note) > 0) {
        fputs(" file=\"", out);
        put_note(out, exported->page);
        fprintf(out, "\" line=\"%u\"", exported->first.line);
    }
    fprintf(out, " time=\"0\">\n      <%s", failed ? "failure" : "skipped");
    if (failed) {
        tms_xml_attribute(out, "type", exported->rule->id);
    }
    fputs(" message=\"", out);
    tms_exported_headline(exported, tms_page_note(exported->page));
    put_note(out, exported->page);
    fputc('"', out);
}

static int put_case(const struct suite *suite, size_t index)
{
    FILE *out = suite->job->out;
    size_t worst = worst_of(suite, index);
    bool failed = fails(&suite->job->entries[worst]);
    struct tms_exported exported;
    int code = tms_exported_make(&exported, &suite->job->entries[worst]);

    if (code == TMS_OK) {
        open_case(out, &exported, failed);
        fputs(failed ? ">" : "/>\n      <system-out>", out);
        code = put_findings(suite, index);
        fprintf(out, "</%s>\n    </testcase>\n", failed ? "failure" : "system-out");
    }
    tms_exported_free(&exported);
    return code;
}

/* ---- suites --------------------------------------------------------------------------------- */

struct counts {
    size_t tests, failures, errors, skipped;
};

/* What is wrong with the part as a whole, and its blocks; or the one test case that nothing is. */
static struct counts count_cases(const struct suite *suite)
{
    const struct tms_export_job *job = suite->job;
    struct counts counts = {0};

    for (size_t i = 0; i < job->count; i++) {
        bool first = job->entries[i].part == suite->part;
        for (size_t j = 0; j < i && first; j++) {
            first = !is_same_block(&job->entries[j], &job->entries[i]);
        }
        if (first) {
            counts.tests++;
            counts.failures += fails(&job->entries[worst_of(suite, i)]);
        }
    }
    counts.skipped = counts.tests - counts.failures;
    counts.errors = tms_part_troubles(suite->part);
    counts.tests += counts.errors;
    counts.tests += counts.tests == 0;
    return counts;
}

static void put_counts(FILE *out, const struct counts *counts)
{
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", counts->tests,
            counts->failures, counts->errors, counts->skipped);
}

static void put_property(FILE *out, const char *name, const char *value)
{
    if (value != NULL && *value != '\0') {
        fputs("      <property", out);
        tms_xml_attribute(out, "name", name);
        tms_xml_attribute(out, "value", value);
        fputs("/>\n", out);
    }
}

/* The command, how the program ended, and why the result is not complete, as far as is known. */
static void put_properties(const struct suite *suite)
{
    struct tms_page *page = &suite->job->pages[suite->part - suite->job->parts];
    FILE *out = suite->job->out;

    tms_part_outcome_write(suite->part, tms_page_note(page));
    fflush(page->note);
    fputs("    <properties>\n", out);
    put_property(out, "tmesis", tms_version());
    put_property(out, "command", suite->part->settings->command);
    put_property(out, "outcome", page->note_text);
    put_property(out, "loss", tms_part_loss(suite->part));
    fputs("    </properties>\n", out);
}

static void put_trouble(const struct suite *suite, const struct tms_part_trouble *trouble)
{
    struct tms_page *page = &suite->job->pages[suite->part - suite->job->parts];
    FILE *out = suite->job->out;

    trouble->write(suite->part, tms_page_note(page));
    fputs("    <testcase classname=\"tmesis\"", out);
    tms_xml_attribute(out, "name", trouble->name);
    fputs(" time=\"0\">\n      <error", out);
    tms_xml_attribute(out, "type", trouble->type);
    fputs(" message=\"", out);
    put_note(out, page);
    fputs("\"/>\n    </testcase>\n", out);
}

static void put_troubles(const struct suite *suite)
{
    const struct tms_part_trouble *trouble;

    for (size_t i = 0; (trouble = tms_part_trouble(i)) != NULL; i++) {
        if (trouble->is_there(suite->part)) {
            put_trouble(suite, trouble);
        }
    }
}

static int put_suite(const struct suite *suite)
{
    const struct tms_report_settings *settings = suite->part->settings;
    struct counts counts = count_cases(suite);
    FILE *out = suite->job->out;
    bool any = counts.errors > 0;
    int code = TMS_OK;

    fputs("  <testsuite", out);
    tms_xml_attribute(out, "name", settings->path);
    put_counts(out, &counts);
    fprintf(out, " time=\"%.3f\"", settings->seconds);
    if (settings->host != NULL) {
        tms_xml_attribute(out, "hostname", settings->host);
    }
    fputs(">\n", out);
    put_properties(suite);
    put_troubles(suite);
    for (size_t i = 0; i < suite->job->count && code == TMS_OK; i++) {
        if (suite->job->entries[i].part == suite->part && !suite->written[i]) {
            code = put_case(suite, i);
            any = true;
        }
    }
    if (!any) {
        fputs("    <testcase classname=\"tmesis\" name=\"no finding\" time=\"0\"/>\n", out);
    }
    fputs("  </testsuite>\n", out);
    return code;
}

int tms_export_junit(const struct tms_export_job *job)
{
    struct suite suite = {.job = job, .written = calloc(job->count + 1, sizeof(bool))};
    struct counts all = {0};
    int code = suite.written != NULL ? TMS_OK : TMS_ERR_MEMORY;

    for (size_t i = 0; i < job->part_count; i++) {
        suite.part = &job->parts[i];
        struct counts counts = count_cases(&suite);
        all.tests += counts.tests;
        all.failures += counts.failures;
        all.errors += counts.errors;
        all.skipped += counts.skipped;
    }
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tmesis\"", job->out);
    put_counts(job->out, &all);
    fputs(">\n", job->out);
    for (size_t i = 0; i < job->part_count && code == TMS_OK; i++) {
        suite.part = &job->parts[i];
        code = put_suite(&suite);
    }
    fputs("</testsuites>\n", job->out);
    free(suite.written);
    return code;
}
