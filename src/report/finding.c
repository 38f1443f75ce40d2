/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in words; see finding.h. */
#include "report/finding.h"

#include <inttypes.h>
#include <string.h>

#include "report/columns.h"
#include "report/phrase.h"
#include "report/stack.h"
#include "report/utf8.h"

#define INDENT     4
#define NAMED_MOST 5 /* transactions in a headline, or blocks */

static bool is_blamed(const struct tms_result *result, const struct tms_finding *finding)
{
    return result->blamed && finding->not_atomic;
}

/* The other transactions of the cycle: "B's deposit and C's transfer", "…, and 7 more". */
static void write_others(const struct tms_page *page, FILE *out, const struct tms_finding *finding)
{
    size_t others = finding->cycle_length > 0 ? finding->cycle_length - 1 : 0;
    size_t named = others <= NAMED_MOST ? others : NAMED_MOST - 1;

    for (size_t i = 1; i <= named; i++) {
        fputs(i == 1 ? "" : i == others ? " and " : ", ", out);
        tms_phrase_transaction(page, out, finding, &finding->cycle[i].from);
    }
    if (named < others) {
        fprintf(out, " and %zu more", others - named);
    }
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

void tms_finding_headline(struct tms_page *page, const struct tms_result *result,
                          const struct tms_finding *finding)
{
    FILE *note = tms_page_note(page);

    tms_page_ink(page, TMS_INK_BOLD);
    fprintf(page->out, "%s  ", finding->id);
    tms_page_ink(page, TMS_INK_PLAIN);
    tms_phrase_transaction(page, note, finding, &finding->transaction);
    if (is_blamed(result, finding) || finding->cycle_length < 2) {
        fputs(" was cut apart", note);
        write_place(page, note, finding);
        fputs(finding->cycle_length > 1 ? " by " : "", note);
        write_others(page, note, finding);
    } else {
        fputs(finding->cycle_length > 2 ? ", " : " and ", note);
        write_others(page, note, finding);
        fputs(" can't be put in any order: found", note);
        write_place(page, note, finding);
    }
    fputc('.', note);
    if (finding->count > 1) {
        fprintf(note, " Seen %" PRIu64 " times; this is the first.", finding->count);
    }
    tms_page_flow(page, strlen(finding->id) + 2, INDENT);
}

/* ---- why ------------------------------------------------------------------------------ */

static void write_step(struct tms_page *page, const struct tms_finding *finding, size_t index)
{
    const struct tms_step *step = &finding->cycle[index];
    char letter[TMS_LETTER_SIZE];
    FILE *note = tms_page_note(page);

    tms_step_letter(index, letter);
    tms_page_blank(page->out, INDENT);
    tms_page_ink(page, TMS_INK_MARK);
    fprintf(page->out, "%s  ", letter);
    tms_page_ink(page, TMS_INK_PLAIN);
    tms_phrase_step(page, note, step);
    if (step->kind != TMS_EDGE_PROGRAM_ORDER) {
        fputs(": ", note);
        tms_phrase_transaction(page, note, finding, &step->from);
        fputs(" must come before ", note);
        tms_phrase_transaction(page, note, finding, &step->to);
    }
    fputc('.', note);
    size_t column = INDENT + strlen(letter) + 2;
    tms_page_flow(page, column, column);
    tms_stacks_write(page, finding, index, column + 2);
}

static void flow(struct tms_page *page)
{
    tms_page_blank(page->out, INDENT);
    tms_page_flow(page, INDENT, INDENT);
}

static void write_conclusion(struct tms_page *page, const struct tms_finding *finding)
{
    FILE *note = tms_page_note(page);

    fputs("So ", note);
    tms_phrase_transaction(page, note, finding, &finding->transaction);
    fputs(" would have to run both before and after ", note);
    if (finding->cycle_length == 2) {
        write_others(page, note, finding);
    } else {
        fputs("the others", note);
    }
    fputc('.', note);
    flow(page);
}

/* A lock that was held and did not help tells which one it should have been. */
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

/* "deposit (begin event 3, bank.c:12)" */
static void write_block(const struct tms_page *page, FILE *out, const struct tms_transaction *block)
{
    if (block->label != 0) {
        tms_page_name(page, out, TMS_CLASS_LABEL, block->label, SIZE_MAX);
    } else {
        fputs("a block without label", out);
    }
    fprintf(out, " (begin event %" PRIu64, block->begin_event);
    if (block->location != 0) {
        fputs(", ", out);
        tms_phrase_thing(page, out, TMS_CLASS_LOCATION, block->location);
    }
    fputc(')', out);
}

/* The blocks inside the transaction that are refuted too. */
static void write_refuted(const struct tms_page *page, FILE *out, const struct tms_finding *finding)
{
    size_t inside = finding->refuted_count - 1;
    size_t named = inside <= NAMED_MOST ? inside : NAMED_MOST - 1;

    if (inside == 0) {
        return;
    }
    fputs(" Inside it, ", out);
    for (size_t i = 1; i <= named; i++) {
        fputs(i == 1 ? "" : i == inside ? " and " : ", ", out);
        write_block(page, out, &finding->refuted[i]);
    }
    if (named < inside) {
        fprintf(out, " and %zu more", inside - named);
    }
    fputs(inside == 1 ? " is not atomic either." : " are not atomic either.", out);
}

static void write_blame(struct tms_page *page, const struct tms_result *result,
                        const struct tms_finding *finding)
{
    FILE *note = tms_page_note(page);

    if (finding->not_atomic) {
        fputs("To blame: ", note);
        tms_phrase_transaction(page, note, finding, &finding->transaction);
        fprintf(note, " is not atomic (begin event %" PRIu64 ", cut before event %" PRIu64 ").",
                finding->transaction.begin_event, finding->event);
        write_refuted(page, note, finding);
    } else if (result->engine->flags & TMS_ENGINE_BLAMES) {
        fputs("Nobody is to blame here alone.", note);
    } else {
        fprintf(note, "%s names nobody to blame here; it does not always.", result->engine->name);
    }
    flow(page);
}

int tms_finding_write(struct tms_page *page, const struct tms_result *result,
                      const struct tms_finding *finding)
{
    int code = TMS_OK;

    tms_finding_headline(page, result, finding);
    fputc('\n', page->out);
    if (finding->cycle_length > 0) {
        code = tms_columns_write(page, finding);
        fputc('\n', page->out);
        for (size_t i = 0; i < finding->cycle_length; i++) {
            write_step(page, finding, i);
        }
        fputc('\n', page->out);
        write_conclusion(page, finding);
    }
    write_held(page, finding);
    if (result->blamed) {
        write_blame(page, result, finding);
    }
    fputc('\n', page->out);
    return code;
}

/* ---- what the findings mean ----------------------------------------------------------- */

static bool has_findings(const struct tms_analysis *analysis)
{
    const struct tms_result *result;
    bool found = false;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        found = found || result->finding_count > 0;
    }
    return found;
}

