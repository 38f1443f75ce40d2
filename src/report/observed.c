/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in words; see observed.h. */
#include "report/observed.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/interleaving_table.h"
#include "report/phrase.h"
#include "report/predicted.h"
#include "report/stack_frames.h"

#define INDENT 4

static bool is_blamed(const struct tms_result *result, const struct tms_finding *finding)
{
    return result->blamed && finding->not_atomic;
}

static uint32_t location_of(const struct tms_finding *finding)
{
    for (size_t i = finding->cycle_length; i-- > 0;) {
        if (finding->cycle[i].second_event == finding->event) {
            return finding->cycle[i].second_location;
        }
    }
    return 0;
}

static void write_place(const struct tms_page *page, FILE *out, const struct tms_finding *finding)
{
    uint32_t location = location_of(finding);

    fprintf(out, " at event %" PRIu64, finding->event);
    if (location != 0) {
        fputs(" (", out);
        tms_phrase_thing(page, out, TMS_CLASS_LOCATION, location);
        fputc(')', out);
    }
}

static void write_cut(const struct tms_page *page, FILE *note, const struct tms_result *result,
                      const struct tms_finding *finding)
{
    tms_phrase_transaction(page, note, finding, &finding->transaction);
    if (is_blamed(result, finding) || finding->cycle_length < 2) {
        fputs(" was cut apart", note);
        write_place(page, note, finding);
        fputs(finding->cycle_length > 1 ? " by " : "", note);
        tms_phrase_others(page, note, finding);
    } else {
        fputs(finding->cycle_length > 2 ? ", " : " and ", note);
        tms_phrase_others(page, note, finding);
        fputs(" have no serial order (found", note);
        write_place(page, note, finding);
        fputc(')', note);
    }
    fputc('.', note);
    if (finding->count > 1) {
        fprintf(note, " Seen %" PRIu64 " times; this is the first.", finding->count);
    }
}

/* The id and the evidence; returns the column. */
static size_t write_name(const struct tms_page *page, const struct tms_finding *finding)
{
    static const enum tms_ink inks[] = {[TMS_EVIDENCE_OBSERVED] = TMS_INK_BAD,
                                        [TMS_EVIDENCE_PREDICTED] = TMS_INK_BAD,
                                        [TMS_EVIDENCE_POTENTIAL] = TMS_INK_DOUBT};
    const char *word = tms_evidence_text(finding->evidence);

    tms_page_ink(page, TMS_INK_BOLD);
    fprintf(page->out, "%s  ", finding->id);
    tms_page_ink(page, inks[finding->evidence]);
    fputs(word, page->out);
    tms_page_ink(page, TMS_INK_PLAIN);
    fputs(": ", page->out);
    return strlen(finding->id) + 2 + strlen(word) + 2;
}

void tms_finding_sentence(const struct tms_page *page, FILE *out, const struct tms_result *result,
                          const struct tms_finding *finding)
{
    if (finding->evidence == TMS_EVIDENCE_OBSERVED) {
        write_cut(page, out, result, finding);
    } else {
        tms_unseen_headline(page, out, finding);
    }
}

void tms_finding_headline(struct tms_page *page, const struct tms_result *result,
                          const struct tms_finding *finding)
{
    size_t column = write_name(page, finding);

    tms_finding_sentence(page, tms_page_note(page), result, finding);
    tms_page_flow(page, column, INDENT);
}

/* ---- why ------------------------------------------------------------------------------ */

/* "A read x (event 3) before B wrote it (event 8): A's get must come before B's put." */
static void phrase_order(const struct tms_page *page, FILE *note, const struct tms_finding *finding,
                         const struct tms_step *step)
{
    tms_phrase_step(page, note, step, finding->evidence == TMS_EVIDENCE_OBSERVED);
    if (step->kind != TMS_EDGE_PROGRAM_ORDER) {
        fputs(": ", note);
        tms_phrase_transaction(page, note, finding, &step->from);
        fputs(" must come before ", note);
        tms_phrase_transaction(page, note, finding, &step->to);
    }
    fputc('.', note);
}

void tms_finding_step(struct tms_page *page, const struct tms_finding *finding, size_t index)
{
    const struct tms_step *step = &finding->cycle[index];
    char letter[TMS_LETTER_SIZE];

    tms_step_letter(index, letter);
    tms_page_blank(page->out, INDENT);
    tms_page_ink(page, TMS_INK_MARK);
    fprintf(page->out, "%s  ", letter);
    tms_page_ink(page, TMS_INK_PLAIN);
    phrase_order(page, tms_page_note(page), finding, step);
    size_t column = INDENT + strlen(letter) + 2;
    tms_page_flow(page, column, column);
    tms_stacks_write(page, finding, index, column + 2);
}

static void flow(struct tms_page *page)
{
    tms_page_blank(page->out, INDENT);
    tms_page_flow(page, INDENT, INDENT);
}

static void phrase_conclusion(const struct tms_page *page, FILE *note,
                              const struct tms_finding *finding)
{
    fputs("So ", note);
    tms_phrase_transaction(page, note, finding, &finding->transaction);
    fputs(" would have to run both before and after ", note);
    if (finding->cycle_length == 2) {
        tms_phrase_others(page, note, finding);
    } else {
        fputs("the others", note);
    }
    fputc('.', note);
}

