/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program run again and again, each time with another schedule, and one result over all runs.
 * For `hunt`, `run --runs`, `confirm` and `replay`.
 *
 * Runs are child processes (hunt_trial.h), several at a time if asked for. Signals are blocked
 * meanwhile and taken one by one: the first that would end the command ends the hunt, with a result
 * of what was found so far; the second ends the runs that are left at once.
 */
#ifndef TMS_CLI_HUNT_LOOP_H
#define TMS_CLI_HUNT_LOOP_H

#include "cli/options.h"
#include "cli/subprocess.h"
#include "hunt/chooser.h"
#include "hunt/hunt_directory.h"
#include "hunt/hunt_result.h"
#include "hunt/shard.h"

/* Defaults that are shown to people as well. */
#define TMS_HUNT_RUNS  100 /* without --runs and --time: at most so many runs, … */
#define TMS_HUNT_TIME  60  /* … so many seconds, … */
#define TMS_HUNT_QUIET 25  /* … and so many runs after the last that showed something new */

/*
 * Rows of an option table: the limit of a run, and the seed of the first. `field` and `is_given`
 * are offsets; `more` is added to the sentence of --help, `in_brief` is its brief text or NULL.
 */
#define TMS_RUN_TIMEOUT_OPTION(field, more)                                                        \
    {                                                                                              \
        .name = "timeout", .type = TMS_OPTION_SECONDS, .at = (field), .value = "SECONDS",          \
        .help = "kill a run that takes longer" more                                                \
                ". Default: ten times as long as the first run, but at least 10 seconds",          \
        .brief = "kill a run that takes longer" more                                               \
    }

#define TMS_SEED_OPTION(field, is_given, more, in_brief)                                           \
    {                                                                                              \
        .name = "seed", .type = TMS_OPTION_COUNT, .at = (field), .given = (is_given),              \
        .most = TMS_SEED_MOST, .value = "N",                                                       \
        .help = "the seed of the first run" more ". Default: random", .brief = (in_brief)          \
    }

/* What is wanted. */
struct tms_hunting_plan {
    const struct tms_common *common;
    const struct tms_operands *program;
    const struct tms_words *options; /* for `tmesis run` */
    uint64_t runs;                   /* of all shards; 0: no limit */
    double seconds;                  /* 0: no limit */
    uint64_t quiet_runs;             /* stop after so many without new findings; 0: no limit */
    uint64_t jobs;                   /* at a time */
    uint64_t seed;
    enum tms_hunt_strategy strategy;
    uint64_t strength; /* of noise, per cent */
    struct tms_shard shard;
    double run_limit;           /* seconds for each run; 0: by the first */
    const char *const *targets; /* ids that directed runs are about; NULL: all */
    size_t target_count;
    bool until_observed;             /* stop when all of them were */
    const struct tms_chooser *given; /* whose schedules are tried as they are; NULL: none */
    const char *input;               /* a file for all runs; NULL: what standard input has */
    const json_t *source;            /* a result whose windows are known; NULL: none */
    const char *output;              /* directory for the result; NULL: a new one */
    bool keep;                       /* false: the directory is gone at the end */
};

struct tms_hunting {
    const struct tms_hunting_plan *plan;
    struct tms_hunt hunt;
    struct tms_chooser chooser;
    struct tms_hunt_directory directory;
    char *key;           /* of the hunt */
    char work[PATH_MAX]; /* directory of temporary files, "": none */
    char input[PATH_MAX];
    double seconds;   /* that it took */
    bool interrupted; /* a signal ended it */
    bool unusable;    /* the program can't be watched; this was reported */
    bool unsaved;     /* some of the result could not be written; this was reported */
};

/*
 * Hunts. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence if nothing could be run; the result is in
 * `hunting->hunt` and in the directory. tms_hunting_free is due in both cases.
 */
int tms_hunting_run(struct tms_hunting *hunting, const struct tms_hunting_plan *plan);
void tms_hunting_free(struct tms_hunting *hunting);

#endif
