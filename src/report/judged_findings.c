/* SPDX-License-Identifier: Apache-2.0 */
/* Judged findings; see judged_findings.h. */
#include "report/judged_findings.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/judged_excerpt.h"
#include "report/judged_interleaving.h"
#include "report/pattern_words.h"
#include "report/stack_frames.h"

#define INDENT     2
#define BLOCK_MOST 40 /* characters of a function in a headline */
#define PATH_MOST  48
#define MORE_MOST  14 /* ", 12 more", at the end of a line of items */

/* ---- lines of items -------------------------------------------------------------------- */

static size_t characters(const char *text, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++) {
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return count;
}

void tms_item_line_start(struct tms_item_line *line, struct tms_page *page, const char *head)
{
    *line = (struct tms_item_line){.page = page, .column = strlen(head)};
    fputs(head, page->out);
}

FILE *tms_item_line_next(struct tms_item_line *line)
{
    return tms_page_note(line->page);
}

void tms_item_line_add(struct tms_item_line *line, size_t count)
{
    struct tms_page *page = line->page;

    fflush(page->note);
    size_t width = characters(page->note_text, page->note_size) + (line->written > 0 ? 2 : 0);
    bool fits = line->column + width + MORE_MOST <= page->width || page->verbose;
    if (line->omitted > 0 || (!fits && line->written > 0)) {
        line->omitted += count;
        return;
    }
    fputs(line->written > 0 ? ", " : "", page->out);
    fwrite(page->note_text, 1, page->note_size, page->out);
    line->column += width;
    line->written++;
}

void tms_item_line_end(struct tms_item_line *line)
{
    if (line->omitted > 0) {
        fprintf(line->page->out, ", %zu more", line->omitted);
    }
    fputc('\n', line->page->out);
}

/* ---- the headline ---------------------------------------------------------------------- */

static enum tms_ink ink_of_level(enum tms_level level)
{
    static const enum tms_ink inks[] = {[TMS_LEVEL_NOTE] = TMS_INK_PLAIN,
                                        [TMS_LEVEL_WARNING] = TMS_INK_DOUBT,
                                        [TMS_LEVEL_ERROR] = TMS_INK_BAD};

    return inks[level];
}

static const char *mark_of(const struct tms_finding *finding)
{
    if (finding->judgement->level == TMS_LEVEL_NOTE) {
        return "·";
    }
    return finding->judgement->level == TMS_LEVEL_ERROR && !tms_judged_unseen(finding) ? "✗" : "!";
}

void tms_judged_sentence(const struct tms_judged *judged, FILE *out, size_t block_most)
{
    const struct tms_pattern_words *words = tms_pattern_words(judged->judgement->pattern);
    const char *verb[][2] = {{" is not atomic: ", " can be cut: "},
                             {" was cut: ", " can be cut: "}};
    bool unseen = tms_judged_unseen(judged->finding);

    tms_judged_block(judged->page, out, &judged->finding->transaction, block_most);
    fputs(verb[judged->judgement->level == TMS_LEVEL_NOTE][unseen], out);
    tms_judged_phrase(judged, out, unseen ? words->can : words->clause);
}

static void note_headline(const struct tms_judged *judged, size_t block_most)
{
    FILE *note = tms_page_note(judged->page);

    tms_judged_sentence(judged, note, block_most);
    fflush(note);
}

/* Bytes of the note from `at` on that fit into `room` characters, whole words if possible. */
static size_t fitting(const char *at, size_t length, size_t room)
{
    size_t best = 0;

    if (characters(at, length) <= room) {
        return length;
    }
    for (size_t i = 0; i < length && characters(at, i) <= room; i++) {
        best = at[i] == ' ' ? i : best;
    }
    return best > 0 ? best : length;
}

/* The id, and the evidence if it was not observed, at the right end of the first line. */
static void write_id(const struct tms_judged *judged, size_t column)
{
    const struct tms_finding *finding = judged->finding;
    struct tms_page *page = judged->page;
    bool unseen = tms_judged_unseen(finding);
    const char *evidence = unseen ? tms_evidence_text(finding->evidence) : "";
    size_t width = strlen(evidence) + unseen + strlen(finding->id);

    tms_page_blank(page->out, page->width > column + width ? page->width - column - width : 1);
    tms_page_ink(page, TMS_INK_FAINT);
    fprintf(page->out, "%s%s%s", evidence, unseen ? " " : "", finding->id);
    tms_page_ink(page, TMS_INK_PLAIN);
    fputc('\n', page->out);
}

