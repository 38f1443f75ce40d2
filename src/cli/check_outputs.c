/* SPDX-License-Identifier: Apache-2.0 */
/* The files of tmesis check; see check_outputs.h. */
#include "cli/check_outputs.h"

#include <string.h>

#include "cli/check_csv.h"
#include "cli/console.h"

const char *tms_check_output(const struct tms_maybe *output)
{
    return !output->given ? NULL : output->value != NULL ? output->value : "-";
}

bool tms_check_outputs_differ(const struct tms_check_outputs *outputs)
{
    const char *json = tms_check_output(&outputs->json), *csv = tms_check_output(&outputs->csv);

    if (json == NULL || csv == NULL || !tms_new_file_twice(json, csv)) {
        return true;
    }
    tms_say("--json and --csv can't both write to %s; name another file for one of them",
            strcmp(csv, "-") == 0 ? "standard output" : csv);
    return false;
}

int tms_check_files_open(struct tms_check_files *files, const struct tms_check_outputs *outputs)
{
    int status = TMS_EXIT_OK;

    if (outputs->json.given) {
        status = tms_new_file_open_text(&files->json, outputs->json.value);
    }
    if (outputs->csv.given && status == TMS_EXIT_OK) {
        status = tms_new_file_open_text(&files->csv, outputs->csv.value);
    }
    if (files->csv.stream.out != NULL) {
        tms_check_csv_head(files->csv.stream.out);
    }
    return status;
}

int tms_check_files_add(struct tms_check_files *files, const struct tms_analysis *analysis,
                        const struct tms_report_settings *settings)
{
    FILE *json = files->json.stream.out, *csv = files->csv.stream.out;
    int code = TMS_OK;

    if (json != NULL) {
        code = tms_report(analysis, "json", settings, tms_console_sink, json);
    }
    if (csv != NULL) {
        tms_check_csv_rows(csv, analysis, settings);
    }
    return code == TMS_ERR_IO ? TMS_OK : code;
}

void tms_check_files_add_bad(struct tms_check_files *files, const struct tms_checking *checking)
{
    FILE *json = files->json.stream.out, *csv = files->csv.stream.out;

    if (json != NULL) {
        tms_console_json_error(json, checking->path, tms_error(checking->context));
    }
    if (csv != NULL) {
        tms_check_csv_bad(csv, checking->path, tms_error(checking->context));
    }
}

static int close_file(struct tms_new_file *file, bool broken)
{
    int status = broken || file->path == NULL ? TMS_EXIT_OK : tms_new_file_close(file);

    tms_new_file_abandon(file);
    return status;
}

int tms_check_files_close(struct tms_check_files *files, bool broken)
{
    int status = close_file(&files->json, broken);

    return tms_console_worse(status, close_file(&files->csv, broken));
}
