/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as text: what happened, the interleaving, and why no order explains it. */
#ifndef TMS_REPORT_FINDING_H
#define TMS_REPORT_FINDING_H

#include "report/page.h"

/* In full. TMS_OK or TMS_ERR_MEMORY. */
int tms_finding_write(struct tms_page *page, const struct tms_result *result,
                      const struct tms_finding *finding);

/* Id, count and what happened only. */
void tms_finding_headline(struct tms_page *page, const struct tms_result *result,
                          const struct tms_finding *finding);

/* What all findings mean, once, below them; nothing if there are none. */
void tms_findings_explain(struct tms_page *page, const struct tms_analysis *analysis);

#endif