static size_t room_of_headline(const struct tms_judged *judged)
{
    const struct tms_finding *finding = judged->finding;
    size_t id = strlen(finding->id) + 2;

    if (tms_judged_unseen(finding)) {
        id += strlen(tms_evidence_text(finding->evidence)) + 1;
    }
    size_t taken = INDENT + id;
    return judged->page->width > taken + 20 ? judged->page->width - taken : 20;
}

static void write_mark(const struct tms_judged *judged)
{
    struct tms_page *page = judged->page;

    tms_page_ink(page, ink_of_level(judged->judgement->level));
    fprintf(page->out, "%s ", mark_of(judged->finding));
    tms_page_ink(page, TMS_INK_PLAIN);
}

static void write_headline(const struct tms_judged *judged)
{
    struct tms_page *page = judged->page;
    size_t room = room_of_headline(judged);

    note_headline(judged, BLOCK_MOST);
    write_mark(judged);
    const char *at = page->note_text;
    size_t length = page->note_size, part = fitting(at, length, room);
    tms_page_ink(page, TMS_INK_BOLD);
    fwrite(at, 1, part, page->out);
    tms_page_ink(page, TMS_INK_PLAIN);
    write_id(judged, INDENT + characters(at, part));
    while (part < length) {
        at += part + 1;
        length -= part + 1;
        part = fitting(at, length, page->width - INDENT);
        tms_page_blank(page->out, INDENT);
        tms_page_ink(page, TMS_INK_BOLD);
        fwrite(at, 1, part, page->out);
        tms_page_ink(page, TMS_INK_PLAIN);
        fputc('\n', page->out);
    }
}

void tms_judged_headline(struct tms_page *page, const struct tms_finding *finding)
{
    struct tms_judged judged;

    tms_judged_start(&judged, page, finding);
    size_t room = room_of_headline(&judged);
    note_headline(&judged, BLOCK_MOST / 2);
    write_mark(&judged);
    write_id(&judged, INDENT + tms_page_put(page, room));
}

/* ---- where, and how often --------------------------------------------------------------- */

static void write_block_place(const struct tms_judged *judged, FILE *note)
{
    const struct tms_place *block = &judged->block;

    if (block->bare) {
        fprintf(note, "location %u · ", block->line);
    } else if (block->file.length > 0) {
        tms_page_path(judged->page, note, block->file.at, block->file.length, PATH_MOST);
        if (block->line != 0) {
            fprintf(note, ":%u", block->line);
        }
        fputs(" · ", note);
    }
}

/* "cut in 27 of 40,001 executions"; a process that was killed leaves no count of these. */
static void write_counted_executions(const struct tms_judgement *judgement, FILE *note)
{
    bool counted = judgement->executions > 0;
    uint64_t last = counted ? judgement->executions : judgement->cut;

    if (judgement->cut == 0) {
        fputs(counted ? "predicted: not observed in " : "predicted", note);
    } else {
        fputs("cut in ", note);
        tms_write_number(note, judgement->cut);
        fputs(counted ? " of " : "", note);
    }
    if (counted) {
        tms_write_number(note, judgement->executions);
    }
    if (last > 0) {
        fputs(last == 1 ? " execution" : " executions", note);
    }
}

void tms_judged_executions(const struct tms_judged *judged, FILE *note)
{
    const struct tms_judgement *judgement = judged->judgement;

    write_counted_executions(judgement, note);
    if (judgement->processes > 1) {
        fputs(", in ", note);
        tms_write_number(note, judgement->processes);
        if (judged->page->processes > 0) {
            fputs(" of ", note);
            tms_write_number(note, judged->page->processes);
        }
        fputs(" processes", note);
    }
}

/* "seen in 7 of 30 runs, first with seed 12; the program failed in 5 of them" */
static void write_runs(const struct tms_judged *judged, FILE *note)
{
    const struct tms_finding *finding = judged->finding;

    if (finding->runs == 0) {
        return;
    }
    fputs(tms_judged_unseen(finding) ? " · predicted in " : " · seen in ", note);
    tms_write_number(note, finding->runs);
    if (judged->page->runs > 0) {
        fputs(" of ", note);
        tms_write_number(note, judged->page->runs);
    }
    fprintf(note, " runs, first with seed %" PRIu64, finding->first_seed);
    if (finding->failed_runs > 0) {
        fputs("; the program failed in ", note);
        tms_write_number(note, finding->failed_runs);
        fputs(" of them", note);
    }
}