void tms_finding_conclusion(struct tms_page *page, const struct tms_finding *finding)
{
    phrase_conclusion(page, tms_page_note(page), finding);
    flow(page);
}

void tms_finding_why(const struct tms_page *page, FILE *out, const struct tms_finding *finding)
{
    if (finding->evidence != TMS_EVIDENCE_OBSERVED) {
        tms_unseen_why(page, out, finding);
        return;
    }
    for (size_t i = 0; i < finding->cycle_length; i++) {
        phrase_order(page, out, finding, &finding->cycle[i]);
        fputc(' ', out);
    }
    if (finding->cycle_length > 0) {
        phrase_conclusion(page, out, finding);
    }
}

/* The locks held at the violation: none of them protects the block. */
static void write_held(struct tms_page *page, const struct tms_finding *finding)
{
    FILE *note = tms_page_note(page);

    if (finding->held_count == 0) {
        return;
    }
    tms_phrase_thing(page, note, TMS_CLASS_THREAD, finding->thread);
    fputs(" held ", note);
    for (size_t i = 0; i < finding->held_count; i++) {
        fputs(i == 0 ? "" : i + 1 == finding->held_count ? " and " : ", ", note);
        tms_phrase_thing(page, note, TMS_CLASS_LOCK, finding->held[i]);
    }
    fprintf(note, " at event %" PRIu64 ".", finding->event);
    flow(page);
}

static void write_blame(struct tms_page *page, const struct tms_result *result,
                        const struct tms_finding *finding)
{
    FILE *note = tms_page_note(page);

    if (finding->not_atomic) {
        fputs("At fault: ", note);
        tms_phrase_transaction(page, note, finding, &finding->transaction);
        fprintf(note, " is not atomic (begin event %" PRIu64 ", cut before event %" PRIu64 ").",
                finding->transaction.begin_event, finding->event);
        tms_phrase_refuted(page, note, finding);
    } else if (result->engine->flags & TMS_ENGINE_BLAMES) {
        fputs("No single block is at fault.", note);
    } else {
        fprintf(note, "%s could not determine which block is at fault.", result->engine->name);
    }
    flow(page);
}

static int write_observed(struct tms_page *page, const struct tms_result *result,
                          const struct tms_finding *finding)
{
    int code = TMS_OK;

    if (finding->cycle_length > 0) {
        code = tms_columns_write(page, finding, false);
        fputc('\n', page->out);
        for (size_t i = 0; i < finding->cycle_length; i++) {
            tms_finding_step(page, finding, i);
        }
        fputc('\n', page->out);
        tms_finding_conclusion(page, finding);
    }
    write_held(page, finding);
    if (result->blamed) {
        write_blame(page, result, finding);
    }
    return code;
}

int tms_finding_write(struct tms_page *page, const struct tms_result *result,
                      const struct tms_finding *finding)
{
    tms_finding_headline(page, result, finding);
    fputc('\n', page->out);
    return finding->evidence == TMS_EVIDENCE_OBSERVED ? write_observed(page, result, finding)
                                                      : tms_unseen_write(page, finding);
}

/* ---- the explanation below the findings ----------------------------------------------- */

static bool has_findings(const struct tms_analysis *analysis)
{
    const struct tms_result *result;
    bool found = false;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        found = found || (result->verdict == TMS_VERDICT_VIOLATION && result->finding_count > 0);
    }
    return found;
}

/* Is there a finding with a block at fault, or without one? */
static bool has_blame(const struct tms_analysis *analysis, bool at_fault)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        bool knows = result->blamed && result->verdict == TMS_VERDICT_VIOLATION &&
                     (at_fault || (result->engine->flags & TMS_ENGINE_BLAMES));
        for (size_t j = 0; knows && j < result->finding_count; j++) {
            if (result->findings[j].not_atomic == at_fault) {
                return true;
            }
        }
    }
    return false;
}

/* Why no engine determined blame: they can't, or --no-blame was given. */
static void write_no_blame(const struct tms_analysis *analysis, FILE *note)
{
    const struct tms_result *result;
    bool asked = true;

    if (has_blame(analysis, true) || has_blame(analysis, false)) {
        return;
    }
    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (result->finding_count == 0 || result->verdict != TMS_VERDICT_VIOLATION) {
            continue;
        }
        if ((result->engine->flags & (TMS_ENGINE_BLAMES | TMS_ENGINE_BLAMES_SOME)) != 0) {
            asked = false;
        } else {
            fprintf(note, " %s can't determine whether a single block is at fault.",
                    result->engine->name);
        }
    }
    if (!asked) {
        fputs(" Whether a single block is at fault was not checked (--no-blame).", note);
    }
}

void tms_findings_explain(struct tms_page *page, const struct tms_analysis *analysis)
{
    FILE *note = tms_page_note(page);

    if (!has_findings(analysis)) {
        return;
    }
    fputs("No serial order of the blocks explains this run.", note);
    if (has_blame(analysis, true)) {
        fputs(" A block at fault is not atomic: protect it as a whole, for example with one lock, "
              "held from its begin to its end, that the other threads take as well.",
              note);
    }
    if (has_blame(analysis, false)) {
        fputs(" Where no single block is at fault, each block on its own is serializable, but not "
              "all of them together: look at how they interact.",
              note);
    }
    write_no_blame(analysis, note);
    tms_page_flow(page, 0, 2);
    fputc('\n', page->out);
}
