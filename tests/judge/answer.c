/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's findings against those of the second implementation; see answer.h. */
#include "judge/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "judge/cycle.h"

#define ID_DIGITS    6
#define ID_SIZE      32
#define MOST_FAULT   400
#define MOST_FOREIGN 640

static char fault_text[MOST_FAULT];

__attribute__((format(printf, 1, 2))) static const char *fault(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fault_text, sizeof(fault_text), format, arguments);
    va_end(arguments);
    return fault_text;
}

/* ---- what is expected -------------------------------------------------------------------- */

static const char *function_of(const struct naive *naive, const struct naive_finding *finding)
{
    return naive->blocks[finding->block].function;
}

static void id_of(const struct naive_finding *finding, char id[ID_SIZE])
{
    snprintf(id, ID_SIZE, "AV-%016" PRIx64, finding->hash);
}

/* The first of its patterns: the one that is shown. */
static enum tms_pattern first_pattern(unsigned patterns)
{
    unsigned pattern = 0;

    while ((patterns >> pattern & 1) == 0) {
        pattern++;
    }
    return (enum tms_pattern)pattern;
}

/*
 * The event that closes the first occurrence of the pattern, with the level that the pattern has in
 * the end.
 */
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

static void print_occurrence(const struct naive *naive, const struct naive_occurrence *occurrence,
                             FILE *to)
{
    fprintf(to, "#       %s, %s: %zu and %zu in the block of %zu",
            tms_pattern_text(occurrence->pattern), tms_level_text(occurrence->level),
            occurrence->own[0] + 1, occurrence->own[1] + 1,
            naive->activations[occurrence->activation].begin + 1);
    if (occurrence->other != 0) {
        fprintf(to, ", foreign %zu and %zu", occurrence->foreign[0] + 1,
                occurrence->foreign[1] + 1);
    }
    fprintf(to, "\n");
}

void answer_print(const struct naive *naive, FILE *to)
{
    for (size_t i = 0; i < naive->finding_count; i++) {
        const struct naive_finding *finding = &naive->findings[i];
        const struct naive_block *block = &naive->blocks[finding->block];
        char id[ID_SIZE];
        id_of(finding, id);
        fprintf(to, "#   %s %s %s%s%s: %s, cut in %" PRIu64 " of %" PRIu64 "%s%s\n", id,
                block->function, finding->objects[0], finding->objects[1][0] != '\0' ? " and " : "",
                finding->objects[1], tms_level_text(finding->level), finding->cut,
                block->executions, block->driver ? ", driver" : "",
                block->interleaved ? ", interleaved" : "");
        for (size_t k = 0; k < naive->occurrence_count; k++) {
            if (naive->occurrences[k].finding == i) {
                print_occurrence(naive, &naive->occurrences[k], to);
            }
        }
    }
}

/* ---- cycles ------------------------------------------------------------------------------ */

const char *answer_fault(const struct naive *naive)
{
    static uint64_t foreign[MOST_FOREIGN];

    for (size_t i = 0; i < naive->occurrence_count; i++) {
        const struct naive_occurrence *occurrence = &naive->occurrences[i];
        struct cycle cycle = {.begin = naive->activations[occurrence->activation].begin + 1,
                              .own = {occurrence->own[0] + 1, occurrence->own[1] + 1},
                              .foreign = foreign,
                              .pair = occurrence->other != 0};
        if (cycle.pair) {
            foreign[cycle.foreign_count++] = occurrence->foreign[0] + 1;
            foreign[cycle.foreign_count++] = occurrence->foreign[1] + 1;
        }
        for (size_t k = occurrence->own[0]; !cycle.pair && k < occurrence->until; k++) {
            if (naive_is_foreign(naive, k, naive->events[occurrence->own[0]].thread,
                                 occurrence->variable)) {
                foreign[cycle.foreign_count++] = k + 1;
            }
        }
        const char *wrong = cycle_fault(naive->events, naive->count, &cycle);
        if (wrong != NULL) {
            return fault("%s of %zu and %zu: %s", tms_pattern_text(occurrence->pattern),
                         occurrence->own[0] + 1, occurrence->own[1] + 1, wrong);
        }
    }
    return NULL;
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
        return fault("event %" PRIu64 " is not in the trace", turn->event);
    }
    const struct tms_event *event = &naive->events[turn->event - 1];
    bool same = turn->thread == event->thread && turn->target == event->target &&
                turn->location == event->location && turn->kind == event->kind;
    return same ? NULL : fault("event %" PRIu64 " is another one", turn->event);
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

