/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relates the results of the engines of one analysis to each other, once all have finished.
 *
 * A finding of several engines is reported once: the one with the strongest evidence; of equally
 * strong ones one that has a cycle, and then the one whose engine comes first. The others point at
 * it (same_as). The assumption of a result also states whether another engine has checked it.
 */
#ifndef TMS_ANALYSIS_CROSS_ENGINE_H
#define TMS_ANALYSIS_CROSS_ENGINE_H

#include "analysis/analysis.h"

/* At the finish, when every run has its result. TMS_OK or TMS_ERR_MEMORY. */
int tms_cross_engine_link(struct tms_analysis *analysis);

#endif
