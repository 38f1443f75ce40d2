/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text report. If `judge` ran: its entries, further findings of other engines, the
 * verdict, and a line of counts. Otherwise the verdict, the findings (findings_list.h says which),
 * what was checked, and what to type next. Unless it is verbose, it has a limited number of lines:
 * the end, which is always written, is measured first, and the findings get the rest.
 */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/findings_list.h"
#include "report/observed.h"
#include "report/report.h"
#include "report/suggestions.h"
#include "report/text_layout.h"
#include "report/text_report.h"

/* A program was watched; otherwise a trace was read. */
static bool is_live(const struct tms_text *text)
{
    return tms_report_is_live(text->job->settings);
}

/* ---- what was checked, and how far the answer goes ------------------------------------------- */

static void write_count(FILE *out, const char *before, uint64_t count, const char *one,
                        const char *many)
{
    fprintf(out, "%s%" PRIu64 " %s", before, count, count == 1 ? one : many);
}

static void write_checked(struct tms_text *text)
{
    const struct tms_trace_summary *summary = &text->summary;
    FILE *note = tms_page_note(&text->page);

    if (!summary->rough) {
        write_count(note, "Checked: ", summary->events, "event", "events");
    }
    write_count(note, summary->rough ? "Checked: " : " of ", summary->threads, "thread", "threads");
    /* Waiting threads have not published their latest counts. */
    write_count(note, text->job->settings->partial && summary->rough ? ", at least " : ", ",
                summary->transactions, "atomic block", "atomic blocks");
    if (!summary->rough) {
        write_count(note, ", ", summary->unary, "event outside blocks", "events outside blocks");
        write_count(note, ", ", summary->variables, "variable", "variables");
        write_count(note, ", ", summary->locks, "lock", "locks");
    }
    if (summary->not_atomic > 0) {
        write_count(note, "; not atomic: ", summary->not_atomic, "block", "blocks");
    }
    if (summary->skipped > 0) {
        write_count(note, "; skipped: ", summary->skipped, "event", "events");
    }
    fputc('.', note);
    tms_page_flow(&text->page, 0, 2);
}

/* Is there nothing to fix? Then the report says how much was covered. */
static bool is_clean(const struct tms_text *text)
{
    const size_t *levels = text->judged.levels;

    return text->judged.result != NULL ? levels[TMS_LEVEL_ERROR] + levels[TMS_LEVEL_WARNING] == 0
                                       : text->worst->verdict != TMS_VERDICT_VIOLATION;
}

static void write_covered(struct tms_text *text)
{
    const struct tms_coverage *coverage = &text->job->settings->coverage;

    if (!coverage->known || !(is_clean(text) || text->page.verbose)) {
        return;
    }
    FILE *note = tms_page_note(&text->page);
    if (coverage->functions_shared == 0) {
        fputs("Covered: no function touched memory that another thread had touched.", note);
    } else {
        fprintf(note,
                "Covered: %" PRIu64 " of %" PRIu64 " function%s that touch%s shared memory ran "
                "while another thread touched the same memory.",
                coverage->functions_met, coverage->functions_shared,
                coverage->functions_shared == 1 ? "" : "s",
                coverage->functions_shared == 1 ? "es" : "");
    }
    tms_page_flow(&text->page, 0, 2);
}

static void write_assumed(struct tms_text *text)
{
    const char *blocks = text->job->settings->blocks;

    if (blocks != NULL && *blocks != '\0') {
        FILE *note = tms_page_note(&text->page);
        tms_utf8_write(note, blocks, SIZE_MAX);
        fputs(blocks[strlen(blocks) - 1] == '.' ? "" : ".", note);
        tms_page_flow(&text->page, 0, 2);
    }
}

/* There was no transaction: the trace has no blocks, or none of them is atomic. */
static void write_emptiness(struct tms_text *text)
{
    bool blocks = text->summary.not_atomic > 0;
    bool lost = tms_analysis_loss(text->job->analysis) != NULL;
    static const char *const sentences[2][2] = {
        {"The trace has no block (begin … end), so nothing was checked, and this says nothing "
         "about the program. Mark the code that is meant to be atomic.",
         "The part that could be read has no block (begin … end)."},
        {"None of the blocks in the trace is meant to be atomic, so nothing was checked, and this "
         "says nothing about the program. Name atomic blocks with --atomic or --spec.",
         "The part that could be read has no block that is meant to be atomic."}};

    fputs(sentences[blocks][lost], tms_page_note(&text->page));
    tms_page_flow(&text->page, 0, 2);
}

