/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports the results of `judge` in a running program into the engine of an analysis. Everything is
 * in the names of the analysis: labels, variables, locations, threads and locks are ids of its
 * context. Items that were separate there, but are the same by name or line, are merged; what
 * depends on lines is decided here.
 */
#ifndef TMS_JUDGE_IMPORT_JUDGEMENT_H
#define TMS_JUDGE_IMPORT_JUDGEMENT_H

#include "analysis/analysis.h"
#include "judge/judge_engine.h"

/* The stack of an event that was loaded, 0: unknown. */
uint32_t tms_judge_loaded_stack(const struct tms_judge_engine *engine, uint64_t event,
                                uint32_t thread);

/* The engine of an analysis that has not ended; NULL: `judge` is not among its engines. */
struct tms_judge_engine *tms_judge_of(struct tms_analysis *analysis);

/* Executions of a block and the like, in addition to those that are known. */
void tms_judge_load_function(struct tms_judge_engine *engine, uint32_t label,
                             const struct tms_judge_function *counts);

/* A place where threads wait. */
void tms_judge_load_place(struct tms_judge_engine *engine, uint32_t location);

/*
 * Evidence: `culprit` is a label here, `place` a location; `next`, `finding` and `places` do not
 * count. Of `first` the block does not count, `block` says which it is. `outer` is copied.
 */
void tms_judge_load_evidence(struct tms_judge_engine *engine,
                             const struct tms_judge_evidence *evidence);

/* In so many activations of a block something happened to the variables. After its evidence. */
void tms_judge_load_cut(struct tms_judge_engine *engine, uint32_t label, uint32_t variable,
                        uint32_t other, uint64_t cut);

#endif
