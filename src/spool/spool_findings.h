/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process found out about itself, as a result of an analysis: its violations with the names
 * of the program in the place of addresses, and the call stacks of their events.
 */
#ifndef TMS_SPOOL_SPOOL_FINDINGS_H
#define TMS_SPOOL_SPOOL_FINDINGS_H

#include "spool/spool_names.h"

/*
 * Gives it to an analysis of the same context, before that is finished (tms_analysis_observe).
 * `seconds` is how long the program ran. TMS_OK, or a code whose sentence the context has.
 */
int tms_spool_observe(struct tms_spool_names *names, double seconds, struct tms_analysis *analysis);

/* Then, the data races that it saw (tms_analysis_observe_races). */
int tms_spool_observe_races(struct tms_spool_names *names, double seconds,
                            struct tms_analysis *analysis);

/*
 * The name of memory, or of a lock or the like, at an address, as it was when the record of that
 * sequence number was written; 0 when memory is short, and `failed` of the names is set.
 */
uint32_t tms_spool_name_near(struct tms_spool_names *names, uint32_t sequence, enum tms_class cls,
                             uint64_t address);

#endif
