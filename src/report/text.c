/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for people: the verdict first, then each finding in full, what was checked, what
 * the answer is worth, and what to type next. With several engines the first one's findings
 * are told in full, and of the others only what the first did not find.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/finding.h"
#include "report/next.h"
#include "report/page.h"
#include "report/report.h"
#include "report/utf8.h"

/* Findings told in full per engine; those beyond get a line each. */
#define FULL_MOST 10

struct text {
    const struct tms_report_job *job;
    struct tms_page page;
    struct tms_trace_summary summary;
    const struct tms_result *worst; /* the result that the verdict line speaks of */
};

static const struct tms_result *result_at(const struct text *text, size_t index)
{
    return tms_analysis_result(text->job->analysis, index);
}

/* A program was watched; otherwise a trace was read. */
static bool is_live(const struct text *text)
{
    return tms_report_is_live(text->job->settings);
}

/* ---- the verdict ---------------------------------------------------------------------- */

static const struct tms_result *find_worst(const struct text *text)
{
    static const int weight[] = {[TMS_VERDICT_NONE_BLAMED] = 0,    [TMS_VERDICT_NO_RACE] = 0,
                                 [TMS_VERDICT_NONE_POTENTIAL] = 0, [TMS_VERDICT_NONE_PREDICTED] = 1,
                                 [TMS_VERDICT_SERIALIZABLE] = 2,   [TMS_VERDICT_INCOMPLETE] = 3,
                                 [TMS_VERDICT_POTENTIAL] = 4,      [TMS_VERDICT_RACE] = 5,
                                 [TMS_VERDICT_PREDICTED] = 6,      [TMS_VERDICT_VIOLATION] = 7};
    const struct tms_result *worst = result_at(text, 0), *result;

    for (size_t i = 1; worst != NULL && (result = result_at(text, i)) != NULL; i++) {
        worst = weight[result->verdict] > weight[worst->verdict] ? result : worst;
    }
    return worst;
}

static uint64_t count_blamed(const struct tms_result *result)
{
    uint64_t count = 0;

    for (size_t i = 0; i < result->finding_count; i++) {
        count += result->findings[i].not_atomic ? result->findings[i].count : 0;
    }
    return count;
}

static void write_verdict_words(const struct text *text, FILE *out)
{
    const struct tms_result *result = text->worst;
    bool blamed = result->blamed && count_blamed(result) > 0;

    switch (result->verdict) {
    case TMS_VERDICT_VIOLATION:
        fprintf(out, blamed ? "an atomic block was cut apart by another thread"
                            : "the atomic blocks of this run can't be put one after the other");
        fprintf(out, ", first at event %" PRIu64 ".", result->first_violation_event);
        break;
    case TMS_VERDICT_INCOMPLETE:
        fputs(is_live(text) && text->summary.transactions == 0
                  ? "no block that is meant to be atomic was seen, so there was nothing to check."
                  : "no violation in what could be checked, but not all could be.",
              out);
        break;
    case TMS_VERDICT_NONE_BLAMED:
        fputs("each atomic block by itself could have run undisturbed; whether all together could "
              "was not asked.",
              out);
        break;
    case TMS_VERDICT_SERIALIZABLE:
        fputs(text->summary.transactions == 0 ? "nothing was declared atomic in this run."
                                              : "no atomic block was cut apart in this run.",
              out);
        break;
    case TMS_VERDICT_PREDICTED:
        fputs("an atomic block was left whole, but another schedule of this run cuts it apart.",
              out);
        break;
    case TMS_VERDICT_NONE_PREDICTED:
        fputs("no other schedule of this run is known to cut an atomic block apart.", out);
        break;
    case TMS_VERDICT_POTENTIAL:
        fputs("other schedules may cut an atomic block apart; this may be a false alarm.", out);
        break;
    case TMS_VERDICT_NONE_POTENTIAL:
        fputs("nothing in the locks that were held lets a block be cut apart.", out);
        break;
    case TMS_VERDICT_RACE:
        fprintf(out, "two accesses are ordered by nothing, first at event %" PRIu64 ".",
                result->first_violation_event);
        break;
    case TMS_VERDICT_NO_RACE:
        fputs("all conflicting accesses are ordered by locks, forks and joins.", out);
        break;
    }
}

