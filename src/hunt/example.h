/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example that is shown for each finding of a hunt. Examples are stored by key (run_record.h)
 * as objects with `hunt` and `index` of the run, `engine`, and `finding` as the run wrote it.
 */
#ifndef TMS_HUNT_EXAMPLE_H
#define TMS_HUNT_EXAMPLE_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Adds the findings of one engine in one run. Returns 1 if an error or a warning is new, or has
 * stronger evidence or a higher level now; 0 if none is; -1 if out of memory.
 */
int tms_examples_take(json_t *examples, const json_t *record, const json_t *result);

/*
 * Adds an example and takes ownership of it. Returns 1 if the finding is new or has a more
 * informative example now; else as above.
 */
int tms_examples_add(json_t *examples, const char *key, json_t *example);

/* The finding of `judge` with that id, NULL: there is none. */
const json_t *tms_examples_judged(const json_t *examples, const char *id);

/* The origin of a result as a new object; NULL if out of memory. */
json_t *tms_origin_of(const json_t *result);

/* Did the first begin after the second? A total order. */
bool tms_origin_is_later(const json_t *one, const json_t *two);

/* The rank of the `evidence` and of the `level` of a finding: 0 is the strongest or most severe. */
int tms_evidence_place(const json_t *finding);
int tms_level_place(const json_t *finding);

#endif
