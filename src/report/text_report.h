/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the parts of the text report. */
#ifndef TMS_REPORT_TEXT_REPORT_H
#define TMS_REPORT_TEXT_REPORT_H

#include "report/judged_listing.h"
#include "report/report.h"
#include "report/text_layout.h"

struct tms_text {
    const struct tms_report_job *job;
    struct tms_page page;
    struct tms_trace_summary summary;
    const struct tms_result *worst;   /* the result that the verdict line speaks of */
    struct tms_judged_listing judged; /* `judged.result` is NULL if `judge` did not run */
};

static inline const struct tms_result *tms_text_result(const struct tms_text *text, size_t index)
{
    return tms_analysis_result(text->job->analysis, index);
}

bool tms_text_has_verdict(const struct tms_text *text, enum tms_verdict verdict);

/* There was nothing to check; unknown of a truncated trace. */
bool tms_text_saw_no_block(const struct tms_text *text);

/* The result that matters most; NULL if there is none. */
const struct tms_result *tms_text_worst(const struct tms_text *text);

/*
 * The verdict in one line, whatever its length, so that grep finds it: whether the run was
 * serializable, and whether data was affected.
 */
void tms_text_verdict(struct tms_text *text);

/* That nothing was judged by data, and what to type for that; nothing if it was. */
void tms_text_unjudged(struct tms_text *text);

/* The last line: findings, threads and executions, counted. */
void tms_text_counts(struct tms_text *text);

#endif
