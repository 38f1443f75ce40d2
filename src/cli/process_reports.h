/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports on the processes of a run: a JSON object for each, and one text about all. With several
 * processes their results are merged (tms_analysis_merge) for the text and one more object. The
 * first process is kept whole; of the others nothing but their findings is, so that a run may have
 * any number of them.
 */
#ifndef TMS_CLI_PROCESS_REPORTS_H
#define TMS_CLI_PROCESS_REPORTS_H

#include <stdio.h>

#include "cli/baseline_option.h"
#include "cli/process_result.h"
#include "cli/report_files.h"

/* Zero at first, except for the fields that the command sets. */
struct tms_process_reports {
    const struct tms_watched *watched;   /* set by the command, … */
    struct tms_report_settings settings; /* … the settings of all processes, … */
    struct tms_known known;              /* … */
    FILE *json;                          /* … NULL: none wanted, … */
    struct tms_report_files *files;      /* … and NULL: none wanted */
    struct tms_process_result *first;    /* NULL: there was none so far */
    struct tms_analysis *alone;          /* its result */
    struct tms_context *context;         /* of … */
    struct tms_analysis *merged;         /* … the result of all; NULL: there is only one */
    size_t count;
    struct tms_coverage coverage;
    bool locks_only; /* the memory of one of them was not watched */
};

/* Marks the known findings of a finished analysis, and writes its JSON object. TMS_OK or a code. */
int tms_process_report(const struct tms_process_reports *reports,
                       struct tms_process_result *process, struct tms_analysis *analysis);

/*
 * Takes over a finished analysis and what its process left, both of which are freed here in the
 * end, also after an error. TMS_OK or a code.
 */
int tms_process_reports_add(struct tms_process_reports *reports, struct tms_process_result *process,
                            struct tms_analysis *analysis);

/* The text on standard error, and of several processes one more object. TMS_OK or a code. */
int tms_process_reports_finish(const struct tms_process_reports *reports);

void tms_process_reports_free(struct tms_process_reports *reports);

#endif
