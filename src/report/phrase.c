/* SPDX-License-Identifier: Apache-2.0 */
/* Words for transactions and steps; see phrase.h. */
#include "report/phrase.h"

#include <inttypes.h>
#include <string.h>

#define NAMED_MOST 5 /* transactions in a headline, or blocks */

/* What a thread did to the thing it met the other one on, or would do to it. */
static const char *verb(enum tms_event_kind kind, bool happened)
{
    static const char *const verbs[TMS_EVENT_COUNT][2] = {
        [TMS_EVENT_READ] = {"reads", "read"},
        [TMS_EVENT_WRITE] = {"writes", "wrote"},
        [TMS_EVENT_UPDATE] = {"updates", "updated"},
        [TMS_EVENT_ACQUIRE] = {"acquires", "acquired"},
        [TMS_EVENT_RELEASE] = {"releases", "released"},
        [TMS_EVENT_SHARED_ACQUIRE] = {"acquires the read side of", "acquired the read side of"},
        [TMS_EVENT_SHARED_RELEASE] = {"releases the read side of", "released the read side of"},
        [TMS_EVENT_ARRIVE] = {"arrives at", "arrived at"},
        [TMS_EVENT_DEPART] = {"leaves", "left"},
        [TMS_EVENT_ATOMIC_READ] = {"atomically reads", "atomically read"},
        [TMS_EVENT_ATOMIC_WRITE] = {"atomically writes", "atomically wrote"},
        [TMS_EVENT_ATOMIC_UPDATE] = {"atomically updates", "atomically updated"},
    };

    if (kind >= TMS_EVENT_COUNT || verbs[kind][0] == NULL) {
        return happened ? "used" : "uses";
    }
    return verbs[kind][happened];
}

bool tms_same_transaction(const struct tms_transaction *a, const struct tms_transaction *b)
{
    return a->thread == b->thread && a->begin_event == b->begin_event;
}

const char *tms_step_letter(size_t index, char buffer[TMS_LETTER_SIZE])
{
    char letter = (char)('a' + index % 26);

    if (index < 26) {
        snprintf(buffer, TMS_LETTER_SIZE, "%c", letter);
    } else {
        snprintf(buffer, TMS_LETTER_SIZE, "%c%zu", letter, index / 26 + 1);
    }
    return buffer;
}

/* Is there another transaction in the cycle that would be called the same? */
static bool has_namesake(const struct tms_finding *finding,
                         const struct tms_transaction *transaction)
{
    for (size_t i = 0; i < finding->cycle_length; i++) {
        const struct tms_transaction *other = &finding->cycle[i].from;
        if (other->thread == transaction->thread && other->label == transaction->label &&
            !other->unary && !tms_same_transaction(other, transaction)) {
            return true;
        }
    }
    return false;
}

void tms_phrase_thing(const struct tms_page *page, FILE *out, enum tms_class cls, uint32_t id)
{
    char number[TMS_NUMBER_SIZE];
    const char *name = tms_name(page->names, cls, id, number);

    if (name[strspn(name, "0123456789")] == '\0') {
        fprintf(out, "%s ", tms_class_text(cls));
    }
    tms_page_name(page, out, cls, id, SIZE_MAX);
}

static void phrase_thread(const struct tms_page *page, FILE *out, uint32_t id)
{
    tms_phrase_thing(page, out, TMS_CLASS_THREAD, id);
}

void tms_phrase_transaction(const struct tms_page *page, FILE *out,
                            const struct tms_finding *finding,
                            const struct tms_transaction *transaction)
{
    phrase_thread(page, out, transaction->thread);
    if (transaction->unary) {
        fprintf(out, "'s event %" PRIu64 " (outside any block)", transaction->begin_event);
        return;
    }
    if (transaction->label == 0) {
        fprintf(out, "'s block begun at event %" PRIu64, transaction->begin_event);
        return;
    }
    fputs("'s ", out);
    tms_page_name(page, out, TMS_CLASS_LABEL, transaction->label, SIZE_MAX);
    if (has_namesake(finding, transaction)) {
        fprintf(out, " begun at event %" PRIu64, transaction->begin_event);
    }
}

