/* SPDX-License-Identifier: Apache-2.0 */
/* The levels of patterns; see pattern_levels.h. */
#include "judge/pattern_levels.h"

#include "judge/judge_entries.h"
#include "spec/identity.h"

#define UNDISTURBED_LEAST 50 /* executions */

static const struct {
    uint8_t level;
    bool pair; /* only if the other block is no driver */
} levels[TMS_PATTERN_COUNT] = {
    [TMS_PATTERN_LOST_UPDATE] = {TMS_LEVEL_ERROR, false},
    [TMS_PATTERN_INCONSISTENT_READS] = {TMS_LEVEL_ERROR, true},
    [TMS_PATTERN_CHANGED_BETWEEN_READS] = {TMS_LEVEL_WARNING, false},
    [TMS_PATTERN_STALE_DECISION] = {TMS_LEVEL_WARNING, true},
    [TMS_PATTERN_FOREIGN_VALUE_READ_BACK] = {TMS_LEVEL_WARNING, false},
    [TMS_PATTERN_INTERLEAVED_WRITES] = {TMS_LEVEL_WARNING, true},
    [TMS_PATTERN_INTERMEDIATE_VALUE_SEEN] = {TMS_LEVEL_WARNING, false},
};

bool tms_judge_is_driver(const struct tms_judge_engine *engine, uint32_t function)
{
    return tms_is_main(tms_judge_function_text(engine, function)) ||
           (function < engine->core.function_count && tms_judge_is_busy(&engine->core, function));
}

bool tms_judge_is_interleaved_driver(const struct tms_judge_engine *engine, uint32_t function)
{
    return tms_judge_is_driver(engine, function) &&
           (function >= engine->core.function_count ||
            tms_judge_counts_as_interleaved(&engine->core, function));
}

uint64_t tms_judge_executions(const struct tms_judge_engine *engine, uint32_t function)
{
    return function < engine->core.function_count ? engine->core.functions[function].executions : 0;
}

/* It nearly always runs undisturbed: so often at least, and ten times as often as it was cut. */
static bool is_exceptional(const struct tms_judge_engine *engine, uint32_t function, uint64_t cut)
{
    uint64_t executions = tms_judge_executions(engine, function);
    uint64_t undisturbed = executions > cut ? executions - cut : 0;

    return undisturbed >= UNDISTURBED_LEAST && cut <= undisturbed / 10;
}

enum tms_level tms_judge_level(const struct tms_judge_engine *engine, enum tms_pattern pattern,
                               uint32_t function, uint64_t cut, uint32_t culprit)
{
    if (tms_judge_is_interleaved_driver(engine, function)) {
        return TMS_LEVEL_NOTE;
    }
    if (levels[pattern].pair && (culprit == 0 || tms_judge_is_driver(engine, culprit))) {
        return TMS_LEVEL_NOTE;
    }
    if (pattern == TMS_PATTERN_INTERMEDIATE_VALUE_SEEN && !is_exceptional(engine, function, cut)) {
        return TMS_LEVEL_NOTE;
    }
    return (enum tms_level)levels[pattern].level;
}
