/* SPDX-License-Identifier: Apache-2.0 */
/* The words of judged findings; see judged_phrase.h. */
#include "report/judged_phrase.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/display_name.h"
#include "report/pattern_words.h"

#define NAME_MOST   34 /* characters of a name in a sentence, unless judged->wide */
#define WIDE_MOST   120
#define THREAD_MOST 20
#define PATH_MOST   32

/* ---- places ------------------------------------------------------------------------------ */

/* The line of the block's own function, else the one of the event. */
static struct tms_place place_of_step(const struct tms_judged *judged, size_t index)
{
    uint32_t label = judged->finding->transaction.label;
    struct tms_place place = {0};

    if (index < judged->judgement->own_count &&
        !tms_place_in_block(judged->page, &judged->judgement->own[index], label, &place)) {
        place = tms_place_of_event(judged->page, &judged->judgement->own[index], label);
    }
    return place;
}

/* Where the block begins; its first step, if compilers have not left a line for that. */
static struct tms_place place_of_block(const struct tms_judged *judged)
{
    uint32_t location = judged->finding->transaction.location;
    struct tms_place place = judged->first;

    if (location != 0) {
        place = tms_place_of_location(judged->page, location);
    }
    return place.line == 0 && judged->first.line != 0 ? judged->first : place;
}

/* The last component after the first that names an object, such as balance of account.balance. */
static const char *field_of(const char *name)
{
    const char *field = strrchr(name, '.');

    if (field == NULL || field == name || strpbrk(name, "<(/ #") != NULL ||
        strchr(name, ':') != NULL) {
        return name;
    }
    for (const char *at = field + 1; *at != '\0'; at++) {
        if (!isalnum((unsigned char)*at) && *at != '_') {
            return name;
        }
    }
    return isalpha((unsigned char)field[1]) || field[1] == '_' ? field + 1 : name;
}

/*
 * A heap block by its type and number, if it has a type: "account#2.lock" of
 * "heap:new_account:account#2.lock". The number makes it unique, whichever function allocated it.
 */
static const char *object_of(const char *name)
{
    static const char heap[] = "heap:";
    const char *number = strchr(name, '#'), *found = name;

    if (strncmp(name, heap, sizeof(heap) - 1) != 0 || number == NULL) {
        return name;
    }
    for (const char *at = name + sizeof(heap) - 1; at + 1 < number; at++) {
        if (*at == ':' && at[1] != ':' && at[-1] != ':') {
            found = at + 1;
        }
    }
    return found;
}

void tms_judged_start(struct tms_judged *judged, struct tms_page *page,
                      const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;

    *judged = (struct tms_judged){.page = page, .finding = finding, .judgement = judgement};
    judged->first = place_of_step(judged, 0);
    judged->last = place_of_step(judged, judgement->own_count > 0 ? judgement->own_count - 1 : 0);
    judged->block = place_of_block(judged);
    if (judgement->other != 0) {
        const char *one = tms_name(page->names, TMS_CLASS_VARIABLE, judgement->variable, NULL);
        const char *two = tms_name(page->names, TMS_CLASS_VARIABLE, judgement->other, NULL);
        judged->full = strcmp(field_of(one), field_of(two)) == 0;
    }
}

bool tms_judged_unseen(const struct tms_finding *finding)
{
    return finding->evidence != TMS_EVIDENCE_OBSERVED;
}

uint32_t tms_judged_intruder(const struct tms_judgement *judgement)
{
    return judgement->foreign_count > 0 ? judgement->foreign[0].thread : judgement->culprit.thread;
}

/* ---- names ------------------------------------------------------------------------------- */

static bool is_number(const char *name)
{
    return name[strspn(name, "0123456789")] == '\0';
}

static size_t write_thing(const struct tms_page *page, FILE *out, enum tms_class cls, uint32_t id,
                          size_t most)
{
    const char *name = tms_name(page->names, cls, id, NULL);
    size_t width = 0;

    if (is_number(name)) {
        width = (size_t)fprintf(out, "%s ", tms_class_text(cls));
    }
    return width + tms_display_name(out, name, most);
}

/* A variable or lock; in brief if it has been mentioned before, or is too long otherwise. */
static void write_mentioned(const struct tms_judged *judged, FILE *out, enum tms_class cls,
                            uint32_t id, bool brief)
{
    const char *name = tms_name(judged->page->names, cls, id, NULL);
    size_t most = judged->wide ? WIDE_MOST : NAME_MOST;

    if (object_of(name) != name && (brief || tms_utf8_width(name) > most)) {
        tms_display_name(out, object_of(name), most);
    } else {
        write_thing(judged->page, out, cls, id, most);
    }
}

/* A variable of the judgement; `again`: the sentence is not the headline, which has it in full. */
static void write_variable(const struct tms_judged *judged, FILE *out, uint32_t variable,
                           bool again)
{
    const char *name = tms_name(judged->page->names, TMS_CLASS_VARIABLE, variable, NULL);

    if (again && !judged->full && field_of(name) != name) {
        tms_display_name(out, field_of(name), judged->wide ? WIDE_MOST : NAME_MOST);
    } else {
        write_mentioned(judged, out, TMS_CLASS_VARIABLE, variable, again);
    }
}

