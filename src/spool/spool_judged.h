/* SPDX-License-Identifier: Apache-2.0 */
/* What `judge` found inside a program, from its spool. */
#ifndef TMS_SPOOL_SPOOL_JUDGED_H
#define TMS_SPOOL_SPOOL_JUDGED_H

#include "spool/spool_names.h"

/*
 * Gives it to an analysis of the same context, before that is finished (tms_analysis_judge).
 * TMS_OK, or a code whose sentence the context has.
 */
int tms_spool_judged(struct tms_spool_names *names, struct tms_analysis *analysis);

#endif