/* Is there a finding with somebody to blame, or with nobody? */
static bool has_blame(const struct tms_analysis *analysis, bool somebody)
{
    const struct tms_result *result;

    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        bool knows = result->blamed && (somebody || (result->engine->flags & TMS_ENGINE_BLAMES));
        for (size_t j = 0; knows && j < result->finding_count; j++) {
            if (result->findings[j].not_atomic == somebody) {
                return true;
            }
        }
    }
    return false;
}

/* Why there is no word about blame, if no engine has one: they can't, or were told not to. */
static void write_no_blame(const struct tms_analysis *analysis, FILE *note)
{
    const struct tms_result *result;
    bool asked = true;

    if (has_blame(analysis, true) || has_blame(analysis, false)) {
        return;
    }
    for (size_t i = 0; (result = tms_analysis_result(analysis, i)) != NULL; i++) {
        if (result->finding_count == 0) {
            continue;
        }
        if ((result->engine->flags & (TMS_ENGINE_BLAMES | TMS_ENGINE_BLAMES_SOME)) != 0) {
            asked = false;
        } else {
            fprintf(note, " Whether one of these blocks is to blame by itself, %s can't tell.",
                    result->engine->name);
        }
    }
    if (!asked) {
        fputs(" Whether one of these blocks is to blame by itself was not asked (--no-blame).",
              note);
    }
}

void tms_findings_explain(struct tms_page *page, const struct tms_analysis *analysis)
{
    FILE *note = tms_page_note(page);

    if (!has_findings(analysis)) {
        return;
    }
    fputs("No order in which each block runs undisturbed explains what these threads did.", note);
    if (has_blame(analysis, true)) {
        fputs(" A block that is to blame is not atomic: after its begin and before it was cut, "
              "another thread did something that depends on it and that it depends on, so it "
              "can't be thought of as one piece. What it does needs to be held together, for "
              "instance by one lock from its begin to its end that the other side takes too.",
              note);
    }
    if (has_blame(analysis, false)) {
        fputs(" Where nobody is to blame alone, the block named first could by itself have run in "
              "one piece, and no thread would have noticed; only all of these blocks together "
              "can't. Look at what they do to each other.",
              note);
    }
    write_no_blame(analysis, note);
    tms_page_flow(page, 0, 2);
    fputc('\n', page->out);
}
