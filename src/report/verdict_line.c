/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict line of a text report, and the counts at its end; see text_report.h. */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/findings_list.h"
#include "report/judged_phrase.h"
#include "report/text_report.h"

bool tms_text_saw_no_block(const struct tms_text *text)
{
    return text->summary.transactions == 0 && (tms_report_is_live(text->job->settings) ||
                                               tms_analysis_loss(text->job->analysis) == NULL);
}

/* ---- the verdict ---------------------------------------------------------------------- */

/* Is the verdict about other schedules than that of the run, and incomplete? */
static bool is_unsure_of_others(const struct tms_result *result)
{
    return result->verdict == TMS_VERDICT_INCOMPLETE &&
           result->engine->found != TMS_VERDICT_VIOLATION;
}

/*
 * Findings that are not shown do not decide the verdict; an incomplete answer about other schedules
 * does not make the verdict on the run incomplete.
 */
static int weight_of(const struct tms_text *text, const struct tms_result *result)
{
    enum { HIDDEN = 1, UNSURE_OF_OTHERS = 2 };
    static const int weights[] = {
        [TMS_VERDICT_NONE_BLAMED] = 0,    [TMS_VERDICT_NO_RACE] = 0,
        [TMS_VERDICT_NONE_POTENTIAL] = 0, [TMS_VERDICT_NONE_PREDICTED] = 1,
        [TMS_VERDICT_SERIALIZABLE] = 3,   [TMS_VERDICT_INCOMPLETE] = 4,
        [TMS_VERDICT_POTENTIAL] = 5,      [TMS_VERDICT_RACE] = 6,
        [TMS_VERDICT_PREDICTED] = 7,      [TMS_VERDICT_VIOLATION] = 9,
        [TMS_VERDICT_AFFECTED] = 8,       [TMS_VERDICT_UNAFFECTED] = 0};

    if (result->verdict == TMS_VERDICT_POTENTIAL && !text->job->settings->potential) {
        return HIDDEN;
    }
    if (tms_hides_races(text->job, result)) {
        return 0;
    }
    return is_unsure_of_others(result) ? UNSURE_OF_OTHERS : weights[result->verdict];
}

const struct tms_result *tms_text_worst(const struct tms_text *text)
{
    const struct tms_result *worst = tms_text_result(text, 0), *result;

    for (size_t i = 1; worst != NULL && (result = tms_text_result(text, i)) != NULL; i++) {
        worst = weight_of(text, result) > weight_of(text, worst) ? result : worst;
    }
    return worst;
}

/* The verdict on the run itself, before that on other schedules; "" if there is none. */
static const char *whole_but(const struct tms_text *text)
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
               : "no atomic block was cut apart in the part that could be checked, but ";
}

bool tms_text_has_verdict(const struct tms_text *text, enum tms_verdict verdict)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_text_result(text, i)) != NULL; i++) {
        if (result->verdict == verdict) {
            return true;
        }
    }
    return false;
}

static void write_violation(const struct tms_text *text, FILE *out)
{
    const struct tms_result *result = text->worst;
    bool blamed = result->blamed && tms_count_blamed(result) > 0;
    size_t predicted = tms_count_shown(text->job, TMS_EVIDENCE_PREDICTED);

    fprintf(out, blamed ? "an atomic block was cut apart by another thread"
                        : "no serial order of the atomic blocks explains this run");
    fprintf(out, ", first at event %" PRIu64, result->first_violation_event);
    if (predicted > 0) {
        fprintf(out, "; %zu more finding%s predicted", predicted, predicted == 1 ? " is" : "s are");
    }
    fputc('.', out);
}

static void write_serializable(const struct tms_text *text, FILE *out)
{
    if (text->summary.transactions == 0) {
        fputs("nothing was declared atomic in this run.", out);
        return;
    }
    fprintf(out, "no atomic block was cut apart in this run%s.",
            tms_text_has_verdict(text, TMS_VERDICT_INCOMPLETE)
                ? "; predictions for other timings are incomplete"
            : tms_text_has_verdict(text, TMS_VERDICT_NONE_PREDICTED)
                ? ", and none is predicted to be"
                : "");
}

/* Findings of an engine that looks for deadlocks are not about blocks. */
static bool finds_deadlocks(const struct tms_result *result)
{
    return result->finding_count > 0 && strcmp(result->findings[0].kind, "deadlock") == 0;
}