static void write_meaning(struct tms_text *text)
{
    if (text->summary.transactions == 0) {
        if (!is_live(text)) {
            write_emptiness(text);
        }
    } else if (text->worst->verdict == TMS_VERDICT_SERIALIZABLE) {
        fputs("The result is the same as if the blocks had run one after the other. ",
              tms_page_note(&text->page));
        fputs(
            tms_text_has_verdict(text, TMS_VERDICT_NONE_PREDICTED)
                ? "No other order of these lock operations, forks and joins is predicted to cut a "
                  "block, but only the events of this run were examined."
                : "This holds for this run only: with another timing, a block of the same program "
                  "may still be cut apart.",
            text->page.note);
        tms_page_flow(&text->page, 0, 2);
    }
}

/* What the part that an engine did not see may contain. */
static const char *in_the_rest(const struct tms_text *text, const struct tms_result *result)
{
    if (tms_text_saw_no_block(text)) {
        return ".";
    }
    return result->verdict == TMS_VERDICT_INCOMPLETE ? ". The rest may contain a violation."
                                                     : ". There may be more findings.";
}

static const char *guarantee_of(const struct tms_result *result)
{
    return result->engine->guarantee;
}

/* NULL if all its findings were observed as well: then nothing is assumed. */
static const char *assumption_of(const struct tms_result *result)
{
    bool own = result->finding_count == 0;

    for (size_t i = 0; i < result->finding_count; i++) {
        own = own || result->findings[i].same_as == NULL;
    }
    return own ? result->assumption : NULL;
}

static const char *loss_of(const struct tms_result *result)
{
    return result->loss;
}

/*
 * Engines with the same text share a paragraph. Starts that of the text of the index-th engine with
 * the names of all that have it; NULL if it has none, or an engine before it has the same.
 */
static FILE *name_engines(struct tms_text *text, size_t index, const char *one, const char *many,
                          const char *(*text_of)(const struct tms_result *result))
{
    const char *what = text_of(tms_text_result(text, index));
    const struct tms_result *result;
    size_t same = 0;

    for (size_t i = 0; what != NULL && (result = tms_text_result(text, i)) != NULL; i++) {
        bool equal = text_of(result) != NULL && strcmp(text_of(result), what) == 0;
        if (equal && i < index) {
            return NULL;
        }
        same += equal;
    }
    FILE *note = what != NULL ? tms_page_note(&text->page) : NULL;
    const char *before = same == 1 ? one : many;
    for (size_t i = index; what != NULL && (result = tms_text_result(text, i)) != NULL; i++) {
        if (text_of(result) != NULL && strcmp(text_of(result), what) == 0) {
            fprintf(note, "%s%s", before, result->engine->name);
            before = ", ";
        }
    }
    return note;
}

static void write_guarantees(struct tms_text *text)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_text_result(text, i)) != NULL; i++) {
        FILE *note = name_engines(text, i, "Engine ", "Engines ", guarantee_of);
        if (note != NULL) {
            size_t length = strlen(result->engine->guarantee);
            fprintf(note, ": %s%s", result->engine->guarantee,
                    length > 0 && result->engine->guarantee[length - 1] == '.' ? "" : ".");
            tms_page_flow(&text->page, 0, 2);
        }
    }
}

static void write_assumptions(struct tms_text *text)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_text_result(text, i)) != NULL; i++) {
        FILE *note = name_engines(text, i, "Assumed by ", "Assumed by ", assumption_of);
        if (note != NULL) {
            fprintf(note, ": %s", result->assumption);
            tms_page_flow(&text->page, 0, 2);
        }
    }
}

static void write_losses(struct tms_text *text)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_text_result(text, i)) != NULL; i++) {
        FILE *note = name_engines(text, i, "", "", loss_of);
        if (note != NULL) {
            fputs(" did not see everything: ", note);
            tms_utf8_write(note, result->loss, SIZE_MAX);
            fputs(in_the_rest(text, result), note);
            tms_page_flow(&text->page, 0, 2);
        }
    }
}

