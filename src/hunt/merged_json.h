/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a hunt as a JSON object of the shape that `run --json` writes (docs/user/json.md),
 * each finding with `runs`, `failed_runs` and `first_seed`, ranked: findings that correlate with
 * failures of the program first (fisher.h), then by level, evidence and rarity.
 */
#ifndef TMS_HUNT_MERGED_JSON_H
#define TMS_HUNT_MERGED_JSON_H

#include "hunt/hunt_result.h"

/*
 * A new object; NULL if out of memory. `partial`: the hunt has not ended. The same set of runs
 * yields the same object. Cost: runs times findings.
 */
json_t *tms_hunt_json(const struct tms_hunt *hunt, bool partial);

/*
 * The inverse, for examples and hunts; runs are read from their own file. False if out of memory.
 */
bool tms_hunt_from_json(struct tms_hunt *hunt, const json_t *result);

#endif
