/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options about what the text report shows, for all commands that write one.
 *
 *     struct values { … struct tms_reporting reporting; … };
 *     static const struct tms_option options[] = { … TMS_REPORTING_OPTIONS(AT(reporting)), {0}};
 */
#ifndef TMS_CLI_REPORT_OPTIONS_H
#define TMS_CLI_REPORT_OPTIONS_H

#include "cli/console.h"
#include "cli/options.h"
#include "tmesis/tmesis.h"

struct tms_reporting {
    bool notes;
    bool verbose;
    const char *strip_prefix;
};

/* Rows of an option table; `field` is the offset of a struct tms_reporting. */
#define TMS_REPORTING_OPTIONS(field)                                                               \
    {.name = "notes",                                                                              \
     .type = TMS_OPTION_FLAG,                                                                      \
     .at = (field) + offsetof(struct tms_reporting, notes),                                        \
     .environment = true,                                                                          \
     .help = "show notes as well: blocks that were cut without affecting data",                    \
     .brief = "also show blocks that were cut without harm"},                                      \
        {.name = "verbose",                                                                        \
         .type = TMS_OPTION_FLAG,                                                                  \
         .at = (field) + offsetof(struct tms_reporting, verbose),                                  \
         .environment = true,                                                                      \
         .help =                                                                                   \
             "show all findings in full, with call stacks, event numbers, cycles, and what "       \
             "the engines guarantee; without it a report has at most 60 lines, and a finding at "  \
             "most 25",                                                                            \
         .brief = "show all findings in full, with call stacks"},                                  \
    {                                                                                              \
        .name = "strip-prefix", .type = TMS_OPTION_TEXT,                                           \
        .at = (field) + offsetof(struct tms_reporting, strip_prefix), .environment = true,         \
        .value = "DIR",                                                                            \
        .help = "omit the directory DIR from file names; other names are relative to the working " \
                "directory where that is shorter"                                                  \
    }

/*
 * Fills the settings of a report on standard error: the defaults, these options, and the common
 * ones about colour, width and --quiet.
 */
void tms_reporting_settings(const struct tms_reporting *reporting, const struct tms_common *common,
                            struct tms_report_settings *settings);

#endif
