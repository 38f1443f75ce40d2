/* SPDX-License-Identifier: Apache-2.0 */
/* Words for transactions and steps; see phrase.h. */
#include "report/phrase.h"

#include <inttypes.h>
#include <string.h>

/* What a thread did to the thing it met the other one on. */
static const char *verb(enum tms_event_kind kind)
{
    static const char *const verbs[TMS_EVENT_COUNT] = {
        [TMS_EVENT_READ] = "read",
        [TMS_EVENT_WRITE] = "wrote",
        [TMS_EVENT_UPDATE] = "updated",
        [TMS_EVENT_ACQUIRE] = "acquired",
        [TMS_EVENT_RELEASE] = "released",
        [TMS_EVENT_SHARED_ACQUIRE] = "acquired the read side of",
        [TMS_EVENT_SHARED_RELEASE] = "released the read side of",
        [TMS_EVENT_ARRIVE] = "arrived at",
        [TMS_EVENT_DEPART] = "left",
    };

    return kind < TMS_EVENT_COUNT && verbs[kind] != NULL ? verbs[kind] : "used";
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
static void phrase_conflict(const struct tms_page *page, FILE *out, const struct tms_step *step)
{
    enum tms_class cls = (enum tms_class)step->on_class;

    phrase_thread(page, out, step->from.thread);
    fprintf(out, " %s ", verb((enum tms_event_kind)step->first_kind));
    tms_phrase_thing(page, out, cls, step->on);
    fprintf(out, " (event %" PRIu64 ") before ", step->first_event);
    phrase_thread(page, out, step->to.thread);
    fprintf(out, " %s it (event %" PRIu64 ")", verb((enum tms_event_kind)step->second_kind),
            step->second_event);
}

static void phrase_fork(const struct tms_page *page, FILE *out, const struct tms_step *step)
{
    phrase_thread(page, out, step->from.thread);
    fputs(" started ", out);
    phrase_thread(page, out, step->to.thread);
    fprintf(out, " (event %" PRIu64 "), so all that ", step->first_event);
    phrase_thread(page, out, step->to.thread);
    fprintf(out, " did came later (event %" PRIu64 ")", step->second_event);
}

static void phrase_join(const struct tms_page *page, FILE *out, const struct tms_step *step)
{
    phrase_thread(page, out, step->to.thread);
    fputs(" waited for the end of ", out);
    phrase_thread(page, out, step->from.thread);
    fprintf(out, " (event %" PRIu64 "), so all that ", step->second_event);
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

static void phrase_program_order(const struct tms_page *page, FILE *out,
                                 const struct tms_step *step)
{
    phrase_thread(page, out, step->from.thread);
    fputs(" ran ", out);
    phrase_block(page, out, &step->from, "a");
    fprintf(out, " (event %" PRIu64 ") before ", step->first_event);
    phrase_block(page, out, &step->to, "another");
    fprintf(out, " (event %" PRIu64 "): the same thread, so in that order", step->second_event);
}

void tms_phrase_step(const struct tms_page *page, FILE *out, const struct tms_step *step)
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
        phrase_conflict(page, out, step);
    }
}