/* For engines that found nothing. */
static const char *clean_words(enum tms_verdict verdict)
{
    static const char *const words[] = {
        [TMS_VERDICT_NONE_BLAMED] = "each atomic block on its own is serializable; whether all "
                                    "of them together are was not checked.",
        [TMS_VERDICT_NONE_PREDICTED] =
            "no atomic block is predicted to be cut apart with another timing.",
        [TMS_VERDICT_NONE_POTENTIAL] = "the locks held rule out what this engine looks for.",
        [TMS_VERDICT_NO_RACE] = "all conflicting accesses of this run are ordered.",
    };

    return words[verdict];
}

static void write_verdict_words(const struct tms_text *text, FILE *out)
{
    const struct tms_result *result = text->worst;
    const char *whole = whole_but(text);

    fputs(whole, out);
    switch (result->verdict) {
    case TMS_VERDICT_VIOLATION:
        write_violation(text, out);
        break;
    case TMS_VERDICT_INCOMPLETE:
        fputs(tms_text_saw_no_block(text)
                  ? "no block that is meant to be atomic was seen, so there was nothing to check."
                  : "no violation found, but only a part could be checked.",
              out);
        break;
    case TMS_VERDICT_SERIALIZABLE:
        write_serializable(text, out);
        break;
    case TMS_VERDICT_PREDICTED:
        fprintf(out, "%s can be cut apart with another timing.",
                *whole != '\0' ? "one" : "an atomic block");
        break;
    case TMS_VERDICT_POTENTIAL:
        fprintf(out, "%s; this may be a false alarm.",
                finds_deadlocks(result) ? "threads may deadlock"
                : *whole != '\0'        ? "one may be cut apart with another timing"
                                        : "an atomic block may be cut apart with another timing");
        break;
    case TMS_VERDICT_RACE:
        fprintf(out, "two conflicting accesses are unordered, first at event %" PRIu64 ".",
                result->first_violation_event);
        break;
    default:
        fputs(clean_words(result->verdict), out);
    }
}

/* ---- the verdict of a run that was judged by data ---------------------------------------- */

/* Whether the run was serializable. */
static const char *serial_words(const struct tms_text *text)
{
    const struct tms_result *first = tms_first_observing(text->job->analysis);
    enum tms_verdict verdict = first != NULL ? first->verdict : TMS_VERDICT_NONE_BLAMED;

    if (verdict == TMS_VERDICT_VIOLATION) {
        return "not serializable";
    }
    if (text->summary.transactions == 0) {
        return tms_text_saw_no_block(text) ? "no block that is meant to be atomic was seen"
                                           : "the part that could be checked has no block";
    }
    if (verdict == TMS_VERDICT_INCOMPLETE) {
        return "no violation found, but only a part could be checked";
    }
    if (verdict != TMS_VERDICT_SERIALIZABLE) {
        return "serializability was not checked";
    }
    return text->job->settings->runs > 0 ? "no atomic block was cut apart in these runs"
                                         : "no atomic block was cut apart in this run";
}

/* The counter of `judge` with that name; `otherwise` if it has none. */
static uint64_t counter_of(const struct tms_text *text, const char *name, uint64_t otherwise)
{
    const struct tms_result *result = text->judged.result;

    for (size_t i = 0; i < result->counter_count; i++) {
        if (strcmp(result->counters[i].name, name) == 0) {
            return result->counters[i].value;
        }
    }
    return otherwise;
}

/* Does a rule hide an error or a warning that was observed? */
static bool hides_affected(const struct tms_result *result)
{
    size_t first = result->finding_count + result->known;
    bool affected = false;

    for (size_t i = first; i < first + result->suppressed; i++) {
        const struct tms_finding *hidden = &result->findings[i];
        affected =
            affected || (hidden->judgement != NULL && hidden->judgement->level > TMS_LEVEL_NOTE &&
                         hidden->evidence == TMS_EVIDENCE_OBSERVED);
    }
    return affected;
}

