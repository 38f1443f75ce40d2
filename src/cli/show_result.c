/* SPDX-License-Identifier: Apache-2.0 */
/* Saved results shown; see show_result.h. */
#include "cli/show_result.h"

#include "cli/console.h"

int tms_show_result(struct tms_saved *saved, size_t index,
                    const struct tms_report_settings *settings, FILE *out,
                    const struct tms_fail_on *fail_on, struct tms_fail_on_answer *answer)
{
    struct tms_report_settings own = *settings;
    struct tms_analysis *analysis = NULL;
    int code = tms_saved_restore(saved, index, &analysis);

    tms_saved_settings(&saved->objects[index], &own);
    if (code == TMS_OK) {
        code = tms_report(analysis, "text", &own, tms_console_sink, out);
    }
    if (answer != NULL && analysis != NULL) {
        *answer = tms_fail_on_ask(fail_on, analysis);
    }
    tms_analysis_free(analysis);
    return code == TMS_OK || code == TMS_ERR_IO ? TMS_EXIT_OK : tms_bad("%s", tms_strerror(code));
}
