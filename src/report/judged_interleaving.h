/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interleaving of a judged finding in two columns, the block's own thread on the left and the
 * other on the right.
 */
#ifndef TMS_REPORT_JUDGED_INTERLEAVING_H
#define TMS_REPORT_JUDGED_INTERLEAVING_H

#include "report/judged_phrase.h"

#define TMS_JUDGED_LEFT 6 /* the column where the interleaving and the source lines begin */

/* Nothing if the finding has no events. `verbose`: all foreign events. */
void tms_judged_interleaving(const struct tms_judged *judged, bool verbose);

/* What a thread does at the event: "read balance", "unlock account.lock". */
size_t tms_judged_operation(const struct tms_judged *judged, FILE *out, const struct tms_turn *turn,
                            size_t most);

/* The same after the name of the thread, in full: "unlocked account.lock". */
void tms_judged_happened(const struct tms_judged *judged, FILE *out, const struct tms_turn *turn);

#endif
