/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings that were not observed, for a reader who never heard of such a thing: what can or may
 * happen, in the order in which it would, and why; races and deadlocks among them.
 */
#ifndef TMS_REPORT_PREDICTED_H
#define TMS_REPORT_PREDICTED_H

#include "report/text_layout.h"

/* What is found, in a sentence or two. */
void tms_unseen_headline(const struct tms_page *page, FILE *note,
                         const struct tms_finding *finding);

/* All the rest of it. TMS_OK or TMS_ERR_MEMORY. */
int tms_unseen_write(struct tms_page *page, const struct tms_finding *finding);

/* What the word means, once, above the first finding that has it. */
void tms_unseen_introduce(struct tms_page *page, enum tms_evidence evidence);

#endif