/* One line however long, for those who look for it with grep. */
static void write_verdict(struct text *text)
{
    static const enum tms_ink inks[] = {[TMS_VERDICT_SERIALIZABLE] = TMS_INK_GOOD,
                                        [TMS_VERDICT_INCOMPLETE] = TMS_INK_DOUBT,
                                        [TMS_VERDICT_NONE_BLAMED] = TMS_INK_GOOD,
                                        [TMS_VERDICT_NONE_PREDICTED] = TMS_INK_GOOD,
                                        [TMS_VERDICT_NONE_POTENTIAL] = TMS_INK_GOOD,
                                        [TMS_VERDICT_NO_RACE] = TMS_INK_GOOD,
                                        [TMS_VERDICT_POTENTIAL] = TMS_INK_DOUBT,
                                        [TMS_VERDICT_PREDICTED] = TMS_INK_BAD,
                                        [TMS_VERDICT_RACE] = TMS_INK_BAD,
                                        [TMS_VERDICT_VIOLATION] = TMS_INK_BAD};
    const char *verdict = tms_verdict_text(text->worst->verdict);
    FILE *out = text->page.out;

    tms_utf8_write(out, text->job->settings->path, SIZE_MAX);
    fputs(": ", out);
    tms_page_ink(&text->page, inks[text->worst->verdict]);
    fputs(verdict, out);
    tms_page_ink(&text->page, TMS_INK_PLAIN);
    fputs(": ", out);
    write_verdict_words(text, out);
    fputc('\n', out);
}

/* ---- findings ------------------------------------------------------------------------- */

/* The ids of a result in order, to be looked up. */
struct ids {
    const char **sorted;
    size_t count;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int ids_of(const struct tms_result *result, struct ids *ids)
{
    ids->count = result->finding_count;
    ids->sorted = calloc(ids->count + 1, sizeof(*ids->sorted));
    if (ids->sorted == NULL) {
        return TMS_ERR_MEMORY;
    }
    for (size_t i = 0; i < ids->count; i++) {
        ids->sorted[i] = result->findings[i].id;
    }
    qsort(ids->sorted, ids->count, sizeof(*ids->sorted), by_text);
    return TMS_OK;
}

static bool has_id(const struct ids *ids, const char *id)
{
    return bsearch(&id, ids->sorted, ids->count, sizeof(*ids->sorted), by_text) != NULL;
}

/* The findings of a result, without those that `told` has. */
static int write_findings(struct text *text, const struct tms_result *result,
                          const struct ids *told)
{
    size_t written = 0;

    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        if (told != NULL && has_id(told, finding->id)) {
            continue;
        }
        if (written++ >= FULL_MOST) {
            tms_finding_headline(&text->page, result, finding);
        } else if (tms_finding_write(&text->page, result, finding) != TMS_OK) {
            return TMS_ERR_MEMORY;
        }
    }
    if (written > FULL_MOST) {
        fputc('\n', text->page.out);
    }
    if (result->unlisted > 0) {
        fprintf(text->page.out, "%" PRIu64 " more of %s are not listed (--max-violations).\n\n",
                result->unlisted, result->engine->name);
    }
    return TMS_OK;
}

static size_t count_missing(const struct tms_result *result, const struct ids *ids)
{
    size_t missing = 0;

    for (size_t i = 0; i < result->finding_count; i++) {
        missing += !has_id(ids, result->findings[i].id);
    }
    return missing;
}

static void write_answer(FILE *note, const struct tms_result *result)
{
    fputs(tms_verdict_text(result->verdict), note);
    if (result->first_violation_event != 0) {
        fprintf(note, ", first at event %" PRIu64, result->first_violation_event);
    }
    if (result->blamed && result->verdict == TMS_VERDICT_VIOLATION) {
        fprintf(note, ", %" PRIu64 " blamed", count_blamed(result));
    }
}

