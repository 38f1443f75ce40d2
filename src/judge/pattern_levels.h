/* SPDX-License-Identifier: Apache-2.0 */
/* The level of a pattern in a block, and what it depends on: the counts of all executions. */
#ifndef TMS_JUDGE_PATTERN_LEVELS_H
#define TMS_JUDGE_PATTERN_LEVELS_H

#include "judge/judge_engine.h"

/* A driver by its busy executions (tms_judge_is_busy), or main. */
bool tms_judge_is_driver(const struct tms_judge_engine *engine, uint32_t function);

/*
 * A driver that is usually interleaved, by its counts (tms_judge_counts_as_interleaved) or because
 * it has none. Its findings are notes.
 */
bool tms_judge_is_interleaved_driver(const struct tms_judge_engine *engine, uint32_t function);

uint64_t tms_judge_executions(const struct tms_judge_engine *engine, uint32_t function);

/*
 * The level of a pattern in a block. For two variables `culprit` is the function of the other
 * block, 0: none that counts.
 */
enum tms_level tms_judge_level(const struct tms_judge_engine *engine, enum tms_pattern pattern,
                               uint32_t function, uint64_t cut, uint32_t culprit);

#endif
