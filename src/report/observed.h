/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings as text: what happened, the interleaving, and why no serial order explains it. Findings
 * that were not observed are in predicted.h.
 */
#ifndef TMS_REPORT_OBSERVED_H
#define TMS_REPORT_OBSERVED_H

#include "report/text_layout.h"

/* In full, without an empty line after it. TMS_OK or TMS_ERR_MEMORY. */
int tms_finding_write(struct tms_page *page, const struct tms_result *result,
                      const struct tms_finding *finding);

/* Only id, evidence, count, and what happened. */
void tms_finding_headline(struct tms_page *page, const struct tms_result *result,
                          const struct tms_finding *finding);

/*
 * The parts of a finding in words, without a line end: what happened, or can; and why that is so,
 * which is nothing if it was observed by an engine that keeps no cycles.
 */
void tms_finding_sentence(const struct tms_page *page, FILE *out, const struct tms_result *result,
                          const struct tms_finding *finding);
void tms_finding_why(const struct tms_page *page, FILE *out, const struct tms_finding *finding);

/* The index-th step of its cycle in a sentence, with its letter; and the conclusion of all steps.
 */
void tms_finding_step(struct tms_page *page, const struct tms_finding *finding, size_t index);
void tms_finding_conclusion(struct tms_page *page, const struct tms_finding *finding);

/* Explains the observed findings, once, below them; writes nothing if there are none. */
void tms_findings_explain(struct tms_page *page, const struct tms_analysis *analysis);

#endif
