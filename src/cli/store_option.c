/* SPDX-License-Identifier: Apache-2.0 */
/* Results into the history; see store_option.h. */
#include "cli/store_option.h"

#include <stdlib.h>
#include <string.h>

#include "cli/console.h"
#include "cli/output_file.h"

/* A value, or else that of an environment variable, unless it is empty; or NULL. */
static const char *value_or(const char *value, const char *variable)
{
    const char *text = value != NULL ? value : getenv(variable);

    return text != NULL && *text != '\0' ? text : NULL;
}

const char *tms_store_path(const struct tms_maybe *store)
{
    const char *path = value_or(store->value, "TMESIS_STORE");

    return path != NULL ? path : TMS_STORE_FILE;
}

static bool is_apart(const char *path, const char *output)
{
    if (output == NULL || !tms_new_file_twice(path, output)) {
        return true;
    }
    tms_say("%s can't be the history and another output; write to different files", path);
    return false;
}

static bool can_be_used(const char *path)
{
    struct tms_history history;
    bool good = tms_history_open(&history, path, TMS_HISTORY_CREATE);

    if (!good) {
        tms_say("%s", history.reason);
    }
    tms_history_close(&history);
    return good;
}

bool tms_storing_spares(const struct tms_storing *storing, const char *output)
{
    return !storing->store.given || is_apart(tms_store_path(&storing->store), output);
}

bool tms_storing_good(const struct tms_storing *storing, const char *json,
                      const struct tms_given *reports)
{
    const char *alone = storing->label != NULL      ? "label"
                        : storing->revision != NULL ? "revision"
                                                    : NULL;

    if (!storing->store.given && alone != NULL) {
        tms_say("--%s needs --store", alone);
        return false;
    }
    const char *path = tms_store_path(&storing->store);
    bool good = !storing->store.given || is_apart(path, json);
    for (size_t i = 0; storing->store.given && good && i < reports->count; i++) {
        good = is_apart(path, strchr(reports->values[i].text, ':') + 1);
    }
    return good && (!storing->store.given || can_be_used(path));
}

int tms_storing_import(const struct tms_storing *storing, const char *bytes, size_t size)
{
    const char *path = tms_store_path(&storing->store);
    const struct tms_result_origin origin = {value_or(storing->label, "TMESIS_LABEL"),
                                             value_or(storing->revision, "TMESIS_REVISION")};
    struct tms_history history;
    bool added;
    int status = TMS_EXIT_OK;

    if (!tms_history_open(&history, path, TMS_HISTORY_CREATE)) {
        status = tms_bad("%s", history.reason);
    } else if (!tms_result_import_bytes(&history, "the result", bytes, size, &origin, &added)) {
        status = tms_bad("%s", history.reason);
    }
    tms_history_close(&history);
    return status;
}
