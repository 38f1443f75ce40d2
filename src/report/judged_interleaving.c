/* SPDX-License-Identifier: Apache-2.0 */
/* Interleavings in two columns; see judged_interleaving.h. */
#include "report/judged_interleaving.h"

#include <string.h>

#include "base/utf8.h"
#include "report/display_name.h"
#include "report/pattern_words.h"

#define RIGHT_MOST   50 /* where the right one does, at most */
#define FOREIGN_MOST 4  /* foreign events that are shown */
#define GAP          2

struct rows {
    const struct tms_judged *judged;
    FILE *out;
    size_t right;        /* where the right column starts */
    size_t own_margin;   /* widths of the line numbers, … */
    size_t other_margin; /* … on the right */
};

/* ---- cells ------------------------------------------------------------------------------- */

/* For a cell, and for a sentence about the thread. */
static const char *verb_of(enum tms_event_kind kind, bool past)
{
    static const char *const verbs[TMS_EVENT_COUNT][2] = {
        [TMS_EVENT_READ] = {"read", "read"},
        [TMS_EVENT_WRITE] = {"write", "wrote"},
        [TMS_EVENT_UPDATE] = {"update", "updated"},
        [TMS_EVENT_ACQUIRE] = {"lock", "locked"},
        [TMS_EVENT_RELEASE] = {"unlock", "unlocked"},
        [TMS_EVENT_SHARED_ACQUIRE] = {"lock for reading", "locked for reading"},
        [TMS_EVENT_SHARED_RELEASE] = {"unlock", "unlocked"},
        [TMS_EVENT_FORK] = {"start", "started"},
        [TMS_EVENT_JOIN] = {"join", "joined"},
        [TMS_EVENT_WAIT] = {"wait for", "waited for"},
        [TMS_EVENT_ARRIVE] = {"arrive at", "arrived at"},
        [TMS_EVENT_DEPART] = {"leave", "left"},
        [TMS_EVENT_ATOMIC_READ] = {"atomic read", "atomically read"},
        [TMS_EVENT_ATOMIC_WRITE] = {"atomic write", "atomically wrote"},
        [TMS_EVENT_ATOMIC_UPDATE] = {"atomic update", "atomically updated"},
    };

    return kind < TMS_EVENT_COUNT && verbs[kind][past] != NULL ? verbs[kind][past]
                                                               : tms_event_text(kind);
}

static size_t write_operation(const struct tms_judged *judged, FILE *out,
                              const struct tms_turn *turn, bool past, size_t most)
{
    enum tms_event_kind kind = (enum tms_event_kind)turn->kind;
    enum tms_class cls = tms_event_class(kind);
    size_t width = (size_t)fprintf(out, "%s", verb_of(kind, past));
    size_t room = most > width + 9 ? most - width - 1 : 8;

    if (turn->target == 0) {
        return width;
    }
    fputc(' ', out);
    if (cls == TMS_CLASS_VARIABLE) {
        return width + 1 +
               tms_judged_variable(judged->page, out, turn->target, !judged->full, room);
    }
    return width + 1 + tms_page_name(judged->page, out, cls, turn->target, room);
}

size_t tms_judged_operation(const struct tms_judged *judged, FILE *out, const struct tms_turn *turn,
                            size_t most)
{
    return write_operation(judged, out, turn, false, most);
}

void tms_judged_happened(const struct tms_judged *judged, FILE *out, const struct tms_turn *turn)
{
    write_operation(judged, out, turn, true, SIZE_MAX);
}

/* "26", or "get.c:26" in another file than the block, or nothing. */
static size_t write_line(const struct tms_judged *judged, FILE *out, const struct tms_place *place)
{
    size_t length = place->file.length, width = 0;

    if (length > 0 && (place->line == 0 || !tms_same_file(place, &judged->block))) {
        const char *base = tms_path_base(place->file.at, &length);
        width = tms_display_path(out, base, length, NULL, NULL, 12);
        width += place->line != 0 ? (size_t)fprintf(out, ":") : 0;
    }
    return width + (place->line != 0 ? (size_t)fprintf(out, "%u", place->line) : 0);
}

static struct tms_place place_of(const struct tms_judged *judged, const struct tms_turn *turn)
{
    bool own = turn->thread == judged->finding->transaction.thread;

    return tms_place_of_event(judged->page, turn,
                              own ? judged->finding->transaction.label
                                  : judged->judgement->culprit.label);
}

