/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's findings against those of the second implementation; see answer.h. */
#include "judge/answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "judge/cycle.h"

#define ID_DIGITS    6
#define ID_SIZE      32
#define MOST_FOREIGN 640

/* ---- what is expected -------------------------------------------------------------------- */

static const char *function_of(const struct naive *naive, const struct naive_finding *finding)
{
    return naive->blocks[finding->block].function;
}

static void id_of(const struct naive_finding *finding, char id[ID_SIZE])
{
    snprintf(id, ID_SIZE, "AV-%016" PRIx64, finding->hash);
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
            return answer_say("%s of %zu and %zu: %s", tms_pattern_text(occurrence->pattern),
                              occurrence->own[0] + 1, occurrence->own[1] + 1, wrong);
        }
    }
    return NULL;
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
        return answer_say("%s is not the id of %s", finding->id, block->function);
    }
    if (judgement->level != expected->level || judgement->patterns != expected->patterns) {
        return answer_say("%s is %s with patterns %x; expected %s with %x", finding->id,
                          tms_level_text(judgement->level), judgement->patterns,
                          tms_level_text(expected->level), expected->patterns);
    }
    if (judgement->executions != block->executions || judgement->cut != expected->cut) {
        return answer_say(
            "%s is cut in %" PRIu64 " of %" PRIu64 "; expected %" PRIu64 " of %" PRIu64,
            finding->id, judgement->cut, judgement->executions, expected->cut, block->executions);
    }
    if (judgement->driver != block->driver || judgement->interleaved != block->interleaved) {
        return answer_say("%s: driver %d, interleaved %d; expected %d, %d", finding->id,
                          judgement->driver, judgement->interleaved, block->driver,
                          block->interleaved);
    }
    if (!same_objects(naive, expected, judgement)) {
        return answer_say("%s has other objects", finding->id);
    }
    return finding->evidence == TMS_EVIDENCE_OBSERVED ? answer_shown_fault(naive, at, finding)
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
    return finding->judgement->level == TMS_LEVEL_NOTE;
}

static const char *each_fault(const struct naive *naive, const struct tms_result *result,
                              bool alone, unsigned *met)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        if (finding->judgement == NULL) {
            return answer_say("%s has no judgement", finding->id);
        }
        if (!alone && ((finding->judgement->patterns & ~ANSWER_WITHOUT_DATA) == 0 ||
                       may_be_longer_way(naive, finding))) {
            continue;
        }
        size_t at = find(naive, finding);
        if (at == NAIVE_NONE) {
            return answer_say("%s (%s) is not expected", finding->id,
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

static bool may_settle(const struct naive *naive, size_t block, size_t enough)
{
    for (size_t i = 0; i < naive->activation_count; i++) {
        const struct naive_activation *activation = &naive->activations[i];
        if (activation->block == block && activation->busy && activation->synchronised > enough) {
            return true;
        }
    }
    return false;
}

const char *answer_settled_difference(const struct naive *naive, const struct tms_result *result,
                                      size_t enough, uint64_t *missing)
{
    const char *wrong = NULL;
    unsigned *met = naive_array(naive->finding_count, sizeof(*met));

    for (size_t i = 0; wrong == NULL && i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        size_t at = find(naive, finding);
        if (at == NAIVE_NONE) {
            wrong = answer_say("%s is not expected", finding->id);
        } else if (finding->judgement->cut > naive->findings[at].cut) {
            wrong = answer_say("%s is cut more often", finding->id);
        } else if (!may_settle(naive, naive->findings[at].block, enough)) {
            wrong = finding_fault(naive, at, finding);
        }
        met[at == NAIVE_NONE ? 0 : at]++;
    }
    for (size_t i = 0; wrong == NULL && i < naive->finding_count; i++) {
        *missing += met[i] == 0;
        if (met[i] == 0 && !may_settle(naive, naive->findings[i].block, enough)) {
            wrong =
                answer_say("a finding of %s is missing", function_of(naive, &naive->findings[i]));
        }
    }
    free(met);
    return wrong;
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
        wrong = met[i] == 1 ? NULL : answer_say("%s is there %u times", id, met[i]);
    }
    free(met);
    enum tms_verdict verdict =
        worst(naive) > TMS_LEVEL_NOTE ? TMS_VERDICT_AFFECTED : TMS_VERDICT_UNAFFECTED;
    if (wrong == NULL && alone && result->verdict != verdict) {
        return answer_say("the verdict is %s", tms_verdict_text(result->verdict));
    }
    return wrong;
}
