/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON file of one run; see run_json.h. */
#include "hunt/run_json.h"

#include <stdbool.h>
#include <stdio.h>

/* Gathers what only the objects of processes have, and the merged object lacks. */
static bool gather(json_t *windows, json_t **schedule, const json_t *object)
{
    json_t *own = json_object_get(object, "windows");

    if (*schedule == NULL) {
        *schedule = json_incref(json_object_get(object, "schedule"));
    }
    return own == NULL || json_array_extend(windows, own) == 0;
}

static bool fill(json_t *object, json_t *windows, json_t *schedule)
{
    bool good = json_array_size(windows) == 0 || json_object_set(object, "windows", windows) == 0;

    return good && (schedule == NULL || json_object_set(object, "schedule", schedule) == 0);
}

json_t *tms_run_json(const char *path)
{
    FILE *in = fopen(path, "re");
    json_t *found = NULL, *object, *windows = json_array(), *schedule = NULL;
    json_error_t error;
    bool good = windows != NULL;

    while (in != NULL && (object = json_loadf(in, JSON_DISABLE_EOF_CHECK, &error)) != NULL) {
        bool merged = json_is_true(json_object_get(object, "merged"));
        if (json_is_array(json_object_get(object, "results")) && (found == NULL || merged)) {
            json_decref(found);
            found = json_incref(object);
        }
        good = good && gather(windows, &schedule, object);
        json_decref(object);
    }
    if (in != NULL) {
        fclose(in);
    }
    good = good && (found == NULL || fill(found, windows, schedule));
    json_decref(windows);
    json_decref(schedule);
    if (!good) {
        json_decref(found);
    }
    return good ? found : NULL;
}
