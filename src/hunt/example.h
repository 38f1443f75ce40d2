/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of each finding of a hunt, the example that is shown: by key (run_record.h) an object with
 * `hunt` and `index` of its run, `engine`, and `finding` as the run wrote it.
 */
#ifndef TMS_HUNT_EXAMPLE_H
#define TMS_HUNT_EXAMPLE_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Takes in the findings of one engine in one run. 1: an error or a warning is new, or has stronger
 * evidence or a worse level now; 0: none is; -1: memory is short.
 */
int tms_examples_take(json_t *examples, const json_t *record, const json_t *result);

/* Takes an example over. 1: the finding is new or has a more informative example; else as above. */
int tms_examples_add(json_t *examples, const char *key, json_t *example);

/* The finding of `judge` with that id, NULL: there is none. */
const json_t *tms_examples_judged(const json_t *examples, const char *id);

/* What a result says of where it comes from, a new object; NULL when memory is short. */
json_t *tms_origin_of(const json_t *result);

/* Did the first begin after the second? A total order. */
bool tms_origin_is_later(const json_t *one, const json_t *two);

/* The place of the `evidence` and the `level` of a finding in order: 0 is the strongest, or worst.
 */
int tms_evidence_place(const json_t *finding);
int tms_level_place(const json_t *finding);

#endif