/* A line about an engine beside the first, which has `fewer` that it lacks. */
static void write_beside(struct text *text, const struct tms_result *result, size_t more,
                         size_t fewer)
{
    const struct tms_result *first = result_at(text, 0);
    FILE *note = tms_page_note(&text->page);

    fprintf(note, "%s says ", result->engine->name);
    write_answer(note, result);
    if (more == 0 && fewer == 0 && result->verdict == first->verdict &&
        result->first_violation_event == first->first_violation_event) {
        fprintf(note, ": the same as %s.", first->engine->name);
    } else {
        fprintf(note, ", but %s says ", first->engine->name);
        write_answer(note, first);
        if (more + fewer > 0) {
            fprintf(note, ". Of the findings above it lacks %zu; of its own there are %zu%s", fewer,
                    more, more > 0 ? ", told below" : "");
        }
        fputc('.', note);
    }
    tms_page_flow(&text->page, 0, 4);
    fputc('\n', text->page.out);
}

/* Compares an engine with the first one, and tells what only it found. */
static int write_other(struct text *text, const struct tms_result *result, const struct ids *told)
{
    struct ids own;
    const struct tms_result *first = result_at(text, 0);

    /* Without a cycle a finding has an id of another kind: only the answers can be compared. */
    if ((result->engine->flags ^ first->engine->flags) & TMS_ENGINE_WITNESS) {
        bool alone = first->finding_count == 0;
        write_beside(text, result, alone ? result->finding_count : 0, 0);
        return alone ? write_findings(text, result, told) : TMS_OK;
    }
    int code = ids_of(result, &own);
    if (code == TMS_OK) {
        write_beside(text, result, count_missing(result, told), count_missing(first, &own));
        code = write_findings(text, result, told);
    }
    free(own.sorted);
    return code;
}

static int write_engines(struct text *text)
{
    const struct tms_result *first = result_at(text, 0), *result;
    struct ids told;
    int code = ids_of(first, &told);

    if (code == TMS_OK) {
        code = write_findings(text, first, NULL);
    }
    for (size_t i = 1; code == TMS_OK && (result = result_at(text, i)) != NULL; i++) {
        code = write_other(text, result, &told);
    }
    free(told.sorted);
    return code;
}

/* ---- what was checked, and what it is worth ------------------------------------------- */

static void write_count(FILE *out, const char *before, uint64_t count, const char *one,
                        const char *many)
{
    fprintf(out, "%s%" PRIu64 " %s", before, count, count == 1 ? one : many);
}

static void write_checked(struct text *text)
{
    const struct tms_trace_summary *summary = &text->summary;
    FILE *note = tms_page_note(&text->page);

    if (!summary->rough) {
        write_count(note, "Checked: ", summary->events, "event", "events");
    }
    write_count(note, summary->rough ? "Checked: " : " of ", summary->threads, "thread", "threads");
    write_count(note, ", ", summary->transactions, "atomic block", "atomic blocks");
    if (!summary->rough) {
        write_count(note, ", ", summary->unary, "event outside blocks", "events outside blocks");
        write_count(note, ", ", summary->variables, "variable", "variables");
        write_count(note, ", ", summary->locks, "lock", "locks");
    }
    if (summary->not_atomic > 0) {
        write_count(note, "; not atomic: ", summary->not_atomic, "block", "blocks");
    }
    if (summary->skipped > 0) {
        write_count(note, "; left out: ", summary->skipped, "event", "events");
    }
    fputc('.', note);
    tms_page_flow(&text->page, 0, 2);
}

static void write_assumed(struct text *text)
{
    const char *blocks = text->job->settings->blocks;

    if (blocks != NULL && *blocks != '\0') {
        FILE *note = tms_page_note(&text->page);
        tms_utf8_write(note, blocks, SIZE_MAX);
        fputs(blocks[strlen(blocks) - 1] == '.' ? "" : ".", note);
        tms_page_flow(&text->page, 0, 2);
    }
}

/* There was no transaction: for want of blocks, or because none of them is atomic. */
static void write_emptiness(struct text *text)
{
    bool blocks = text->summary.not_atomic > 0;
    bool lost = tms_analysis_loss(text->job->analysis) != NULL;
    static const char *const sentences[2][2] = {
        {"The trace has no block (begin … end), so there was nothing that could have been cut "
         "apart: this says nothing about the program. Mark what is meant to be atomic.",
         "No block (begin … end) was in what could be read."},
        {"None of the blocks in the trace is meant to be atomic, so there was nothing that could "
         "have been cut apart: this says nothing about the program. Say with --atomic or --spec "
         "what is meant to be atomic.",
         "No block that is meant to be atomic was in what could be read."}};

    fputs(sentences[blocks][lost], tms_page_note(&text->page));
    tms_page_flow(&text->page, 0, 2);
}