static const char *shown_fault(const struct naive *naive, size_t at,
                               const struct tms_finding *finding)
{
    enum tms_pattern pattern = first_pattern(naive->findings[at].patterns);
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
            return NULL;
        }
    }
    const struct tms_judgement *judgement = finding->judgement;
    return fault("%s shows %s of events %" PRIu64 " and %" PRIu64 " in the block of %" PRIu64
                 ", foreign %" PRIu64 " to %" PRIu64 "; the first %s ends at %zu",
                 finding->id, tms_pattern_text(judgement->pattern), judgement->own[0].event,
                 judgement->own[1].event, finding->transaction.begin_event,
                 judgement->foreign[0].event,
                 judgement->foreign[judgement->foreign_count - 1].event, tms_pattern_text(pattern),
                 closed + 1);
}

/* ---- findings ---------------------------------------------------------------------------- */

/* More digits than six have those only that would be taken for others. */
static bool is_id_of(const struct naive *naive, size_t at, const char *id)
{
    char full[ID_SIZE], other[ID_SIZE];
    size_t length = strlen(id);
    bool alike = false;

    id_of(&naive->findings[at], full);
    for (size_t i = 0; i < naive->finding_count; i++) {
        id_of(&naive->findings[i], other);
        alike = alike || (i != at && strncmp(other, full, 3 + ID_DIGITS) == 0);
    }
    return strncmp(id, full, length) == 0 &&
           (alike ? length > 3 + ID_DIGITS : length == 3 + ID_DIGITS);
}

static bool same_object(const struct naive *naive, uint32_t variable, const char *object)
{
    char expected[NAIVE_TEXT];

    naive_object(tms_name(naive->context, TMS_CLASS_VARIABLE, variable, NULL), expected,
                 sizeof(expected));
    return object != NULL && strcmp(object, expected) == 0;
}

static bool same_objects(const struct naive *naive, const struct naive_finding *expected,
                         const struct tms_judgement *judgement)
{
    bool pair = expected->objects[1][0] != '\0';

    return same_object(naive, judgement->variable, judgement->object) &&
           (judgement->other_object == NULL
                ? !pair
                : same_object(naive, judgement->other, judgement->other_object));
}

static const char *finding_fault(const struct naive *naive, size_t at,
                                 const struct tms_finding *finding)
{
    const struct naive_finding *expected = &naive->findings[at];
    const struct naive_block *block = &naive->blocks[expected->block];
    const struct tms_judgement *judgement = finding->judgement;

    if (!is_id_of(naive, at, finding->id)) {
        return fault("%s is not the id of %s", finding->id, block->function);
    }
    if (judgement->level != expected->level || judgement->patterns != expected->patterns) {
        return fault("%s is %s with patterns %x; expected %s with %x", finding->id,
                     tms_level_text(judgement->level), judgement->patterns,
                     tms_level_text(expected->level), expected->patterns);
    }
    if (judgement->executions != block->executions || judgement->cut != expected->cut) {
        return fault("%s is cut in %" PRIu64 " of %" PRIu64 "; expected %" PRIu64 " of %" PRIu64,
                     finding->id, judgement->cut, judgement->executions, expected->cut,
                     block->executions);
    }
    if (judgement->driver != block->driver || judgement->interleaved != block->interleaved) {
        return fault("%s: driver %d, interleaved %d; expected %d, %d", finding->id,
                     judgement->driver, judgement->interleaved, block->driver, block->interleaved);
    }
    if (!same_objects(naive, expected, judgement)) {
        return fault("%s has other objects", finding->id);
    }
    return finding->evidence == TMS_EVIDENCE_OBSERVED ? shown_fault(naive, at, finding)
                                                      : "it was observed, and is not said to be";
}

