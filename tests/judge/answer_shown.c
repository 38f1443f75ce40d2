/* SPDX-License-Identifier: Apache-2.0 */
/* The events that a finding shows, and the blocks and the lock around them; see answer.h. */
#include <inttypes.h>
#include <stdarg.h>

#include "judge/answer.h"
#include "judge/cycle.h"

#define MOST_FAULT   400
#define MOST_FOREIGN 640

static char fault_text[MOST_FAULT];

const char *answer_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fault_text, sizeof(fault_text), format, arguments);
    va_end(arguments);
    return fault_text;
}

/* The first of its patterns that has the level of the finding: the one that is shown. */
static enum tms_pattern shown_pattern(const struct naive_finding *finding)
{
    unsigned pattern = 0;

    while ((finding->patterns >> pattern & 1) == 0 || finding->levels[pattern] < finding->level) {
        pattern++;
    }
    return (enum tms_pattern)pattern;
}

/* The event that closes the first occurrence of the pattern with the level of the finding. */
static size_t first_closed(const struct naive *naive, size_t finding, enum tms_pattern pattern)
{
    size_t first = NAIVE_NONE;

    for (size_t i = 0; i < naive->occurrence_count; i++) {
        const struct naive_occurrence *occurrence = &naive->occurrences[i];
        if (occurrence->finding == finding && occurrence->pattern == pattern &&
            occurrence->level == naive->findings[finding].levels[pattern] &&
            occurrence->own[1] < first) {
            first = occurrence->own[1];
        }
    }
    return first;
}

static const char *shown_cycle_fault(const struct naive *naive, const struct tms_finding *finding)
{
    static uint64_t foreign[MOST_FOREIGN];
    const struct tms_judgement *judgement = finding->judgement;

    for (size_t i = 0; i < judgement->foreign_count && i < MOST_FOREIGN; i++) {
        foreign[i] = judgement->foreign[i].event;
    }
    struct cycle cycle = {.begin = finding->transaction.begin_event,
                          .own = {judgement->own[0].event, judgement->own[1].event},
                          .foreign = foreign,
                          .foreign_count = judgement->foreign_count,
                          .pair = judgement->other != 0};
    return cycle_fault(naive->events, naive->count, &cycle);
}

/* ---- the events shown -------------------------------------------------------------------- */

static const char *turn_fault(const struct naive *naive, const struct tms_turn *turn)
{
    if (turn->event == 0 || turn->event > naive->count) {
        return answer_say("event %" PRIu64 " is not in the trace", turn->event);
    }
    const struct tms_event *event = &naive->events[turn->event - 1];
    bool same = turn->thread == event->thread && turn->target == event->target &&
                turn->location == event->location && turn->kind == event->kind;
    return same ? NULL : answer_say("event %" PRIu64 " is another one", turn->event);
}

static const char *turns_fault(const struct naive *naive, const struct tms_judgement *judgement)
{
    const char *wrong = judgement->own_count == 2 && judgement->foreign_count > 0
                            ? NULL
                            : "not two own steps, or none that is foreign";

    for (size_t i = 0; wrong == NULL && i < judgement->own_count; i++) {
        wrong = turn_fault(naive, &judgement->own[i]);
    }
    for (size_t i = 0; wrong == NULL && i < judgement->foreign_count; i++) {
        wrong = turn_fault(naive, &judgement->foreign[i]);
    }
    return wrong;
}

/* Do the foreign events shown belong to the occurrence? */
static bool has_foreign(const struct naive *naive, const struct naive_occurrence *occurrence,
                        const struct tms_judgement *judgement)
{
    if (occurrence->other != 0) {
        return judgement->foreign_count == 2 &&
               judgement->foreign[0].event == occurrence->foreign[0] + 1 &&
               judgement->foreign[1].event == occurrence->foreign[1] + 1;
    }
    for (size_t i = 0; i < judgement->foreign_count; i++) {
        size_t event = (size_t)judgement->foreign[i].event - 1;
        if (event <= occurrence->own[0] || event >= occurrence->until ||
            !naive_is_foreign(naive, event, naive->events[occurrence->own[0]].thread,
                              occurrence->variable)) {
            return false;
        }
    }
    return true;
}

