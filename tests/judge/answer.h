/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing the engine's findings with those of the second implementation, and showing both. */
#ifndef TMS_JUDGE_ANSWER_H
#define TMS_JUDGE_ANSWER_H

#include <stdio.h>

#include "judge/naive.h"

/* Findings that come in addition to the tables: frontier's cycles, and blocks without data. */
#define ANSWER_WITHOUT_DATA                                                                        \
    (1u << TMS_PATTERN_ORDER_ONLY | 1u << TMS_PATTERN_OWN_THREAD | 1u << TMS_PATTERN_UNWATCHED)

/*
 * NULL if the result is the same, else the difference, which is valid until the next call. If the
 * result is not of `judge` alone, findings without data and longer paths are ignored.
 */
const char *answer_difference(const struct naive *naive, const struct tms_result *result,
                              bool alone);

/*
 * The same if busy activations were no longer judged after they had synchronised more than `enough`
 * times: findings in the others are complete. `missing` counts those that were not found.
 */
const char *answer_settled_difference(const struct naive *naive, const struct tms_result *result,
                                      size_t enough, uint64_t *missing);

/*
 * The same for the events that a finding shows, which is the one at `at` of the second
 * implementation.
 */
const char *answer_shown_fault(const struct naive *naive, size_t at,
                               const struct tms_finding *finding);

/* Keeps a sentence until the next one. */
__attribute__((format(printf, 1, 2))) const char *answer_say(const char *format, ...);

/* NULL if every occurrence is a cycle over data, else why one is not. */
const char *answer_fault(const struct naive *naive);

void answer_print(const struct naive *naive, FILE *to);

/* Rules that the random traces have exercised so far. */
struct coverage {
    uint64_t levels[TMS_PATTERN_COUNT][3]; /* occurrences */
    uint64_t drivers, interleaved, mains, by_share, delayed, polls, forgotten, settled;
};

void coverage_add(struct coverage *coverage, const struct naive *naive);
const char *coverage_missing(const struct coverage *coverage);
void coverage_print(const struct coverage *coverage, FILE *to);

#endif
