/* SPDX-License-Identifier: Apache-2.0 */
/* The files that tmesis check writes result by result: --json and --csv. */
#ifndef TMS_CLI_CHECK_OUTPUTS_H
#define TMS_CLI_CHECK_OUTPUTS_H

#include "cli/check_job.h"
#include "cli/options.h"
#include "cli/output_file.h"

struct tms_check_outputs {
    struct tms_maybe json, csv;
};

/* Rows of an option table; `field` is the offset of a struct tms_check_outputs. */
#define TMS_CHECK_OUTPUT_OPTIONS(field)                                                            \
    {.name = "json",                                                                               \
     .type = TMS_OPTION_MAYBE,                                                                     \
     .at = (field) + offsetof(struct tms_check_outputs, json),                                     \
     .value = "FILE",                                                                              \
     .help = "write one JSON object per trace, to standard output or to FILE",                     \
     .brief = "write the result to standard output or to FILE"},                                   \
    {                                                                                              \
        .name = "csv", .type = TMS_OPTION_MAYBE,                                                   \
        .at = (field) + offsetof(struct tms_check_outputs, csv), .value = "FILE",                  \
        .help = "write a row per trace and engine as CSV, to standard output or to FILE"           \
    }

/* Where an output goes, "-" for standard output; NULL: it is not wanted. */
const char *tms_check_output(const struct tms_maybe *output);

/* False after a sentence: both would go to the same file. */
bool tms_check_outputs_differ(const struct tms_check_outputs *outputs);

/* The open files; zero at first. */
struct tms_check_files {
    struct tms_new_file json, csv;
};

/* TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence; tms_check_files_close is due in both cases. */
int tms_check_files_open(struct tms_check_files *files, const struct tms_check_outputs *outputs);

/* A finished analysis. TMS_OK or TMS_ERR_MEMORY: what can't be written is found when closing. */
int tms_check_files_add(struct tms_check_files *files, const struct tms_analysis *analysis,
                        const struct tms_report_settings *settings);

/* A trace that could not be checked, with the reason. */
void tms_check_files_add_bad(struct tms_check_files *files, const struct tms_checking *checking);

/*
 * Moves the files into place, or leaves none if `broken`. TMS_EXIT_OK, or TMS_EXIT_BAD after a
 * sentence.
 */
int tms_check_files_close(struct tms_check_files *files, bool broken);

#endif
