/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a hunt: a set of runs (run_record.h), and for each finding its most informative
 * example: observed rather than predicted, of the highest level, of the first run.
 *
 * Everything else is derived from the set. So results can be merged in any order, and a run that
 * several of them contain counts once: hunts are identified by a key made of program, options, seed
 * and strategy, and runs of a hunt by their index.
 *
 * Not thread-safe. Memory grows with runs times findings.
 */
#ifndef TMS_HUNT_HUNT_RESULT_H
#define TMS_HUNT_HUNT_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All are JSON objects. */
struct tms_hunt {
    json_t *hunts;    /* by key: how a hunt was made, an entry of hunts[] (docs/user/hunting.md) */
    json_t *runs;     /* by hunt and index: records */
    json_t *examples; /* by key of the finding: `hunt`, `index`, `engine`, `finding` */
    json_t *windows;  /* by id and sites: what runs have learned (docs/user/schedules.md) */
    json_t *origin;   /* of a result: version, host, started; NULL: there was none yet */
};

/* False if out of memory; call tms_hunt_clear in both cases. */
bool tms_hunt_init(struct tms_hunt *hunt);
void tms_hunt_clear(struct tms_hunt *hunt);

/*
 * The key of a hunt, which the caller frees: a hash of everything that identifies it. NULL if out
 * of memory.
 */
char *tms_hunt_key(const json_t *entry);

/*
 * Adds the parameters of a hunt: `hunt` is its key; `program`, `options`, `seed`, `strategy`,
 * `planned` (null: as many runs as time allows) and others. If the key exists, keeps the entry with
 * the longer plan. Takes ownership of the entry. False if out of memory.
 */
bool tms_hunt_made(struct tms_hunt *hunt, const char *key, json_t *entry);

/* What a run has shown. */
enum tms_news {
    TMS_NEWS_FAILED = -1, /* out of memory */
    TMS_NEWS_NONE,
    TMS_NEWS_SOME, /* an error or warning that no run had shown as strongly */
};

/* Adds the windows of a result, as tms_hunt_add does too. False if out of memory. */
bool tms_hunt_add_windows(struct tms_hunt *hunt, const json_t *result);

/* Adds a record and takes ownership of it; `result` is the JSON object of the run, or NULL. */
enum tms_news tms_hunt_add(struct tms_hunt *hunt, json_t *record, const json_t *result);

/*
 * Merges another result: its records and its examples, which are copied or shared; `from` is
 * unchanged. False if out of memory.
 */
bool tms_hunt_merge(struct tms_hunt *hunt, const struct tms_hunt *from);

/* Numbers for progress and summaries. */
struct tms_hunt_counts {
    uint64_t runs, failed, timeouts, unwatched;
    uint64_t observed, predicted; /* judged errors and warnings, that are not suppressed or known */
};
struct tms_hunt_counts tms_hunt_count(const struct tms_hunt *hunt);

/* The records sorted by hunt and index: a list that the caller frees, NULL if out of memory. */
json_t **tms_hunt_records(const struct tms_hunt *hunt, size_t *count);

/*
 * By id, the record of the first run that showed a finding of `judge` with the evidence that it has
 * now: a new object, NULL if out of memory.
 */
json_t *tms_hunt_firsts(const struct tms_hunt *hunt);

#endif