size_t tms_judged_thread(const struct tms_page *page, FILE *out, uint32_t thread)
{
    return write_thing(page, out, TMS_CLASS_THREAD, thread, THREAD_MOST);
}

size_t tms_judged_variable(const struct tms_page *page, FILE *out, uint32_t variable, bool brief,
                           size_t most)
{
    const char *name = tms_name(page->names, TMS_CLASS_VARIABLE, variable, NULL);

    return brief && field_of(name) != name
               ? tms_display_name(out, field_of(name), most)
               : write_thing(page, out, TMS_CLASS_VARIABLE, variable, most);
}

/* Is it a name to which parentheses can be added? */
static bool is_callable(const char *label)
{
    size_t length = strlen(label);

    return !is_number(label) && strpbrk(label, " #'\"") == NULL && label[length - 1] != ')' &&
           tms_utf8_width(label) == length;
}

static size_t write_unlabelled(const struct tms_page *page, FILE *out,
                               const struct tms_transaction *block, size_t most)
{
    size_t width = (size_t)fprintf(out, block->location != 0 ? "a block at " : "a block");

    if (block->location >= TMS_LOCATION_NUMBER) {
        width += (size_t)fprintf(out, "location ");
    }
    if (block->location != 0) {
        width += tms_page_name(page, out, TMS_CLASS_LOCATION, block->location,
                               most > width + 8 ? most - width : 8);
    }
    return width;
}

size_t tms_judged_block(const struct tms_page *page, FILE *out, const struct tms_transaction *block,
                        size_t most)
{
    const char *label = tms_name(page->names, TMS_CLASS_LABEL, block->label, NULL);

    if (*label == '\0') {
        return write_unlabelled(page, out, block, most);
    }
    if (!is_callable(label)) {
        return write_thing(page, out, TMS_CLASS_LABEL, block->label, most);
    }
    size_t width = tms_display_name(out, label, most > 8 ? most - 2 : 6);
    fputs("()", out);
    return width + 2;
}

void tms_judged_line(const struct tms_judged *judged, FILE *out, const struct tms_place *place)
{
    if (place->bare) {
        fprintf(out, "location %u", place->line);
    } else if (place->line != 0 && tms_same_file(place, &judged->block)) {
        fprintf(out, "line %u", place->line);
    } else {
        tms_page_path(judged->page, out, place->file.at, place->file.length, PATH_MOST);
        if (place->line != 0) {
            fprintf(out, ":%u", place->line);
        }
    }
}

void tms_write_number(FILE *out, uint64_t number)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);

    for (int i = 0; i < length; i++) {
        fputc(digits[i], out);
        if (i + 1 < length && (length - i - 1) % 3 == 0) {
            fputc(',', out);
        }
    }
}

/* ---- templates --------------------------------------------------------------------------- */

static bool is_known(const struct tms_place *place)
{
    return place->line != 0 || place->file.length > 0;
}

/* "from line 40 to line 42" */
static void write_range(const struct tms_judged *judged, FILE *out)
{
    const struct tms_place *first = &judged->first, *last = &judged->last;

    if (!is_known(first) || !is_known(last)) {
        fputs("from the first step to the second", out);
    } else if (first->line == last->line && tms_same_file(first, last)) {
        fputs("throughout ", out);
        tms_judged_line(judged, out, first);
    } else {
        fputs("from ", out);
        tms_judged_line(judged, out, first);
        fputs(" to ", out);
        tms_judged_line(judged, out, last);
    }
}

static void write_placeholder(const struct tms_judged *judged, FILE *out, char letter)
{
    const struct tms_page *page = judged->page;
    const struct tms_judgement *judgement = judged->judgement;

    switch (letter) {
    case 'X':
    case 'x':
        write_variable(judged, out, judgement->variable, letter == 'x');
        break;
    case 'Y':
    case 'y':
        write_variable(judged, out, judgement->other != 0 ? judgement->other : judgement->variable,
                       letter == 'y');
        break;
    case 'T':
        tms_judged_thread(page, out, judged->finding->transaction.thread);
        break;
    case 'U':
        tms_judged_thread(page, out, tms_judged_intruder(judgement));
        break;
    case 'L':
        write_mentioned(judged, out, TMS_CLASS_LOCK, judgement->lock, true);
        break;
    default:
        write_range(judged, out);
    }
}

void tms_judged_phrase(const struct tms_judged *judged, FILE *out, const char *words)
{
    for (size_t part; *words != '\0'; words += part) {
        part = strcspn(words, "@");
        fwrite(words, 1, part, out);
        if (words[part] == '@') {
            write_placeholder(judged, out, words[part + 1]);
            part += 2;
        }
    }
}
