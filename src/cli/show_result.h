/* SPDX-License-Identifier: Apache-2.0 */
/* A saved result shown as the text report of `run` and `check`. */
#ifndef TMS_CLI_SHOW_RESULT_H
#define TMS_CLI_SHOW_RESULT_H

#include <stdio.h>

#include "cli/fail_on.h"
#include "saved/saved_result.h"

/*
 * Shows one object of a result; `settings` has what the user wants of reports. `answer` may be
 * NULL; otherwise it gets what the results mean for the exit status. TMS_EXIT_OK, or TMS_EXIT_BAD
 * after a sentence. What `out` could not take is not an error here.
 */
int tms_show_result(struct tms_saved *saved, size_t index,
                    const struct tms_report_settings *settings, FILE *out,
                    const struct tms_fail_on *fail_on, struct tms_fail_on_answer *answer);

#endif