static bool shows(const struct naive *naive, const struct naive_occurrence *occurrence,
                  const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;
    const struct naive_activation *activation = &naive->activations[occurrence->activation];

    return occurrence->pattern == judgement->pattern &&
           judgement->own[0].event == occurrence->own[0] + 1 &&
           judgement->own[1].event == occurrence->own[1] + 1 &&
           judgement->variable == occurrence->variable && judgement->other == occurrence->other &&
           finding->transaction.begin_event == activation->begin + 1 &&
           finding->transaction.thread == activation->thread &&
           finding->transaction.label == activation->label &&
           has_foreign(naive, occurrence, judgement);
}

/* ---- what is around them ----------------------------------------------------------------- */

/* The blocks around the named one that were open at both own steps, the innermost first. */
static const char *outer_fault(const struct naive *naive, const struct naive_occurrence *occurrence,
                               const struct tms_judgement *judgement)
{
    size_t met = 0;

    for (size_t i = occurrence->activation; i-- > 0;) {
        const struct naive_activation *outer = &naive->activations[i];
        if (outer->thread != naive->events[occurrence->own[0]].thread ||
            outer->end < occurrence->own[1]) {
            continue;
        }
        if (met == judgement->outer_count ||
            judgement->outer[met].begin_event != outer->begin + 1 ||
            judgement->outer[met].label != outer->label) {
            return answer_say("outer block %zu is not that of event %zu", met + 1,
                              outer->begin + 1);
        }
        met++;
    }
    return met == judgement->outer_count ? NULL : "there are not so many outer blocks";
}

/* Held at the first own step, and not without a break until the second. */
static bool gives_up(const struct naive *naive, const struct naive_occurrence *occurrence,
                     uint32_t lock)
{
    uint32_t thread = naive->events[occurrence->own[0]].thread;
    size_t first = naive_held_since(naive, thread, lock, occurrence->own[0]);

    return first != NAIVE_NONE &&
           naive_held_since(naive, thread, lock, occurrence->own[1]) != first;
}

/* Of the locks held at the first own step, the one acquired last; 0: none. */
static uint32_t last_lock(const struct naive *naive, size_t event)
{
    uint32_t last = 0;
    size_t latest = 0;

    for (uint32_t lock = 1; lock <= tms_name_count(naive->context, TMS_CLASS_LOCK); lock++) {
        size_t since = naive_held_since(naive, naive->events[event].thread, lock, event);
        if (since != NAIVE_NONE && since >= latest) {
            last = lock;
            latest = since;
        }
    }
    return last;
}

/* An update whose lock is released between its read and its write may say that there is none. */
static bool is_unsure(const struct naive *naive, const struct naive_occurrence *occurrence,
                      const struct tms_judgement *judgement)
{
    struct naive_step q = naive_step_of(naive, occurrence->own[1]);
    uint32_t lock = last_lock(naive, occurrence->own[0]);

    for (size_t k = q.first; judgement->lock == 0 && k < q.last; k++) {
        if (naive_is_release(&naive->events[k]) && naive->events[k].target == lock &&
            naive->events[k].thread == naive->events[q.first].thread) {
            return true;
        }
    }
    return false;
}

/* Is it the first release of its lock after the first own step? */
static bool is_first_release(const struct naive *naive, const struct tms_judgement *judgement)
{
    const struct tms_turn *release = &judgement->given_up;

    for (uint64_t k = judgement->own[0].event; k + 1 < release->event; k++) {
        const struct tms_event *event = &naive->events[k];
        if (naive_is_release(event) && !naive->facts[k].inner && event->target == release->target &&
            event->thread == judgement->own[0].thread) {
            return false;
        }
    }
    return true;
}

