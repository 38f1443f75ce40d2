/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the result of `judge`: patterns of the core as findings with levels and ids; notes about
 * violations of other engines in which no data was affected; predictions, judged by the same rules.
 */
#ifndef TMS_JUDGE_CONCLUDE_H
#define TMS_JUDGE_CONCLUDE_H

#include "analysis/analysis.h"
#include "judge/judge_engine.h"

/* Called when every run has its result. TMS_OK or TMS_ERR_MEMORY. */
int tms_judge_conclude(struct tms_analysis *analysis, struct tms_run *run);

/* After the finish: looks up the call stacks of judged findings. */
void tms_judge_resolve(struct tms_run *run, tms_stack_of *stack_of, void *user);

/* ---- inside --------------------------------------------------------------------------- */

/* Executions that were cut at several objects of one name may have been counted for each of them.
 */
static inline uint64_t tms_judge_bounded_cut(uint64_t cut, uint64_t executions)
{
    return executions > 0 && cut > executions ? executions : cut;
}

/* The pattern of a prediction. */
struct tms_judge_predicted {
    enum tms_pattern pattern;
    enum tms_level level;
    uint32_t variable, other; /* 0: none */
    bool several;             /* the sections access several such variables */
};
struct tms_judge_predicted tms_judge_predict(struct tms_judge_engine *engine,
                                             const struct tms_finding *finding, uint32_t function);

#endif