static void write_meaning(struct text *text)
{
    if (text->summary.transactions == 0) {
        if (!is_live(text)) {
            write_emptiness(text);
        }
    } else if (text->worst->verdict == TMS_VERDICT_SERIALIZABLE) {
        fputs("What these threads did is the same as if each block had run by itself, one after "
              "the other. This speaks of this run alone: with another timing the same program "
              "may still cut a block apart.",
              tms_page_note(&text->page));
        tms_page_flow(&text->page, 0, 2);
    }
}

/* What an engine did not see, and what its answer is worth. */
static const char *guarantee_of(const struct tms_result *result)
{
    return result->engine->guarantee;
}

static const char *loss_of(const struct tms_result *result)
{
    return result->loss;
}

/*
 * Engines of which the same is to be told are named together. Starts the paragraph with the
 * names of those from `index` on; NULL if there is nothing to tell, or it was told.
 */
static FILE *name_engines(struct text *text, size_t index, const char *one, const char *many,
                          const char *(*told)(const struct tms_result *result))
{
    const char *what = told(result_at(text, index));
    const struct tms_result *result;
    size_t same = 0;

    for (size_t i = 0; what != NULL && (result = result_at(text, i)) != NULL; i++) {
        bool equal = told(result) != NULL && strcmp(told(result), what) == 0;
        if (equal && i < index) {
            return NULL;
        }
        same += equal;
    }
    FILE *note = what != NULL ? tms_page_note(&text->page) : NULL;
    const char *before = same == 1 ? one : many;
    for (size_t i = index; what != NULL && (result = result_at(text, i)) != NULL; i++) {
        if (told(result) != NULL && strcmp(told(result), what) == 0) {
            fprintf(note, "%s%s", before, result->engine->name);
            before = ", ";
        }
    }
    return note;
}

static void write_worth(struct text *text)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = result_at(text, i)) != NULL; i++) {
        FILE *note = name_engines(text, i, "Engine ", "Engines ", guarantee_of);
        if (note != NULL) {
            fprintf(note, ": %s", result->engine->guarantee);
            tms_page_flow(&text->page, 0, 2);
        }
    }
    for (size_t i = 0; (result = result_at(text, i)) != NULL; i++) {
        FILE *note = name_engines(text, i, "", "", loss_of);
        if (note != NULL) {
            fputs(" did not see everything: ", note);
            tms_utf8_write(note, result->loss, SIZE_MAX);
            fputs(result->verdict == TMS_VERDICT_VIOLATION ? ". There may be more than was found."
                                                           : ". The rest may hold a violation.",
                  note);
            tms_page_flow(&text->page, 0, 2);
        }
    }
}

static void write_stats(struct text *text)
{
    const struct tms_result *result;
    FILE *out = text->page.out;

    for (size_t i = 0; (result = result_at(text, i)) != NULL; i++) {
        double rate = result->seconds > 0 ? (double)result->events / result->seconds : 0;
        fprintf(out, "\nCounts of %s\n", result->engine->name);
        fprintf(out, "  %-24s %14.3f  s in the engine\n", "seconds", result->seconds);
        fprintf(out, "  %-24s %14.0f\n", "events per second", rate);
        fprintf(out, "  %-24s %14" PRIu64 "  bytes the engine held at most\n", "memory",
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

int tms_report_text(const struct tms_report_job *job)
{
    struct text text = {.job = job};
    int code = tms_page_open(&text.page, job->out, job->names, job->settings->color);

    if (code != TMS_OK) {
        return code;
    }
    tms_analysis_summary(job->analysis, &text.summary);
    text.worst = find_worst(&text);
    if (text.worst != NULL) {
        write_verdict(&text);
    }
    if (text.worst != NULL && !job->settings->quiet) {
        fputc('\n', job->out);
        code = write_engines(&text);
        tms_findings_explain(&text.page, job->analysis);
        write_checked(&text);
        write_assumed(&text);
        write_meaning(&text);
        write_worth(&text);
        if (job->settings->stats) {
            write_stats(&text);
        }
        fputc('\n', job->out);
        tms_next_write(&text.page, job->settings, text.worst);
    }
    int closed = tms_page_close(&text.page);
    return code != TMS_OK ? code : closed;
}
