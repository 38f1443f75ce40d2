/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process predicted, and the nesting of locks that it saw, with the names of the program in
 * the place of addresses: for `sidetrack` and `goodlock`, as far as these are at work in the
 * analysis.
 */
#ifndef TMS_SPOOL_SPOOL_PREDICTED_H
#define TMS_SPOOL_SPOOL_PREDICTED_H

#include "spool/spool_names.h"

/*
 * Gives it to an analysis of the same context, before that is finished (tms_analysis_predict).
 * TMS_OK, or a code whose sentence the context has.
 */
int tms_spool_predict(struct tms_spool_names *names, struct tms_analysis *analysis);

#endif
