/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports the predictions and lock requests of a process, with names in place of addresses, for
 * those of `sidetrack` and `goodlock` that are engines of the analysis.
 */
#ifndef TMS_SPOOL_SPOOL_PREDICTED_H
#define TMS_SPOOL_SPOOL_PREDICTED_H

#include "spool/spool_names.h"

/*
 * Adds them to an unfinished analysis of the same context (tms_analysis_predict). TMS_OK, or a code
 * with its message in the context.
 */
int tms_spool_predict(struct tms_spool_names *names, struct tms_analysis *analysis);

#endif
