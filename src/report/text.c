/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for people: the verdict first, then each finding in full (listing.h says which), what
 * was checked, what the answer is worth, and what to type next.
 */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/finding.h"
#include "report/listing.h"
#include "report/next.h"
#include "report/page.h"
#include "report/report.h"

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

/* There was nothing to check; of a trace that was cut off, that is not known. */
static bool saw_no_block(const struct text *text)
{
    return text->summary.transactions == 0 &&
           (is_live(text) || tms_analysis_loss(text->job->analysis) == NULL);
}

/* ---- the verdict ---------------------------------------------------------------------- */

/* Does the verdict speak of other schedules than that of the run, and is not all known of them? */
static bool is_unsure_of_others(const struct tms_result *result)
{
    return result->verdict == TMS_VERDICT_INCOMPLETE &&
           result->engine->found != TMS_VERDICT_VIOLATION;
}

/*
 * What is not to be shown does not make the verdict; nor does what is not known of other schedules
 * make that of the run incomplete.
 */
static int weight_of(const struct text *text, const struct tms_result *result)
{
    enum { HIDDEN = 1, UNSURE_OF_OTHERS = 2 };
    static const int weights[] = {
        [TMS_VERDICT_NONE_BLAMED] = 0,    [TMS_VERDICT_NO_RACE] = 0,
        [TMS_VERDICT_NONE_POTENTIAL] = 0, [TMS_VERDICT_NONE_PREDICTED] = 1,
        [TMS_VERDICT_SERIALIZABLE] = 3,   [TMS_VERDICT_INCOMPLETE] = 4,
        [TMS_VERDICT_POTENTIAL] = 5,      [TMS_VERDICT_RACE] = 6,
        [TMS_VERDICT_PREDICTED] = 7,      [TMS_VERDICT_VIOLATION] = 8,
        [TMS_VERDICT_AFFECTED] = 2,       [TMS_VERDICT_UNAFFECTED] = 0};

    if (result->verdict == TMS_VERDICT_POTENTIAL && !text->job->settings->potential) {
        return HIDDEN;
    }
    return is_unsure_of_others(result) ? UNSURE_OF_OTHERS : weights[result->verdict];
}

static const struct tms_result *find_worst(const struct text *text)
{
    const struct tms_result *worst = result_at(text, 0), *result;

    for (size_t i = 1; worst != NULL && (result = result_at(text, i)) != NULL; i++) {
        worst = weight_of(text, result) > weight_of(text, worst) ? result : worst;
    }
    return worst;
}

/* What became of the run itself, before what is said of other schedules; "" if nothing is known. */
static const char *whole_but(const struct text *text)
{
    const struct tms_result *first = tms_first_observing(text->job->analysis);
    enum tms_verdict verdict = text->worst->verdict;
    bool unseen = verdict == TMS_VERDICT_PREDICTED || verdict == TMS_VERDICT_POTENTIAL ||
                  verdict == TMS_VERDICT_RACE;

    if (!unseen || first == NULL || first->verdict == TMS_VERDICT_NONE_BLAMED) {
        return "";
    }
    return first->verdict == TMS_VERDICT_SERIALIZABLE
               ? "no atomic block was cut apart in this run, but "
               : "no atomic block was cut apart in what could be checked, but ";
}

static bool has_verdict(const struct text *text, enum tms_verdict verdict)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = result_at(text, i)) != NULL; i++) {
        if (result->verdict == verdict) {
            return true;
        }
    }
    return false;
}

static void write_violation(const struct text *text, FILE *out)
{
    const struct tms_result *result = text->worst;
    bool blamed = result->blamed && tms_count_blamed(result) > 0;
    size_t predicted = tms_count_told(text->job->analysis, TMS_EVIDENCE_PREDICTED);

    fprintf(out, blamed ? "an atomic block was cut apart by another thread"
                        : "the atomic blocks of this run can't be put one after the other");
    fprintf(out, ", first at event %" PRIu64, result->first_violation_event);
    if (predicted > 0) {
        fprintf(out, "; %zu more finding%s predicted", predicted, predicted == 1 ? " is" : "s are");
    }
    fputc('.', out);
}

static void write_serializable(const struct text *text, FILE *out)
{
    if (text->summary.transactions == 0) {
        fputs("nothing was declared atomic in this run.", out);
        return;
    }
    fprintf(out, "no atomic block was cut apart in this run%s.",
            has_verdict(text, TMS_VERDICT_INCOMPLETE)
                ? "; whether one can be with another timing is not fully known"
            : has_verdict(text, TMS_VERDICT_NONE_PREDICTED) ? ", and none is predicted to be"
                                                            : "");
}

/* An engine that looks for deadlocks has no blocks to speak of. */
static bool finds_deadlocks(const struct tms_result *result)
{
    return result->finding_count > 0 && strcmp(result->findings[0].kind, "deadlock") == 0;
}

