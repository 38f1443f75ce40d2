/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of one run of a hunt, a JSON object: a line of runs.jsonl (docs/user/hunting.md).
 *
 *     hunt, index     which run of which hunt this is: together they name it
 *     seed, strategy, schedule   how it was made; `schedule` is the text of the schedule file
 *     outcome         how it ended: kind, status, signal, text, seconds
 *     steering        what became of the schedule: `schedule` of the JSON object of the run
 *     trace, engines  of the JSON object of the run, the results without their findings
 *     findings        key, engine, id, evidence, count; of judged ones level, executions, cut,
 *                     patterns. Findings of several runs are the same if their keys are
 *
 * A result over many runs consists of such records, and of one complete finding for each key.
 */
#ifndef TMS_HUNT_RUN_RECORD_H
#define TMS_HUNT_RUN_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* How a run ended. X(name, text, did the program fail?) */
#define TMS_OUTCOMES(X)                                                                            \
    X(OK, "ok", false)               /* with status 0 */                                           \
    X(STATUS, "status", true)        /* with another one */                                        \
    X(SIGNAL, "signal", true)        /* by a signal */                                             \
    X(TIMEOUT, "timeout", true)      /* it was ended because it took too long */                   \
    X(UNWATCHED, "unwatched", false) /* nothing is known of it: it could not be watched */

enum tms_outcome_kind {
#define X(name, text, fails) TMS_OUTCOME_##name,
    TMS_OUTCOMES(X)
#undef X
};

struct tms_outcome {
    enum tms_outcome_kind kind;
    int status, signal;
    const char *text; /* what the program said about its failure; "" or NULL: nothing */
    double seconds;
};

/* How a run was made. */
struct tms_run_origin {
    const char *hunt; /* key of the hunt */
    uint64_t index, seed;
    const char *strategy, *schedule;
};

/* A text as a JSON string; what is not UTF-8 is replaced. NULL if out of memory. */
json_t *tms_json_text_of(const char *text);

/*
 * The record of a run; `result` is the JSON object that it wrote, NULL: it wrote none. The caller
 * owns the new object. NULL if out of memory.
 */
json_t *tms_run_record(const struct tms_run_origin *origin, const struct tms_outcome *outcome,
                       const json_t *result);

/* Accessors of a record. Texts live as long as it does. */
const char *tms_record_hunt(const json_t *record);
uint64_t tms_record_index(const json_t *record);
uint64_t tms_record_seed(const json_t *record);
enum tms_outcome_kind tms_record_outcome(const json_t *record);
bool tms_record_failed(const json_t *record);

/* Does the run show the judged finding with that id as observed? */
bool tms_record_shows(const json_t *record, const char *id);

/* The key of a finding of an engine: a new string, NULL if out of memory. */
char *tms_finding_key(const char *engine, const json_t *finding);

/* Is this a valid record? Needed because records come from files. */
bool tms_record_is_sound(const json_t *record);

#endif
