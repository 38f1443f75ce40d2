/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the findings of `judge` in a program from its spool. */
#ifndef TMS_SPOOL_SPOOL_JUDGED_H
#define TMS_SPOOL_SPOOL_JUDGED_H

#include "spool/spool_names.h"

/*
 * Adds them to an unfinished analysis of the same context (tms_analysis_judge). TMS_OK, or a code
 * with its message in the context.
 */
int tms_spool_judged(struct tms_spool_names *names, struct tms_analysis *analysis);

#endif
