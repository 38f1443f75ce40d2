/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports the results of `judge` in a running program into the engine of an analysis. Labels,
 * variables, locations, threads and locks are ids of the context of the analysis. Items that were
 * separate in the program but have the same name or line are merged; decisions that depend on lines
 * are made here.
 */
#ifndef TMS_JUDGE_IMPORT_JUDGEMENT_H
#define TMS_JUDGE_IMPORT_JUDGEMENT_H

#include "analysis/analysis.h"
#include "judge/judge_engine.h"

/* The stack of an imported event, 0: unknown. */
uint32_t tms_judge_loaded_stack(const struct tms_judge_engine *engine, uint64_t event,
                                uint32_t thread);

/* The engine of an analysis that has not ended; NULL: `judge` is not among its engines. */
struct tms_judge_engine *tms_judge_of(struct tms_analysis *analysis);

/* Adds to the counts of a block. */
void tms_judge_load_function(struct tms_judge_engine *engine, uint32_t label,
                             const struct tms_judge_function *counts);

/* Adds a place where threads wait. */
void tms_judge_load_place(struct tms_judge_engine *engine, uint32_t location);

/*
 * Adds evidence. `culprit` is a label here and `place` a location; `next`, `finding`, `places` and
 * the block in `first` are ignored, `block` is used instead. Copies `outer`.
 */
void tms_judge_load_evidence(struct tms_judge_engine *engine,
                             const struct tms_judge_evidence *evidence);

/*
 * Adds to the number of activations of a block in which the variables were affected. Call it after
 * adding the evidence and the counts of blocks.
 */
void tms_judge_load_cut(struct tms_judge_engine *engine, uint32_t label, uint32_t variable,
                        uint32_t other, uint64_t cut);

#endif
