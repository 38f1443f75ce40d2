/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle as an interleaving: one column per thread, one row per event that matters, in the
 * order of the trace, or of a schedule that was not observed. A step leaves its first event as "a→"
 * and arrives at its second as "→a".
 */
#ifndef TMS_REPORT_INTERLEAVING_TABLE_H
#define TMS_REPORT_INTERLEAVING_TABLE_H

#include "report/text_layout.h"

/*
 * Writes the cycle or, with their roles, the turns of the schedule, whichever is asked for; it is
 * not empty. TMS_OK or TMS_ERR_MEMORY. Cost: its length times its threads.
 */
int tms_columns_write(struct tms_page *page, const struct tms_finding *finding, bool schedule);

#endif