/* The release is one of the lock, the first one between the own steps. */
static const char *release_fault(const struct naive *naive, const struct tms_judgement *judgement)
{
    const struct tms_turn *release = &judgement->given_up;
    const char *wrong = turn_fault(naive, release);

    if (wrong != NULL ||
        (naive_is_release(&naive->events[release->event - 1]) &&
         release->target == judgement->lock && release->thread == judgement->own[0].thread &&
         release->event > judgement->own[0].event && release->event < judgement->own[1].event &&
         is_first_release(naive, judgement))) {
        return wrong;
    }
    return answer_say("event %" PRIu64 " does not give the lock up", release->event);
}

static const char *lock_fault(const struct naive *naive, const struct naive_occurrence *occurrence,
                              const struct tms_judgement *judgement)
{
    uint32_t lock = last_lock(naive, occurrence->own[0]);
    uint32_t expected = lock != 0 && gives_up(naive, occurrence, lock) ? lock : 0;

    if (judgement->lock != expected && !is_unsure(naive, occurrence, judgement)) {
        return answer_say("%s was given up, not %s",
                          tms_name(naive->context, TMS_CLASS_LOCK, expected, NULL),
                          tms_name(naive->context, TMS_CLASS_LOCK, judgement->lock, NULL));
    }
    return judgement->lock != 0 ? release_fault(naive, judgement) : NULL;
}

/* The culprit is the innermost block of the first foreign access. */
static const char *culprit_fault(const struct naive *naive, const struct tms_judgement *judgement)
{
    size_t first = (size_t)judgement->foreign[0].event - 1;
    size_t block = naive_innermost(naive, first, first);
    size_t begin = block != NAIVE_NONE ? naive->activations[block].begin : first;

    return judgement->culprit.unary == (block == NAIVE_NONE) &&
                   judgement->culprit.begin_event == begin + 1
               ? NULL
               : "the culprit is another block";
}

static const char *surroundings_fault(const struct naive *naive,
                                      const struct naive_occurrence *occurrence,
                                      const struct tms_finding *finding)
{
    const char *wrong = outer_fault(naive, occurrence, finding->judgement);

    wrong = wrong != NULL ? wrong : lock_fault(naive, occurrence, finding->judgement);
    return wrong != NULL ? wrong : culprit_fault(naive, finding->judgement);
}

const char *answer_shown_fault(const struct naive *naive, size_t at,
                               const struct tms_finding *finding)
{
    enum tms_pattern pattern = shown_pattern(&naive->findings[at]);
    size_t closed = first_closed(naive, at, pattern);
    const char *wrong = turns_fault(naive, finding->judgement);

    wrong = wrong == NULL ? shown_cycle_fault(naive, finding) : wrong;
    if (wrong != NULL) {
        return wrong;
    }
    for (size_t i = 0; i < naive->occurrence_count; i++) {
        const struct naive_occurrence *occurrence = &naive->occurrences[i];
        if (occurrence->finding == at && occurrence->own[1] == closed &&
            occurrence->level == naive->findings[at].levels[pattern] &&
            occurrence->pattern == pattern && shows(naive, occurrence, finding)) {
            return surroundings_fault(naive, occurrence, finding);
        }
    }
    const struct tms_judgement *judgement = finding->judgement;
    return answer_say("%s shows %s of events %" PRIu64 " and %" PRIu64 " in the block of %" PRIu64
                      ", foreign %" PRIu64 " to %" PRIu64 "; the first %s ends at %zu",
                      finding->id, tms_pattern_text(judgement->pattern), judgement->own[0].event,
                      judgement->own[1].event, finding->transaction.begin_event,
                      judgement->foreign[0].event,
                      judgement->foreign[judgement->foreign_count - 1].event,
                      tms_pattern_text(pattern), closed + 1);
}