/* Of those that found nothing, and can say no more than that. */
static const char *clean_words(enum tms_verdict verdict)
{
    static const char *const words[] = {
        [TMS_VERDICT_NONE_BLAMED] = "each atomic block by itself could have run undisturbed; "
                                    "whether all together could was not asked.",
        [TMS_VERDICT_NONE_PREDICTED] =
            "no atomic block is predicted to be cut apart with another timing.",
        [TMS_VERDICT_NONE_POTENTIAL] =
            "the locks that were held rule out what this engine looks for.",
        [TMS_VERDICT_NO_RACE] = "all conflicting accesses of this run are ordered.",
        [TMS_VERDICT_AFFECTED] = "data was affected.",
        [TMS_VERDICT_UNAFFECTED] = "no data was affected.",
    };

    return words[verdict];
}

static void write_verdict_words(const struct text *text, FILE *out)
{
    const struct tms_result *result = text->worst;
    const char *whole = whole_but(text);

    fputs(whole, out);
    switch (result->verdict) {
    case TMS_VERDICT_VIOLATION:
        write_violation(text, out);
        break;
    case TMS_VERDICT_INCOMPLETE:
        fputs(saw_no_block(text)
                  ? "no block that is meant to be atomic was seen, so there was nothing to check."
                  : "no violation in what could be checked, but not all could be.",
              out);
        break;
    case TMS_VERDICT_SERIALIZABLE:
        write_serializable(text, out);
        break;
    case TMS_VERDICT_PREDICTED:
        fprintf(out, "%s with another timing.",
                *whole != '\0' ? "one can be" : "an atomic block can be cut apart");
        break;
    case TMS_VERDICT_POTENTIAL:
        fprintf(out, "%s; this may be a false alarm.",
                finds_deadlocks(result) ? "threads may come to wait for each other forever"
                : *whole != '\0'        ? "one may be with another timing"
                                        : "an atomic block may be cut apart with another timing");
        break;
    case TMS_VERDICT_RACE:
        fprintf(out, "two accesses are ordered by nothing, first at event %" PRIu64 ".",
                result->first_violation_event);
        break;
    default:
        fputs(clean_words(result->verdict), out);
    }
}

/* One line however long, for those who look for it with grep. */
static void write_verdict(struct text *text)
{
    const char *verdict = tms_verdict_text(text->worst->verdict);
    FILE *out = text->page.out;

    tms_utf8_write(out, text->job->settings->path, SIZE_MAX);
    fputs(": ", out);
    tms_page_ink(&text->page, tms_ink_of(text->worst->verdict));
    fputs(verdict, out);
    tms_page_ink(&text->page, TMS_INK_PLAIN);
    fputs(": ", out);
    write_verdict_words(text, out);
    fputc('\n', out);
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
              "the other. ",
              tms_page_note(&text->page));
        fputs(has_verdict(text, TMS_VERDICT_NONE_PREDICTED)
                  ? "No other order of the same locks, forks and joins is known to be different; "
                    "but only what this run did could be looked at."
                  : "This speaks of this run alone: with another timing the same program may still "
                    "cut a block apart.",
              text->page.note);
        tms_page_flow(&text->page, 0, 2);
    }
}

/* What may be in the part that an engine did not see; without any block its reason says all. */
static const char *in_the_rest(const struct text *text, const struct tms_result *result)
{
    if (saw_no_block(text)) {
        return ".";
    }
    return result->verdict == TMS_VERDICT_INCOMPLETE ? ". The rest may hold a violation."
                                                     : ". There may be more than was found.";
}

/* What an engine did not see, and what its answer is worth. */
static const char *guarantee_of(const struct tms_result *result)
{
    return result->engine->guarantee;
}

/* What was observed as well presupposes nothing. */
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
            size_t length = strlen(result->engine->guarantee);
            fprintf(note, ": %s%s", result->engine->guarantee,
                    length > 0 && result->engine->guarantee[length - 1] == '.' ? "" : ".");
            tms_page_flow(&text->page, 0, 2);
        }
    }
    for (size_t i = 0; (result = result_at(text, i)) != NULL; i++) {
        FILE *note = name_engines(text, i, "What ", "What ", assumption_of);
        if (note != NULL) {
            fprintf(note, " presupposes: %s", result->assumption);
            tms_page_flow(&text->page, 0, 2);
        }
    }
    for (size_t i = 0; (result = result_at(text, i)) != NULL; i++) {
        FILE *note = name_engines(text, i, "", "", loss_of);
        if (note != NULL) {
            fputs(" did not see everything: ", note);
            tms_utf8_write(note, result->loss, SIZE_MAX);
            fputs(in_the_rest(text, result), note);
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
    int code = tms_page_open(&text.page, job->out, job->names, job->settings);

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
        code = tms_listing_write(&text.page, job);
        tms_findings_explain(&text.page, job->analysis);
        write_checked(&text);
        write_assumed(&text);
        write_meaning(&text);
        write_worth(&text);
        if (job->settings->stats) {
            write_stats(&text);
        }
        fputc('\n', job->out);
        tms_next_write(&text.page, job, text.worst);
        tms_page_known(&text.page, job->analysis);
    }
    int closed = tms_page_close(&text.page);
    return code != TMS_OK ? code : closed;
}