static void write_stats(struct tms_text *text)
{
    const struct tms_result *result;
    FILE *out = text->page.out;

    for (size_t i = 0; (result = tms_text_result(text, i)) != NULL; i++) {
        double rate = result->seconds > 0 ? (double)result->events / result->seconds : 0;
        fprintf(out, "\nCounts of %s\n", result->engine->name);
        fprintf(out, "  %-24s %14.3f  s spent in the engine\n", "seconds", result->seconds);
        fprintf(out, "  %-24s %14.0f\n", "events per second", rate);
        fprintf(out, "  %-24s %14" PRIu64 "  bytes, peak of the engine\n", "memory",
                result->memory_bytes);
        fprintf(out, "  %-24s %14" PRIu64 "  edges that would have closed a cycle\n",
                "closing edges", result->closing_edges);
        for (size_t j = 0; j < result->counter_count; j++) {
            fprintf(out, "  %-24s %14" PRIu64 "  %s\n", result->counters[j].name,
                    result->counters[j].value, result->counters[j].meaning);
        }
    }
    fprintf(out, "\n%.3f s for the whole %s\n", text->summary.seconds,
            is_live(text) ? "run" : "trace, reading included");
}

/* ---- the two kinds of reports ----------------------------------------------------------- */

/* Losses are always written. */
static void write_judged_end(struct tms_text *text)
{
    write_losses(text);
    if (text->summary.transactions == 0 && !is_live(text)) {
        write_emptiness(text);
    }
    if (text->judged.count == 0 && text->judged.result->known == 0 &&
        tms_text_has_verdict(text, TMS_VERDICT_VIOLATION)) {
        fputs("No single block is at fault; --verbose shows the cycles.\n", text->page.out);
    }
    tms_judged_listing_notes(&text->page, &text->judged);
    if (text->page.verbose) {
        write_checked(text);
        write_assumed(text);
        write_guarantees(text);
        write_assumptions(text);
    }
    if (text->job->settings->stats) {
        write_stats(text);
    }
    write_covered(text);
    tms_page_known(&text->page, text->job->analysis);
    tms_text_verdict(text);
    tms_text_counts(text);
}

static void write_end(struct tms_text *text)
{
    tms_findings_explain(&text->page, text->job->analysis);
    write_checked(text);
    write_covered(text);
    write_assumed(text);
    write_meaning(text);
    if (text->page.verbose) {
        write_guarantees(text);
    }
    write_assumptions(text);
    write_losses(text);
    tms_text_unjudged(text);
    if (text->job->settings->stats) {
        write_stats(text);
    }
    fputc('\n', text->page.out);
    tms_next_write(&text->page, text->job, text->worst);
    tms_page_known(&text->page, text->job->analysis);
}

/* Subtracts the lines of the end from those left for the findings. */
static void reserve_end(struct tms_text *text, void (*end)(struct tms_text *text))
{
    tms_page_hold(&text->page);
    end(text);
    size_t lines = tms_page_held(&text->page);
    tms_page_drop(&text->page);
    if (text->page.left != SIZE_MAX) {
        text->page.left -= lines < text->page.left ? lines : text->page.left;
    }
}

static int write_judged(struct tms_text *text)
{
    const struct tms_report_job *job = text->job;

    text->page.racing = tms_racing(job->analysis) != NULL;
    reserve_end(text, write_judged_end);
    tms_judged_listing_write(&text->page, &text->judged, job->settings->notes);
    int code = tms_listing_write(&text->page, job, true);
    write_judged_end(text);
    if (text->page.verbose) {
        fputc('\n', job->out);
        tms_next_write(&text->page, job, text->worst);
    }
    return code;
}

static int write_unjudged(struct tms_text *text)
{
    tms_text_verdict(text);
    fputc('\n', text->job->out);
    text->page.left -= text->page.left != SIZE_MAX ? 2 : 0;
    reserve_end(text, write_end);
    int code = tms_listing_write(&text->page, text->job, false);
    write_end(text);
    return code;
}

static const struct tms_result *find_judge(const struct tms_analysis *analysis)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (strcmp(result->engine->name, "judge") == 0) {
            return result;
        }
    }
    return NULL;
}

int tms_report_text(const struct tms_report_job *job)
{
    struct tms_text text = {.job = job};
    int code = tms_page_open(&text.page, job->out, job->names, job->settings);

    if (code != TMS_OK) {
        return code;
    }
    tms_analysis_summary(job->analysis, &text.summary);
    text.worst = tms_text_worst(&text);
    code = tms_judged_listing_make(&text.judged, find_judge(job->analysis), job->names,
                                   job->settings->potential);
    if (code == TMS_OK && text.worst != NULL && job->settings->quiet) {
        tms_text_verdict(&text);
    } else if (code == TMS_OK && text.worst != NULL) {
        code = text.judged.result != NULL ? write_judged(&text) : write_unjudged(&text);
    }
    tms_judged_listing_free(&text.judged);
    if (!job->settings->quiet) {
        tms_page_suppressed(&text.page, job->analysis);
    }
    int closed = tms_page_close(&text.page);
    return code != TMS_OK ? code : closed;
}