static size_t line_width(const struct tms_judged *judged, const struct tms_turn *turn)
{
    struct tms_place place = place_of(judged, turn);

    return write_line(judged, tms_page_note(judged->page), &place);
}

/* The line number, right-aligned, and what is done there; returns the width. */
static size_t write_cell(const struct rows *rows, const struct tms_turn *turn, size_t margin,
                         size_t room)
{
    const struct tms_judged *judged = rows->judged;
    struct tms_place place = place_of(judged, turn);
    size_t width = line_width(judged, turn);

    tms_page_ink(judged->page, TMS_INK_FAINT);
    tms_page_blank(rows->out, margin > width ? margin - width : 0);
    write_line(judged, rows->out, &place);
    tms_page_ink(judged->page, TMS_INK_PLAIN);
    width = margin > width ? margin : width;
    if (width > 0) {
        tms_page_blank(rows->out, GAP);
        width += GAP;
    }
    tms_page_ink_thread(judged->page, turn->thread);
    width += tms_judged_operation(judged, rows->out, turn, room > width ? room - width : 0);
    tms_page_ink(judged->page, TMS_INK_PLAIN);
    return width;
}

/* ---- rows -------------------------------------------------------------------------------- */

static void write_own(const struct rows *rows, const struct tms_turn *turn)
{
    tms_page_blank(rows->out, TMS_JUDGED_LEFT);
    write_cell(rows, turn, rows->own_margin, rows->right - TMS_JUDGED_LEFT - GAP);
    fputc('\n', rows->out);
}

/* The left side while another thread is at work, `remark`: saying that the block is not protected.
 */
static size_t write_between(const struct rows *rows, bool remark)
{
    size_t column = TMS_JUDGED_LEFT + (rows->own_margin > 0 ? rows->own_margin - 1 : 0);

    tms_page_blank(rows->out, column);
    tms_page_ink(rows->judged->page, TMS_INK_FAINT);
    fputs("┊", rows->out);
    column += 1 + (remark ? (size_t)fprintf(rows->out, "  not protected") : 0);
    tms_page_ink(rows->judged->page, TMS_INK_PLAIN);
    return column;
}

static void write_foreign(struct rows *rows, const struct tms_turn *turn, bool remark)
{
    const struct tms_judged *judged = rows->judged;
    size_t column = write_between(rows, remark);
    size_t at = rows->right;

    tms_page_blank(rows->out, at - column);
    if (turn->thread != tms_judged_intruder(judged->judgement)) {
        tms_page_ink_thread(judged->page, turn->thread);
        at += tms_judged_thread(judged->page, rows->out, turn->thread) + 2;
        fputs(": ", rows->out);
        tms_page_ink(judged->page, TMS_INK_PLAIN);
    }
    write_cell(rows, turn, rows->other_margin,
               judged->page->width > at ? judged->page->width - at : 0);
    fputc('\n', rows->out);
}

static void write_omitted(struct rows *rows, size_t count)
{
    size_t column = write_between(rows, false);

    tms_page_blank(rows->out, rows->right - column);
    fprintf(rows->out, "… %zu more\n", count);
}

/* Is it the same event as the one before, as in a cycle of two that meet in it? */
static bool is_repeated(const struct tms_judgement *judgement, size_t index)
{
    return index > 0 && judgement->foreign[index].event == judgement->foreign[index - 1].event;
}

/* All of them, or the first few and the last, which is what the second step meets. */
static void write_foreigners(struct rows *rows, bool verbose)
{
    const struct tms_judgement *judgement = rows->judged->judgement;
    size_t count = 0, at = 0, last = 0;

    for (size_t i = 0; i < judgement->foreign_count; i++) {
        count += !is_repeated(judgement, i);
        last = !is_repeated(judgement, i) ? i : last;
    }
    bool all = verbose || count <= FOREIGN_MOST;
    for (size_t i = 0; i < judgement->foreign_count; i++) {
        if (is_repeated(judgement, i)) {
            continue;
        }
        if (all || at < FOREIGN_MOST - 2 || i == last) {
            bool middle = at == 1 || count == 1; /* of the rows between the block's own steps */
            write_foreign(rows, &judgement->foreign[i], middle);
        } else if (at == FOREIGN_MOST - 2) {
            write_omitted(rows, count - (FOREIGN_MOST - 1));
        }
        at++;
    }
}

