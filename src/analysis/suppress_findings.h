/* SPDX-License-Identifier: Apache-2.0 */
/* Which findings of an analysis are suppressed, by settings.suppressions. */
#ifndef TMS_ANALYSIS_SUPPRESS_FINDINGS_H
#define TMS_ANALYSIS_SUPPRESS_FINDINGS_H

#include "analysis/analysis.h"

/*
 * Marks them in all results, and moves them to the end of the list; then applies max_violations,
 * which suppressed findings don't count for. Called when the analysis finishes, and again when
 * stacks are resolved. TMS_OK or TMS_ERR_MEMORY.
 */
int tms_suppress_findings(struct tms_analysis *analysis);

#endif
