/* SPDX-License-Identifier: Apache-2.0 */
/* Saved results shown; see show_result.h. */
#include "cli/show_result.h"

#include "cli/console.h"

/* In place of a report: "bad.std: could not be read: bad.std:2: …". */
static void show_unread(const struct tms_saved_object *object, FILE *out)
{
    tms_console_name(out, object->path != NULL ? object->path : "-");
    fputs(": could not be read: ", out);
    tms_console_name(out, object->unread);
    fputs(".\n", out);
}

int tms_show_result(struct tms_saved *saved, size_t index,
                    const struct tms_report_settings *settings, FILE *out,
                    const struct tms_fail_on *fail_on, struct tms_fail_on_answer *answer)
{
    struct tms_report_settings own = *settings;
    struct tms_analysis *analysis = NULL;

    if (saved->objects[index].unread != NULL) {
        show_unread(&saved->objects[index], out);
        return TMS_EXIT_OK;
    }
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