/* The second step, and what it does to the other thread. */
static void write_last(const struct rows *rows, const struct tms_turn *turn)
{
    const struct tms_judged *judged = rows->judged;
    bool bad = judged->judgement->level == TMS_LEVEL_ERROR;

    tms_page_blank(rows->out, TMS_JUDGED_LEFT - 2);
    tms_page_ink(judged->page, bad ? TMS_INK_BAD : TMS_INK_DOUBT);
    fputs("▶ ", rows->out);
    tms_page_ink(judged->page, TMS_INK_PLAIN);
    size_t column = TMS_JUDGED_LEFT +
                    write_cell(rows, turn, rows->own_margin, rows->right - TMS_JUDGED_LEFT - GAP);
    tms_page_blank(rows->out, rows->right > column ? rows->right - column : 1);
    column = rows->right > column ? rows->right : column + 1;
    tms_judged_phrase(judged, tms_page_note(judged->page),
                      tms_pattern_words(judged->judgement->pattern)->remark);
    tms_page_ink(judged->page, TMS_INK_MARK);
    fputs("← ", rows->out);
    tms_page_put(judged->page,
                 judged->page->width > column + 3 ? judged->page->width - column - 2 : 1);
    tms_page_ink(judged->page, TMS_INK_PLAIN);
    fputc('\n', rows->out);
}

static void write_header(const struct rows *rows)
{
    const struct tms_judged *judged = rows->judged;
    const struct tms_transaction *own = &judged->finding->transaction;
    const struct tms_transaction *other = &judged->judgement->culprit;
    size_t room = rows->right - TMS_JUDGED_LEFT - GAP, column = TMS_JUDGED_LEFT;

    tms_page_blank(rows->out, TMS_JUDGED_LEFT);
    tms_page_ink_thread(judged->page, own->thread);
    column += tms_judged_thread(judged->page, rows->out, own->thread) + 1;
    fputc(' ', rows->out);
    column += tms_judged_block(judged->page, rows->out, own, TMS_JUDGED_LEFT + room - column);
    tms_page_ink(judged->page, TMS_INK_PLAIN);
    tms_page_blank(rows->out, rows->right > column ? rows->right - column : 1);
    uint32_t intruder = tms_judged_intruder(judged->judgement);
    tms_page_ink_thread(judged->page, intruder);
    column = rows->right + tms_judged_thread(judged->page, rows->out, intruder) + 1;
    fputc(' ', rows->out);
    if (other->unary || other->thread != intruder) {
        fputs("(outside any block)", rows->out);
    } else {
        tms_judged_block(judged->page, rows->out, other,
                         judged->page->width > column + 8 ? judged->page->width - column : 8);
    }
    tms_page_ink(judged->page, TMS_INK_PLAIN);
    fputc('\n', rows->out);
}

/* ---- layout ------------------------------------------------------------------------------ */

static void measure(struct rows *rows)
{
    const struct tms_judgement *judgement = rows->judged->judgement;
    size_t half = TMS_JUDGED_LEFT + (rows->judged->page->width - TMS_JUDGED_LEFT) / 2 + 1;

    rows->right = half < RIGHT_MOST ? half : RIGHT_MOST;
    for (size_t i = 0; i < judgement->own_count; i++) {
        size_t width = line_width(rows->judged, &judgement->own[i]);
        rows->own_margin = width > rows->own_margin ? width : rows->own_margin;
    }
    if (judgement->given_up.event != 0) {
        size_t width = line_width(rows->judged, &judgement->given_up);
        rows->own_margin = width > rows->own_margin ? width : rows->own_margin;
    }
    for (size_t i = 0; i < judgement->foreign_count; i++) {
        size_t width = line_width(rows->judged, &judgement->foreign[i]);
        rows->other_margin = width > rows->other_margin ? width : rows->other_margin;
    }
}

void tms_judged_interleaving(const struct tms_judged *judged, bool verbose)
{
    const struct tms_judgement *judgement = judged->judgement;
    struct rows rows = {.judged = judged, .out = judged->page->out};

    if (judgement->own_count == 0) {
        return;
    }
    measure(&rows);
    write_header(&rows);
    for (size_t i = 0; i + 1 < judgement->own_count; i++) {
        write_own(&rows, &judgement->own[i]);
    }
    if (judgement->lock != 0 && judgement->given_up.event != 0) {
        write_own(&rows, &judgement->given_up);
    }
    write_foreigners(&rows, verbose);
    write_last(&rows, &judgement->own[judgement->own_count - 1]);
    fputc('\n', rows.out);
}
