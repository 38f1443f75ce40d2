/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TMS_HUNT_RUN_JSON_H
#define TMS_HUNT_RUN_JSON_H

#include <jansson.h>

/*
 * What `tmesis run --json` wrote: of several processes the object over all of them, with the
 * windows that any of them saw. A new reference; NULL: there is none, or the file is not what it
 * should be.
 */
json_t *tms_run_json(const char *path);

#endif
