/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which findings a text report shows, and in which order: the surest first. A finding that several
 * engines have is shown once, with all their evidence. Of the engines that check the run as it was,
 * the first one's findings are shown in full, and of the others only those that the first lacks.
 */
#ifndef TMS_REPORT_FINDINGS_LIST_H
#define TMS_REPORT_FINDINGS_LIST_H

#include "report/report.h"
#include "report/text_layout.h"

/*
 * Writes as many as fit into `page->left` lines. `judged`: without those that a judged finding
 * replaces, unless the page is verbose. TMS_OK or TMS_ERR_MEMORY.
 */
int tms_listing_write(struct tms_page *page, const struct tms_report_job *job, bool judged);

/* Transactions that are themselves not atomic, over all occurrences of the findings. */
uint64_t tms_count_blamed(const struct tms_result *result);

/*
 * Findings of that evidence over all engines, each once; without those that were judged, and
 * without data races unless they are listed.
 */
size_t tms_count_shown(const struct tms_report_job *job, enum tms_evidence evidence);

/* Are the findings of that engine data races, of which the text only says how many there are? */
bool tms_hides_races(const struct tms_report_job *job, const struct tms_result *result);

/* The first engine that checks the run as it was; NULL if there is none. */
const struct tms_result *tms_first_observing(const struct tms_analysis *analysis);

/* The result that found data races; NULL if none did. */
const struct tms_result *tms_racing(const struct tms_analysis *analysis);

#endif
