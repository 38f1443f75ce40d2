/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a hunt, and its summary: runs, failures, where the result is. */
#ifndef TMS_CLI_HUNT_SUMMARY_H
#define TMS_CLI_HUNT_SUMMARY_H

#include "cli/fail_on.h"
#include "cli/options.h"
#include "cli/store_option.h"
#include "hunt/hunt_result.h"
#include "tmesis/tmesis.h"

/* The text report of a hunt on standard error. As tms_show_result. */
int tms_hunt_report(const struct tms_hunt *hunt, const struct tms_report_settings *settings,
                    const struct tms_fail_on *fail_on, struct tms_fail_on_answer *answer);

/* The merged result as a JSON file; NULL: none is wanted. TMS_EXIT_BAD after a sentence. */
int tms_hunt_write_json(const struct tms_hunt *hunt, const char *path);

/* The documents of --report, and --store. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence. */
int tms_hunt_write_reports(const struct tms_hunt *hunt, const struct tms_given *reports,
                           const struct tms_storing *storing,
                           const struct tms_report_settings *settings);

/* One sentence on how many runs there were, and one for each way in which the program failed. */
void tms_hunt_summarize(const struct tms_hunt *hunt, double seconds);

#endif
