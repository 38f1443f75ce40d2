/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON file of one run; see run_json.h. */
#include "hunt/run_json.h"

#include <stdbool.h>
#include <stdio.h>

json_t *tms_run_json(const char *path)
{
    FILE *in = fopen(path, "re");
    json_t *found = NULL, *object;
    json_error_t error;

    while (in != NULL && (object = json_loadf(in, JSON_DISABLE_EOF_CHECK, &error)) != NULL) {
        bool merged = json_is_true(json_object_get(object, "merged"));
        if (json_is_array(json_object_get(object, "results")) && (found == NULL || merged)) {
            json_decref(found);
            found = json_incref(object);
        }
        json_decref(object);
    }
    if (in != NULL) {
        fclose(in);
    }
    return found;
}
