/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which findings a text report tells, and in which order: the surest first. A finding that several
 * engines have is told once, with all their evidence. Of the engines that judge the run as it was,
 * the first one's findings are told in full, and of the others only what the first did not find.
 */
#ifndef TMS_REPORT_FINDINGS_LIST_H
#define TMS_REPORT_FINDINGS_LIST_H

#include "report/report.h"
#include "report/text_layout.h"

/*
 * As many as fit into `page->left` lines. `judged`: without those that a judged finding stands for,
 * unless the page is verbose. TMS_OK or TMS_ERR_MEMORY.
 */
int tms_listing_write(struct tms_page *page, const struct tms_report_job *job, bool judged);

/* Transactions that are themselves not atomic, of all that the findings stand for. */
uint64_t tms_count_blamed(const struct tms_result *result);

/*
 * Findings of that evidence that stand for themselves, over all engines; judged ones do not, and
 * data races only if they are listed.
 */
size_t tms_count_told(const struct tms_report_job *job, enum tms_evidence evidence);

/* Are the findings of that engine data races, of which the text only says how many there are? */
bool tms_hides_races(const struct tms_report_job *job, const struct tms_result *result);

/* The first engine that judges the run as it was; NULL if there is none. */
const struct tms_result *tms_first_observing(const struct tms_analysis *analysis);

/* The result that found data races; NULL if none did. */
const struct tms_result *tms_racing(const struct tms_analysis *analysis);

#endif
