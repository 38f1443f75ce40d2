/* SPDX-License-Identifier: Apache-2.0 */
/* Which rules the random traces have exercised: a rule that never mattered was not tested. */
#include <inttypes.h>
#include <string.h>

#include "judge/answer.h"

void coverage_add(struct coverage *coverage, const struct naive *naive)
{
    for (size_t i = 0; i < naive->occurrence_count; i++) {
        coverage->levels[naive->occurrences[i].pattern][naive->occurrences[i].level]++;
    }
    for (size_t i = 0; i < naive->finding_count; i++) {
        const struct naive_block *block = &naive->blocks[naive->findings[i].block];
        bool is_main = strcmp(block->function, "main") == 0;
        coverage->drivers += block->driver && !block->interleaved && !is_main;
        coverage->interleaved += block->interleaved && !is_main;
        coverage->mains += is_main;
    }
    for (size_t i = 0; i < naive->activation_count; i++) {
        coverage->by_share += naive->activations[i].busy_by_share;
        coverage->delayed += naive->activations[i].delayed && naive->activations[i].cut;
    }
    for (size_t k = 0; k < naive->count; k++) {
        coverage->polls += naive->facts[k].poll;
    }
    coverage->forgotten += naive->forgotten;
}

/* X(pattern, levels that must occur), a bit for each level */
#define EXPECTED(X)                                                                                \
    X(LOST_UPDATE, 5)                                                                              \
    X(INCONSISTENT_READS, 5)                                                                       \
    X(CHANGED_BETWEEN_READS, 3)                                                                    \
    X(STALE_DECISION, 3)                                                                           \
    X(FOREIGN_VALUE_READ_BACK, 3)                                                                  \
    X(INTERLEAVED_WRITES, 3)                                                                       \
    X(INTERMEDIATE_VALUE_SEEN, 3)                                                                  \
    X(HALF_UPDATE_SEEN, 1)                                                                         \
    X(EXCHANGE, 1)                                                                                 \
    X(INTERLEAVED_UPDATES, 1)                                                                      \
    X(OVERWRITTEN, 1)                                                                              \
    X(RECHECKED, 1)                                                                                \
    X(POLLED, 1)

static const unsigned expected[TMS_PATTERN_COUNT] = {
#define X(name, levels) [TMS_PATTERN_##name] = levels,
    EXPECTED(X)
#undef X
};

/* X(field, meaning) */
#define COUNTERS(X)                                                                                \
    X(drivers, "a finding of a driver that is not usually interleaved")                            \
    X(interleaved, "a finding of one that is")                                                     \
    X(mains, "a finding of main")                                                                  \
    X(by_share, "an execution that is busy for its share of synchronisation alone")                \
    X(delayed, "a cut execution that was delayed")                                                 \
    X(polls, "a poll")                                                                             \
    X(forgotten, "a variable forgotten for a seventeenth")                                         \
    X(settled, "a finding that a busy activation was not judged for any more")

#define ENOUGH_TIMES 5

const char *coverage_missing(const struct coverage *coverage)
{
    for (int pattern = 0; pattern < TMS_PATTERN_COUNT; pattern++) {
        for (int level = 0; level < 3; level++) {
            if ((expected[pattern] >> level & 1) != 0 &&
                coverage->levels[pattern][level] < ENOUGH_TIMES) {
                return tms_pattern_text((enum tms_pattern)pattern);
            }
        }
    }
#define X(field, meaning)                                                                          \
    if (coverage->field < ENOUGH_TIMES) {                                                          \
        return meaning;                                                                            \
    }
    COUNTERS(X)
#undef X
    return NULL;
}

void coverage_print(const struct coverage *coverage, FILE *to)
{
    for (int pattern = 0; pattern < TMS_PATTERN_COUNT; pattern++) {
        if (expected[pattern] != 0) {
            fprintf(to, "# %-24s %9" PRIu64 " notes %9" PRIu64 " warnings %9" PRIu64 " errors\n",
                    tms_pattern_text((enum tms_pattern)pattern), coverage->levels[pattern][0],
                    coverage->levels[pattern][1], coverage->levels[pattern][2]);
        }
    }
#define X(field, meaning) fprintf(to, "# %9" PRIu64 " times %s\n", coverage->field, meaning);
    COUNTERS(X)
#undef X
}
