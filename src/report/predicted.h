/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings that were not observed, as text: what can or may happen, in which order, and why. Races
 * and deadlocks are among them.
 */
#ifndef TMS_REPORT_PREDICTED_H
#define TMS_REPORT_PREDICTED_H

#include "report/text_layout.h"

/* The finding in a sentence or two. */
void tms_unseen_headline(const struct tms_page *page, FILE *note,
                         const struct tms_finding *finding);

/* Why it can happen. */
void tms_unseen_why(const struct tms_page *page, FILE *note, const struct tms_finding *finding);

/* The rest of it. TMS_OK or TMS_ERR_MEMORY. */
int tms_unseen_write(struct tms_page *page, const struct tms_finding *finding);

/* Explains "predicted" or "potential", once, above the first such finding. */
void tms_unseen_introduce(struct tms_page *page, enum tms_evidence evidence);

#endif