/* Which finding of the second implementation it is. */
static size_t find(const struct naive *naive, const struct tms_finding *finding)
{
    const struct tms_judgement *judgement = finding->judgement;
    char function[NAIVE_TEXT], one[NAIVE_TEXT], other[NAIVE_TEXT] = "";

    naive_function(tms_name(naive->context, TMS_CLASS_LABEL, finding->transaction.label, NULL),
                   function, sizeof(function));
    naive_object(tms_name(naive->context, TMS_CLASS_VARIABLE, judgement->variable, NULL), one,
                 sizeof(one));
    if (judgement->other != 0) {
        naive_object(tms_name(naive->context, TMS_CLASS_VARIABLE, judgement->other, NULL), other,
                     sizeof(other));
    }
    for (size_t i = 0; i < naive->finding_count; i++) {
        const struct naive_finding *expected = &naive->findings[i];
        const char *second = expected->objects[1];
        bool single = second[0] == '\0' && strcmp(expected->objects[0], one) == 0 &&
                      (other[0] == '\0' || strcmp(one, other) == 0);
        bool pair = second[0] != '\0' &&
                    ((strcmp(expected->objects[0], one) == 0 && strcmp(second, other) == 0) ||
                     (strcmp(expected->objects[0], other) == 0 && strcmp(second, one) == 0));
        if (strcmp(function_of(naive, expected), function) == 0 && (single || pair)) {
            return i;
        }
    }
    return NAIVE_NONE;
}

/* A block that no table has a pattern for may be cut by a longer way. */
static bool may_be_longer_way(const struct naive *naive, const struct tms_finding *finding)
{
    char function[NAIVE_TEXT];

    naive_function(tms_name(naive->context, TMS_CLASS_LABEL, finding->transaction.label, NULL),
                   function, sizeof(function));
    for (size_t i = 0; i < naive->finding_count; i++) {
        if (strcmp(function_of(naive, &naive->findings[i]), function) == 0) {
            return false;
        }
    }
    return finding->judgement->other != 0;
}

static const char *each_fault(const struct naive *naive, const struct tms_result *result,
                              bool alone, unsigned *met)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        if (finding->judgement == NULL) {
            return fault("%s has no judgement", finding->id);
        }
        if (!alone && ((finding->judgement->patterns & ~ANSWER_WITHOUT_DATA) == 0 ||
                       may_be_longer_way(naive, finding))) {
            continue;
        }
        size_t at = find(naive, finding);
        if (at == NAIVE_NONE) {
            return fault("%s (%s) is not expected", finding->id,
                         tms_pattern_text(finding->judgement->pattern));
        }
        met[at]++;
        const char *wrong = finding_fault(naive, at, finding);
        if (wrong != NULL) {
            return wrong;
        }
    }
    return NULL;
}

static enum tms_level worst(const struct naive *naive)
{
    enum tms_level level = TMS_LEVEL_NOTE;

    for (size_t i = 0; i < naive->finding_count; i++) {
        level = naive->findings[i].level > level ? naive->findings[i].level : level;
    }
    return level;
}

const char *answer_difference(const struct naive *naive, const struct tms_result *result,
                              bool alone)
{
    if (result == NULL) {
        return "there is no result of judge";
    }
    unsigned *met = naive_array(naive->finding_count, sizeof(*met));
    const char *wrong = each_fault(naive, result, alone, met);
    for (size_t i = 0; wrong == NULL && i < naive->finding_count; i++) {
        char id[ID_SIZE];
        id_of(&naive->findings[i], id);
        wrong = met[i] == 1 ? NULL : fault("%s is there %u times", id, met[i]);
    }
    free(met);
    enum tms_verdict verdict =
        worst(naive) > TMS_LEVEL_NOTE ? TMS_VERDICT_AFFECTED : TMS_VERDICT_UNAFFECTED;
    if (wrong == NULL && alone && result->verdict != verdict) {
        return fault("the verdict is %s", tms_verdict_text(result->verdict));
    }
    return wrong;
}
