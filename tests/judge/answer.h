/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing the engine's findings with those of the second implementation, and showing both. */
#ifndef TMS_JUDGE_ANSWER_H
#define TMS_JUDGE_ANSWER_H

#include <stdio.h>

#include "judge/naive.h"

/* What patterns of frontier's cycles, and blocks without data, are in addition to the tables. */
#define ANSWER_WITHOUT_DATA                                                                        \
    (1u << TMS_PATTERN_ORDER_ONLY | 1u << TMS_PATTERN_OWN_THREAD | 1u << TMS_PATTERN_UNWATCHED)

/*
 * NULL if the result says the same, else what differs; lives until the next call. Of a result that
 * is not of `judge` alone, findings without data and longer ways are passed over.
 */
const char *answer_difference(const struct naive *naive, const struct tms_result *result,
                              bool alone);

/*
 * The same if busy activations were not judged any more after they had synchronised more than
 * `enough` times: what is found in others is complete. `missing` is raised by what was not found.
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

/* What random traces have met so far. */
struct coverage {
    uint64_t levels[TMS_PATTERN_COUNT][3]; /* occurrences */
    uint64_t drivers, interleaved, mains, by_share, delayed, polls, forgotten, settled;
};

void coverage_add(struct coverage *coverage, const struct naive *naive);
const char *coverage_missing(const struct coverage *coverage);
void coverage_print(const struct coverage *coverage, FILE *to);

#endif
