/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kind of report has to provide: one function that writes a finished analysis to a
 * stream. A new kind is one file, its prototype below, and a row in report.c. Reports see results
 * and names, never the state of an engine.
 */
#ifndef TMS_REPORT_REPORT_H
#define TMS_REPORT_REPORT_H

#include <stdio.h>
#include <string.h>

#include "tmesis/tmesis.h"

struct tms_report_job {
    const struct tms_analysis *analysis;
    const struct tms_context *names;
    const struct tms_report_settings *settings;
    FILE *out; /* hands everything on to the sink; errors are looked at once, at the end */
};

/* A program was watched; otherwise a trace was read. */
static inline bool tms_report_is_live(const struct tms_report_settings *settings)
{
    return strcmp(settings->format, TMS_FORMAT_LIVE) == 0;
}

/* TMS_OK or TMS_ERR_MEMORY. */
int tms_report_text(const struct tms_report_job *job);
int tms_report_table(const struct tms_report_job *job);
int tms_report_json(const struct tms_report_job *job);

#endif
