/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a hunt as a JSON object of the shape that `run --json` writes (docs/user/json.md),
 * each finding with `runs`, `failed_runs` and `first_seed`, ranked: findings that go together with
 * failures of the program first (fisher.h), then by level, evidence and rarity.
 */
#ifndef TMS_HUNT_MERGED_JSON_H
#define TMS_HUNT_MERGED_JSON_H

#include "hunt/hunt_result.h"

/*
 * A new object; NULL when memory is short. `partial`: the hunt goes on. The same set of runs gives
 * the same object. Cost: runs times findings.
 */
json_t *tms_hunt_json(const struct tms_hunt *hunt, bool partial);

/* The way back, for examples and hunts; runs come from their own file. False: memory is short. */
bool tms_hunt_from_json(struct tms_hunt *hunt, const json_t *result);

#endif
