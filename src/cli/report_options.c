/* SPDX-License-Identifier: Apache-2.0 */
/* Options of reports; see report_options.h. */
#include "cli/report_options.h"

#include <unistd.h>

void tms_reporting_settings(const struct tms_reporting *reporting, const struct tms_common *common,
                            struct tms_report_settings *settings)
{
    tms_report_settings_init(settings);
    settings->notes = reporting->notes;
    settings->verbose = reporting->verbose;
    settings->strip_prefix = reporting->strip_prefix;
    settings->color = tms_console_color(common->color, STDERR_FILENO);
    settings->width = tms_console_columns(STDERR_FILENO);
    settings->quiet = common->quiet;
}
