/* SPDX-License-Identifier: Apache-2.0 */
/* What runs of a hunt counted, put together: `trace` and `results` without their findings. */
#ifndef TMS_HUNT_MERGED_COUNTS_H
#define TMS_HUNT_MERGED_COUNTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Both are new; NULL when memory is short. `path` is what the result is about. */
json_t *tms_merged_trace(json_t *const *records, size_t count, const char *path);
json_t *tms_merged_engines(json_t *const *records, size_t count);

#endif
