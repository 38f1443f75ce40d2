/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the schedule (docs/user/schedules.md) of the next run of a hunt from the results of
 * earlier runs: windows in which a thread can be held, from predicted findings and from what runs
 * have learned, and the number of scheduling points of a run.
 *
 * A choice depends on the strategy, the seed, the number of the run in its shard, and the results
 * of this shard's runs; nothing is random. Not thread-safe.
 */
#ifndef TMS_HUNT_CHOOSER_H
#define TMS_HUNT_CHOOSER_H

#include "hunt/hunt_result.h"

/* What --strategy takes. X(name, word) */
#define TMS_HUNT_STRATEGIES(X)                                                                     \
    X(AUTO, "auto")         /* learn first, then directed runs, mixed with noise and pct */        \
    X(NOISE, "noise")       /* random delays */                                                    \
    X(PCT, "pct")           /* random priorities */                                                \
    X(DIRECTED, "directed") /* learn first, then directed runs; noise where there is no window */  \
    X(LEARN, "learn")       /* no delays */

enum tms_hunt_strategy {
#define X(name, word) TMS_HUNT_##name,
    TMS_HUNT_STRATEGIES(X)
#undef X
        TMS_HUNT_STRATEGY_COUNT
};

/* NULL after the last. */
const char *tms_hunt_strategy_word(size_t index);

/* Where to suspend a thread so that a finding may occur. */
struct tms_hunt_window {
    char *id;                             /* of the finding */
    char *close, *open, *foreign, *until; /* sites; all but the first may be NULL */
    bool two_locks;                       /* both are acquires, of different locks */
    bool predicted;                       /* else learned: the block may be atomic there */
    bool guarded;   /* the thread holds some lock throughout, which may keep others out */
    uint64_t tries; /* directed runs that had it */
};

/* A given schedule, and how often it showed the first target. */
struct tms_given_schedule {
    char *text;
    uint64_t tries, shown;
    bool surest; /* tried first until it fails */
};

struct tms_chooser {
    enum tms_hunt_strategy strategy;
    uint64_t strength;          /* of noise, per cent */
    uint64_t points;            /* the most scheduling points of a run; 0: unknown */
    uint64_t pct_points;        /* those of pct, which learn counts too; 0: unknown */
    const char *const *targets; /* ids: only windows of these findings; NULL: of all */
    size_t target_count;
    struct tms_given_schedule *given; /* only these are tried; NULL: schedules are chosen */
    size_t given_count;
    struct tms_hunt_window *windows;
    size_t count, capacity;
};

void tms_chooser_clear(struct tms_chooser *chooser);

/* Learns from the JSON object of a run. False if out of memory. */
bool tms_chooser_learn(struct tms_chooser *chooser, const json_t *result);

/*
 * Adds a given schedule with the results so far of it or of similar ones. The schedule that shows
 * the target most often is tried next. False if out of memory.
 */
bool tms_chooser_give(struct tms_chooser *chooser, const char *text, uint64_t tries,
                      uint64_t shown);

/* A run with that schedule has ended. */
void tms_chooser_feedback(struct tms_chooser *chooser, const char *text, bool shown);

/* A schedule that was chosen. */
struct tms_choice {
    const char *strategy; /* its word */
    char *text;           /* of the schedule file, freed by the caller; NULL: out of memory */
};

/*
 * Chooses for a run with this seed, the `number`-th of the shard, from 0. Windows of findings that
 * `hunt` has observed come last.
 */
struct tms_choice tms_choose(struct tms_chooser *chooser, const struct tms_hunt *hunt,
                             uint64_t number, uint64_t seed);

/* How many windows of this finding are known? */
size_t tms_chooser_windows(const struct tms_chooser *chooser, const char *id);

/* Does a schedule hold threads in a window of this finding? */
bool tms_chooser_is_about(const struct tms_chooser *chooser, const char *schedule, const char *id);

/* A directed schedule with the windows of this finding, to be freed; NULL: none is known. */
char *tms_chooser_text(const struct tms_chooser *chooser, const char *id, uint64_t seed);

/* Was the finding with that id observed, as an error or a warning? */
bool tms_hunt_observed(const struct tms_hunt *hunt, const char *id);

#endif
