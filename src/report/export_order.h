/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a document's findings, and their counts. Both are those of the text report
 * (judged_listing.h): the findings of one block, judged by data, are together, headed by the worst
 * that was observed, or else predicted, and a block counts once, by its head.
 */
#ifndef TMS_REPORT_EXPORT_ORDER_H
#define TMS_REPORT_EXPORT_ORDER_H

#include "report/export.h"

/* Sorts the entries of the job and counts them. */
void tms_export_arrange(struct tms_export_job *job);

#endif
