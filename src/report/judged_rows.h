/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interleaving of a judged finding in two columns, the block's own thread on the left and the
 * other on the right, and the lines of source that it is about.
 */
#ifndef TMS_REPORT_JUDGED_ROWS_H
#define TMS_REPORT_JUDGED_ROWS_H

#include "report/judged_phrase.h"

/* Nothing if the finding has no events. `verbose`: all foreign events. */
void tms_judged_rows(const struct tms_judged *judged, bool verbose);

/* The lines of the block's own function, each once; nothing if their text is not known. */
void tms_judged_excerpt(const struct tms_judged *judged);

/* What a thread does at the event: "read balance", "unlock account.lock". */
size_t tms_judged_operation(const struct tms_judged *judged, FILE *out, const struct tms_turn *turn,
                            size_t most);

#endif
