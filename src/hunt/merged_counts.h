/* SPDX-License-Identifier: Apache-2.0 */
/* Combines the counts of the runs of a hunt: `trace` and `results` without their findings. */
#ifndef TMS_HUNT_MERGED_COUNTS_H
#define TMS_HUNT_MERGED_COUNTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Both return a new object, NULL if out of memory. `path` names the subject of the result. */
json_t *tms_merged_trace(json_t *const *records, size_t count, const char *path);
json_t *tms_merged_engines(json_t *const *records, size_t count);

#endif
