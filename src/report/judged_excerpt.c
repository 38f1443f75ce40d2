/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines of a block that was cut; see judged_excerpt.h. */
#include "report/judged_excerpt.h"

#include <string.h>

#include "base/utf8.h"
#include "report/judged_interleaving.h"
#include "report/pattern_words.h"

#define REMARK_LEAST 26 /* columns that a source line leaves for its remark */
#define RULE         " │     "
#define RULE_WIDTH   7 /* columns */

struct source_line {
    struct tms_place place;
    const char *remark;
};

/* Is the lock given up in something that is called from the line of the first step? */
static bool releases_inside(const struct tms_judged *judged)
{
    const struct tms_judgement *judgement = judged->judgement;
    struct tms_place release;

    return judgement->lock != 0 && judgement->given_up.event != 0 &&
           tms_place_in_block(judged->page, &judgement->given_up,
                              judged->finding->transaction.label, &release) &&
           release.called && release.line == judged->first.line;
}

/* What is done on the line of a step: with the lock, if all that is in a function called there. */
static const char *remark_of(const struct tms_judged *judged, bool second)
{
    static const char *const remarks[TMS_EVENT_COUNT] = {[TMS_EVENT_READ] = "read here",
                                                         [TMS_EVENT_WRITE] = "written here",
                                                         [TMS_EVENT_UPDATE] = "updated here"};
    const struct tms_judgement *judgement = judged->judgement;
    const struct tms_turn *turn = &judgement->own[second ? judgement->own_count - 1 : 0];
    bool called = (second ? &judged->last : &judged->first)->called;
    bool lock = tms_event_class((enum tms_event_kind)turn->kind) == TMS_CLASS_LOCK;

    if (lock || (called && releases_inside(judged))) {
        bool again = second && (!lock || turn->target == judgement->own[0].target);
        return again ? "taken again" : called && !second ? "lock taken and released" : "lock taken";
    }
    return remarks[turn->kind] != NULL ? remarks[turn->kind] : "";
}

static size_t add_line(struct source_line *lines, size_t count, const struct tms_place *place,
                       const char *remark)
{
    for (size_t i = 0; i < count; i++) {
        if (lines[i].place.line == place->line && tms_same_file(&lines[i].place, place)) {
            return count;
        }
    }
    lines[count] = (struct source_line){*place, remark};
    return place->source.length > 0 ? count + 1 : count;
}

/* Up to three: the first step, where the lock is given up, and the second. */
static size_t collect_lines(const struct tms_judged *judged, struct source_line lines[3])
{
    const struct tms_judgement *judgement = judged->judgement;
    struct tms_place place;
    size_t count = add_line(lines, 0, &judged->first, remark_of(judged, false));

    if (judgement->lock != 0 && judgement->given_up.event != 0 &&
        tms_place_in_block(judged->page, &judgement->given_up, judged->finding->transaction.label,
                           &place)) {
        count = add_line(lines, count, &place, "lock released");
    }
    return add_line(lines, count, &judged->last, remark_of(judged, true));
}

static struct tms_stack_text trim(struct tms_stack_text text)
{
    while (text.length > 0 && (*text.at == ' ' || *text.at == '\t')) {
        text.at++;
        text.length--;
    }
    while (text.length > 0 && text.at[text.length - 1] == ' ') {
        text.length--;
    }
    return text;
}

/* Its text, or as much as fits; returns the width. */
static size_t write_source(FILE *out, struct tms_stack_text source, size_t most)
{
    char copy[512];

    source = trim(source);
    size_t length = source.length < sizeof(copy) ? source.length : sizeof(copy) - 1;
    memcpy(copy, source.at, length);
    copy[length] = '\0';
    return tms_utf8_write(out, copy, most);
}

void tms_judged_excerpt(const struct tms_judged *judged)
{
    struct tms_page *page = judged->page;
    struct source_line lines[3];
    size_t count = judged->judgement->own_count > 0 ? collect_lines(judged, lines) : 0;
    size_t margin = 0, widest = 0;

    for (size_t i = 0; i < count; i++) {
        size_t width = (size_t)snprintf(NULL, 0, "%u", lines[i].place.line);
        margin = width > margin ? width : margin;
    }
    size_t before = TMS_JUDGED_LEFT + margin + RULE_WIDTH;
    size_t most =
        page->width > before + REMARK_LEAST + 10 ? page->width - before - REMARK_LEAST : 10;
    for (size_t i = 0; i < count; i++) {
        size_t width = write_source(tms_page_note(page), lines[i].place.source, most);
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < count; i++) {
        tms_page_blank(page->out, TMS_JUDGED_LEFT);
        tms_page_ink(page, TMS_INK_FAINT);
        fprintf(page->out, "%*u" RULE, (int)margin, lines[i].place.line);
        tms_page_ink(page, TMS_INK_PLAIN);
        size_t width = write_source(page->out, lines[i].place.source, most);
        if (*lines[i].remark != '\0') {
            tms_page_ink(page, TMS_INK_MARK);
            fprintf(page->out, "%*s%s", (int)(widest - width) + 3, "", lines[i].remark);
            tms_page_ink(page, TMS_INK_PLAIN);
        }
        fputc('\n', page->out);
    }
    if (count > 0) {
        fputc('\n', page->out);
    }
}