static void write_place(const struct tms_judged *judged)
{
    FILE *note = tms_page_note(judged->page);

    write_block_place(judged, note);
    tms_judged_executions(judged, note);
    if (judged->judgement->interleaved) {
        fputs(" · a driver (such as main or an event loop): other threads are expected in between",
              note);
    }
    write_runs(judged, note);
    tms_page_blank(judged->page->out, INDENT);
    tms_page_flow(judged->page, INDENT, INDENT + 2);
}

/* "account.owner (changed-between-reads)" */
static void write_other_finding(const struct tms_page *page, FILE *note,
                                const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;

    if (judgement->variable != 0) {
        tms_judged_variable(page, note, judgement->variable, false, BLOCK_MOST);
    } else if (judgement->lock != 0) {
        tms_page_name(page, note, TMS_CLASS_LOCK, judgement->lock, BLOCK_MOST);
    }
    if (judgement->other != 0) {
        fputs(" and ", note);
        tms_judged_variable(page, note, judgement->other, false, BLOCK_MOST);
    }
    fprintf(note, " (%s%s%s)", tms_pattern_text(judgement->pattern),
            tms_judged_unseen(finding) ? ", " : "",
            tms_judged_unseen(finding) ? tms_evidence_text(finding->evidence) : "");
}

static void write_also(struct tms_page *page, const struct tms_finding *const *findings,
                       size_t count)
{
    struct tms_item_line line;

    if (count == 0) {
        return;
    }
    tms_item_line_start(&line, page, "  also: ");
    for (size_t i = 0; i < count; i++) {
        write_other_finding(page, tms_item_line_next(&line), findings[i]);
        tms_item_line_add(&line, 1);
    }
    tms_item_line_end(&line);
}

static void write_outer(struct tms_page *page, const struct tms_judgement *judgement)
{
    struct tms_item_line line;

    if (judgement->outer_count == 0) {
        return;
    }
    tms_item_line_start(&line, page, "  cut along with it: ");
    for (size_t i = 0; i < judgement->outer_count; i++) {
        tms_judged_block(page, tms_item_line_next(&line), &judgement->outer[i], BLOCK_MOST);
        tms_item_line_add(&line, 1);
    }
    tms_item_line_end(&line);
}

/* ---- why, and what to do ---------------------------------------------------------------- */

/* A paragraph of the note after a heading, which further lines are aligned with. */
static void write_paragraph(struct tms_page *page, const char *heading)
{
    size_t column = INDENT + strlen(heading) + 2;

    fflush(page->note);
    tms_page_blank(page->out, INDENT);
    tms_page_ink(page, TMS_INK_BOLD);
    fputs(heading, page->out);
    tms_page_ink(page, TMS_INK_PLAIN);
    tms_page_blank(page->out, 2);
    tms_page_flow(page, column, column);
}

void tms_judged_why(const struct tms_judged *judged, FILE *out)
{
    const struct tms_pattern_words *words = tms_pattern_words(judged->judgement->pattern);
    bool unseen = tms_judged_unseen(judged->finding);

    fputs(unseen ? "with another timing, " : "", out);
    tms_judged_phrase(judged, out, unseen ? words->would : words->why);
}

void tms_judged_fix(const struct tms_judged *judged, FILE *out)
{
    const struct tms_pattern_words *words = tms_pattern_words(judged->judgement->pattern);
    bool lock = judged->judgement->lock != 0 && !words->harmless;

    tms_judged_phrase(judged, out, lock ? "hold @L @R." : words->fix);
}

static void write_why(const struct tms_judged *judged)
{
    tms_judged_why(judged, tms_page_note(judged->page));
    write_paragraph(judged->page, "Why");
}

static void write_fix(const struct tms_judged *judged)
{
    tms_judged_fix(judged, tms_page_note(judged->page));
    write_paragraph(judged->page, "Fix");
}