/* Whether data was affected. */
static const char *data_words(const struct tms_text *text)
{
    const struct tms_judged_listing *judged = &text->judged;
    bool whole = judged->result->verdict != TMS_VERDICT_INCOMPLETE;

    if (judged->affected) {
        return "data was affected";
    }
    if (text->job->settings->locks_only && !judged->threatened) {
        return "memory was not watched";
    }
    if (counter_of(text, "accesses", 1) == 0) {
        return "no accesses to memory were recorded";
    }
    if (judged->threatened) { /* of several processes, the memory of one was watched */
        return whole ? "no data was affected, but it can be with another timing"
                     : "data can be affected with another timing";
    }
    if (judged->result->known > 0) {
        return "no data was affected except as in the baseline";
    }
    if (hides_affected(judged->result)) {
        return "no data was affected except in suppressed findings";
    }
    if (judged->expected) {
        return "no data was affected except where other threads are expected (see --notes)";
    }
    return whole ? "no data was affected"
                 : "no data was affected in the part that could be checked";
}

static void write_judged_words(const struct tms_text *text, FILE *out)
{
    const struct tms_result *racing = tms_racing(text->job->analysis);

    fprintf(out, "%s; %s", serial_words(text), data_words(text));
    if (text->worst->verdict == TMS_VERDICT_PREDICTED && text->job->settings->locks_only &&
        !text->judged.threatened) {
        fputs("; a block can be cut apart with another timing", out);
    }
    if (racing != NULL && !tms_hides_races(text->job, racing)) {
        fprintf(out, "; data race, first at event %" PRIu64, racing->first_violation_event);
    }
    if (text->worst->verdict == TMS_VERDICT_POTENTIAL) {
        fputs(finds_deadlocks(text->worst) ? "; threads may deadlock"
                                           : "; the locks held do not rule out more",
              out);
    }
    fputc('.', out);
}

/* ---- lines ------------------------------------------------------------------------------- */

void tms_text_verdict(struct tms_text *text)
{
    const char *verdict = tms_verdict_text(text->worst->verdict);
    FILE *out = text->page.out;

    tms_utf8_write(out, text->job->settings->path, SIZE_MAX);
    fputs(": ", out);
    tms_page_ink(&text->page, tms_ink_of(text->worst->verdict));
    fputs(verdict, out);
    tms_page_ink(&text->page, TMS_INK_PLAIN);
    fputs(": ", out);
    if (text->judged.result != NULL) {
        write_judged_words(text, out);
    } else {
        write_verdict_words(text, out);
    }
    fputc('\n', out);
}

void tms_text_unjudged(struct tms_text *text)
{
    if (text->judged.result == NULL) {
        fputs("Not judged by data: --engine=judge shows which findings affected data.",
              tms_page_note(&text->page));
        tms_page_flow(&text->page, 0, 2);
    }
}

static void write_counted(const struct tms_page *page, uint64_t count, const char *what,
                          enum tms_ink ink)
{
    tms_page_ink(page, count > 0 ? ink : TMS_INK_PLAIN);
    tms_write_number(page->out, count);
    fprintf(page->out, " %s%s", what, count == 1 ? "" : "s");
    tms_page_ink(page, TMS_INK_PLAIN);
}

void tms_text_counts(struct tms_text *text)
{
    const struct tms_page *page = &text->page;
    const size_t *levels = text->judged.levels;
    bool hidden = levels[TMS_LEVEL_NOTE] > 0 && !text->job->settings->notes;

    write_counted(page, levels[TMS_LEVEL_ERROR], "error", TMS_INK_BAD);
    fputs(" · ", page->out);
    write_counted(page, levels[TMS_LEVEL_WARNING], "warning", TMS_INK_DOUBT);
    fputs(" · ", page->out);
    if (text->judged.predicted > 0) {
        tms_page_ink(page, TMS_INK_DOUBT);
        tms_write_number(page->out, text->judged.predicted);
        fputs(" predicted", page->out);
        tms_page_ink(page, TMS_INK_PLAIN);
        fputs(" · ", page->out);
    }
    write_counted(page, levels[TMS_LEVEL_NOTE], "note", TMS_INK_PLAIN);
    fputs(hidden ? " (--notes) · " : " · ", page->out);
    write_counted(page, text->summary.threads, "thread", TMS_INK_PLAIN);
    fputs(" · ", page->out);
    write_counted(page, counter_of(text, "executions", text->summary.transactions), "execution",
                  TMS_INK_PLAIN);
    fprintf(page->out, " checked · %.1f s\n", text->summary.seconds);
}
