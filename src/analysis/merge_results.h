/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an analysis with merged results (tms_analysis_merge). */
#ifndef TMS_ANALYSIS_MERGE_RESULTS_H
#define TMS_ANALYSIS_MERGE_RESULTS_H

#include "analysis/merge_findings.h"

struct tms_merged;

/* NULL is fine. */
void tms_merged_free(struct tms_merged *merged, struct tms_memory *owner);

/* The findings of the index-th result, to be marked. */
struct tms_merged_list *tms_merged_list(struct tms_merged *merged, size_t index);

#endif