/* Reasons why a prediction may be wrong; all of them assume that there are no data races. */
static void write_but(const struct tms_judged *judged)
{
    const char *caveat = judged->finding->caveat;
    bool predicted = judged->finding->evidence == TMS_EVIDENCE_PREDICTED;
    FILE *note = tms_page_note(judged->page);

    if (caveat != NULL && *caveat != '\0') {
        fprintf(note, "%s%s", caveat, caveat[strlen(caveat) - 1] == '.' ? "" : ".");
        write_paragraph(judged->page, "But");
        note = tms_page_note(judged->page);
    }
    if (predicted && judged->page->racing) {
        fputs("this run has a data race, so locks alone do not determine the order of these steps; "
              "the predicted order may be impossible.",
              note);
        write_paragraph(judged->page, "But");
    }
}

/* A label that needs no quoting, neither for a shell nor as a pattern. */
static bool is_plain_word(const char *label)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.";

    return *label != '\0' && label[strspn(label, plain)] == '\0';
}

static void write_not_a_bug(const struct tms_judged *judged)
{
    const char *label =
        tms_name(judged->page->names, TMS_CLASS_LABEL, judged->finding->transaction.label, NULL);
    const char *id = judged->finding->id;
    FILE *out = judged->page->out;

    fprintf(out, "  Not a bug?  --suppress=%s", id);
    if (is_plain_word(label) && strlen(label) + strlen(id) + 50 <= judged->page->width) {
        fprintf(out, "   or   --not-atomic=%s", label);
    }
    fputc('\n', out);
}

/* ---- details ---------------------------------------------------------------------------- */

static void write_event(const struct tms_judged *judged, const struct tms_turn *turn)
{
    struct tms_page *page = judged->page;

    tms_page_blank(page->out, INDENT + 2);
    fprintf(page->out, "event %" PRIu64 ": ", turn->event);
    tms_page_ink_thread(page, turn->thread);
    tms_judged_thread(page, page->out, turn->thread);
    tms_page_ink(page, TMS_INK_PLAIN);
    fputc(' ', page->out);
    tms_judged_happened(judged, page->out, turn);
    if (turn->stack == 0 && turn->location != 0) {
        fputs(" (", page->out);
        tms_page_name(page, page->out, TMS_CLASS_LOCATION, turn->location, SIZE_MAX);
        fputc(')', page->out);
    }
    fputc('\n', page->out);
    tms_stack_write(page, turn->stack, INDENT + 4);
}

static void write_patterns(const struct tms_judged *judged)
{
    struct tms_item_line line;

    tms_item_line_start(&line, judged->page, "  patterns: ");
    for (unsigned i = 0; i < TMS_PATTERN_COUNT; i++) {
        if (judged->judgement->patterns & (1u << i)) {
            fputs(tms_pattern_text((enum tms_pattern)i), tms_item_line_next(&line));
            tms_item_line_add(&line, 1);
        }
    }
    tms_item_line_end(&line);
}

/* All events with their numbers and call stacks, in the order of the interleaving. */
static void write_details(const struct tms_judged *judged)
{
    const struct tms_judgement *judgement = judged->judgement;

    fputc('\n', judged->page->out);
    write_patterns(judged);
    fprintf(judged->page->out, "  evidence: %s\n", tms_evidence_text(judged->finding->evidence));
    for (size_t i = 0; i + 1 < judgement->own_count; i++) {
        write_event(judged, &judgement->own[i]);
    }
    if (judgement->lock != 0 && judgement->given_up.event != 0) {
        write_event(judged, &judgement->given_up);
    }
    for (size_t i = 0; i < judgement->foreign_count; i++) {
        write_event(judged, &judgement->foreign[i]);
    }
    if (judgement->own_count > 0) {
        write_event(judged, &judgement->own[judgement->own_count - 1]);
    }
}

/* ---- all of it --------------------------------------------------------------------------- */

void tms_judged_write_entry(struct tms_page *page, const struct tms_finding *const *findings,
                            size_t count, bool verbose)
{
    struct tms_judged judged;

    tms_judged_start(&judged, page, findings[0]);
    write_headline(&judged);
    write_place(&judged);
    write_also(page, findings + 1, count - 1);
    write_outer(page, judged.judgement);
    fputc('\n', page->out);
    tms_judged_interleaving(&judged, verbose);
    tms_judged_excerpt(&judged);
    write_why(&judged);
    write_but(&judged);
    write_fix(&judged);
    write_not_a_bug(&judged);
    if (verbose) {
        write_details(&judged);
    }
}

void tms_judged_write(struct tms_page *page, const struct tms_finding *finding, bool verbose)
{
    tms_judged_write_entry(page, &finding, 1, verbose);
}
