/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports what the runtime found in a process into an analysis: violations with names in place of
 * addresses, and with call stacks.
 */
#ifndef TMS_SPOOL_SPOOL_FINDINGS_H
#define TMS_SPOOL_SPOOL_FINDINGS_H

#include "spool/spool_names.h"

/*
 * Adds them to an unfinished analysis of the same context (tms_analysis_observe). `seconds` is how
 * long the program ran. TMS_OK, or a code with its message in the context.
 */
int tms_spool_observe(struct tms_spool_names *names, double seconds, struct tms_analysis *analysis);

/* Adds the data races; call it afterwards (tms_analysis_observe_races). */
int tms_spool_observe_races(struct tms_spool_names *names, double seconds,
                            struct tms_analysis *analysis);

#endif