/* A conflict: both did something to one thing. */
static void phrase_conflict(const struct tms_page *page, FILE *out, const struct tms_step *step,
                            bool happened)
{
    enum tms_class cls = (enum tms_class)step->on_class;

    phrase_thread(page, out, step->from.thread);
    fprintf(out, " %s ", verb((enum tms_event_kind)step->first_kind, happened));
    tms_phrase_thing(page, out, cls, step->on);
    fprintf(out, " (event %" PRIu64 ") before ", step->first_event);
    phrase_thread(page, out, step->to.thread);
    fprintf(out, " %s it (event %" PRIu64 ")",
            verb((enum tms_event_kind)step->second_kind, happened), step->second_event);
}

static void phrase_fork(const struct tms_page *page, FILE *out, const struct tms_step *step)
{
    phrase_thread(page, out, step->from.thread);
    fputs(" started ", out);
    phrase_thread(page, out, step->to.thread);
    fprintf(out, " (event %" PRIu64 "), so everything ", step->first_event);
    phrase_thread(page, out, step->to.thread);
    fprintf(out, " did came later (event %" PRIu64 ")", step->second_event);
}

static void phrase_join(const struct tms_page *page, FILE *out, const struct tms_step *step)
{
    phrase_thread(page, out, step->to.thread);
    fputs(" waited for the end of ", out);
    phrase_thread(page, out, step->from.thread);
    fprintf(out, " (event %" PRIu64 "), so everything ", step->second_event);
    phrase_thread(page, out, step->from.thread);
    fprintf(out, " did came earlier (event %" PRIu64 ")", step->first_event);
}

/* Without its thread, which has been named; `article` is for a block without label. */
static void phrase_block(const struct tms_page *page, FILE *out,
                         const struct tms_transaction *transaction, const char *article)
{
    if (transaction->unary) {
        fputs("something outside any block", out);
    } else if (transaction->label == 0) {
        fprintf(out, "%s block", article);
    } else {
        tms_page_name(page, out, TMS_CLASS_LABEL, transaction->label, SIZE_MAX);
    }
}

/* Of one thread; or, as `blocks` has it, of two that a fork, join or barrier keeps in order. */
static void phrase_program_order(const struct tms_page *page, FILE *out,
                                 const struct tms_step *step)
{
    bool same = step->from.thread == step->to.thread;

    phrase_thread(page, out, step->from.thread);
    fputs(" ran ", out);
    phrase_block(page, out, &step->from, "a");
    fprintf(out, " (event %" PRIu64 ") before ", step->first_event);
    if (!same) {
        phrase_thread(page, out, step->to.thread);
        fputs(" ran ", out);
    }
    phrase_block(page, out, &step->to, same ? "another" : "a");
    fprintf(out, " (event %" PRIu64 "): %s, so in that order", step->second_event,
            same ? "the same thread" : "a thread starts, ends or passes a barrier in between");
}

void tms_phrase_step(const struct tms_page *page, FILE *out, const struct tms_step *step,
                     bool happened)
{
    switch ((enum tms_edge_kind)step->kind) {
    case TMS_EDGE_FORK:
        phrase_fork(page, out, step);
        break;
    case TMS_EDGE_JOIN:
        phrase_join(page, out, step);
        break;
    case TMS_EDGE_PROGRAM_ORDER:
        phrase_program_order(page, out, step);
        break;
    default:
        phrase_conflict(page, out, step, happened);
    }
}

/* The other transactions of the cycle: "B's deposit and C's transfer", "…, and 7 more". */
void tms_phrase_others(const struct tms_page *page, FILE *out, const struct tms_finding *finding)
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
void tms_phrase_refuted(const struct tms_page *page, FILE *out, const struct tms_finding *finding)
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
