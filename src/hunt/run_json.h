/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TMS_HUNT_RUN_JSON_H
#define TMS_HUNT_RUN_JSON_H

#include <jansson.h>

/*
 * Reads the JSON that `tmesis run --json` wrote: for several processes the merged object, with the
 * windows of all of them. Returns a new reference; NULL: there is none, or the file is invalid.
 */
json_t *tms_run_json(const char *path);

#endif
