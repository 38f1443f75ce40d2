/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the findings of a saved result to rows; see finding_rows.h. */
#include <stdio.h>
#include <string.h>

#include "store/finding_rows.h"

#define PATTERNS_SIZE 512

static const char *name_of(const struct tms_saved *saved, enum tms_class cls, uint32_t id)
{
    return tms_name(saved->context, cls, id, NULL);
}

/* All that occurred, in the order of enum tms_pattern. */
static void write_patterns(unsigned patterns, char text[PATTERNS_SIZE])
{
    size_t length = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < TMS_PATTERN_COUNT; i++) {
        if ((patterns >> i & 1) != 0 && length < PATTERNS_SIZE) {
            length += (size_t)snprintf(text + length, PATTERNS_SIZE - length, "%s%s",
                                       length > 0 ? "," : "", tms_pattern_text(i));
        }
    }
}

static enum tms_level level_of(const struct tms_finding *finding)
{
    if (finding->judgement != NULL) {
        return finding->judgement->level;
    }
    return finding->evidence == TMS_EVIDENCE_OBSERVED ? TMS_LEVEL_WARNING : TMS_LEVEL_NOTE;
}

static bool add_finding(struct tms_finding_rows *rows, const struct tms_saved *saved,
                        const struct tms_finding *finding)
{
    static const struct tms_judgement none;
    const struct tms_judgement *judgement = finding->judgement != NULL ? finding->judgement : &none;
    char patterns[PATTERNS_SIZE], number[TMS_NUMBER_SIZE];

    write_patterns(judgement->patterns, patterns);
    const struct tms_finding_row row = {
        .id = finding->id,
        .block = name_of(saved, TMS_CLASS_LABEL, finding->transaction.label),
        .variable = judgement->variable != 0
                        ? name_of(saved, TMS_CLASS_VARIABLE, judgement->variable)
                        : name_of(saved, TMS_CLASS_LOCK, judgement->lock),
        .patterns = patterns,
        .place =
            tms_name(saved->context, TMS_CLASS_LOCATION, finding->transaction.location, number),
        .level = level_of(finding),
        .evidence = finding->evidence,
        .count = finding->count,
        .executions = judgement->executions,
        .cut = judgement->cut,
        .runs = finding->runs != 0 ? finding->runs : 1,
        .suppressed = finding->suppressed,
    };
    return tms_finding_rows_add(rows, &row);
}

static bool add_result(struct tms_finding_rows *rows, const struct tms_saved *saved,
                       const struct tms_result *result)
{
    bool good = true;

    for (size_t i = 0; good && i < result->finding_count; i++) {
        if (result->findings[i].same_as == NULL) {
            good = add_finding(rows, saved, &result->findings[i]);
        }
    }
    return good;
}

static bool is_judge(const struct tms_saved_result *result)
{
    return strcmp(result->result.engine->name, "judge") == 0;
}

static bool add_object(struct tms_finding_rows *rows, const struct tms_saved *saved,
                       const struct tms_saved_object *object)
{
    const struct tms_saved_result *results = &saved->results[object->first];
    bool judged = false, good = true;

    for (size_t i = 0; i < object->count; i++) {
        judged = judged || is_judge(&results[i]);
    }
    for (size_t i = 0; good && i < object->count; i++) {
        if (is_judge(&results[i]) == judged) {
            good = add_result(rows, saved, &results[i].result);
        }
    }
    return good;
}

bool tms_finding_rows_load(struct tms_finding_rows *rows, const struct tms_saved *saved)
{
    bool good = true;

    for (size_t i = 0; good && i < saved->object_count; i++) {
        if (tms_saved_is_shown(saved, i)) {
            good = add_object(rows, saved, &saved->objects[i]);
        }
    }
    return good;
}
