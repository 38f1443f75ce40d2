/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program and watches it until its end, for `run` and `record`: the options of both, the
 * configuration of the runtime inside the program (src/protocol/config.h), and the spools that it
 * and its child processes write.
 *
 * Spools are in a temporary directory, which the command removes.
 */
#ifndef TMS_CLI_WATCHED_RUN_H
#define TMS_CLI_WATCHED_RUN_H

#include <limits.h>
#include <sys/types.h>

#include "cli/check_job.h"
#include "cli/options.h"
#include "cli/schedule_option.h"
#include "cli/spec_options.h"
#include "spool/spool_reader.h"

/* Exit statuses of commands that otherwise have that of a program. */
#define TMS_EXIT_WATCH_BAD 125 /* usage, or the program could not be started or watched */
#define TMS_EXIT_SIGNAL    128 /* and the number of the signal that ended the program */

struct tms_watching {
    struct tms_given rules;
    const char *split;
    struct tms_maybe perturb;
    uint64_t max_size;
    bool full;
    bool exact_races;
    const char *memory;                         /* "on" or "off" */
    const struct tms_chosen_schedule *schedule; /* NULL: none */
};

/* Rows of an option table for rules of a watched program; `field` is that of a struct tms_given. */
#define TMS_WATCHING_RULES(field)                                                                  \
    TMS_SPEC_OPTION("atomic", field, "PATTERN", TMS_BRIEF_ATOMIC,                                  \
                    "functions and blocks whose name matches are meant to be atomic, and no "      \
                    "others unless another rule says so; @functions means all functions, "         \
                    "@threads these and thread start functions, @locks all critical sections, "    \
                    "@annotations the blocks marked in the source"),                               \
        TMS_SPEC_OPTION("not-atomic", field, "PATTERN", TMS_BRIEF_NOT_ATOMIC,                      \
                        "functions and blocks whose name matches are not meant to be atomic"),     \
        TMS_SPEC_OPTION("spec", field, "FILE", TMS_BRIEF_SPEC,                                     \
                        "read such rules from FILE, one per line")

/* Rows of an option table; `field` is the offset of a struct tms_watching. */
#define TMS_WATCHING_OPTIONS(field)                                                                \
    TMS_WATCHING_RULES((field) + offsetof(struct tms_watching, rules)),                            \
        TMS_SPLIT_OPTION((field) + offsetof(struct tms_watching, split)),                          \
        {.name = "perturb",                                                                        \
         .type = TMS_OPTION_MAYBE,                                                                 \
         .at = (field) + offsetof(struct tms_watching, perturb),                                   \
         .environment = true,                                                                      \
         .value = "SEED",                                                                          \
         .help = "delay threads at random inside blocks, so that other threads interleave more "   \
                 "often; the same SEED repeats the same delays",                                   \
         .brief = "delay threads at random, so that bugs show sooner"},                            \
        {.name = "max-size",                                                                       \
         .type = TMS_OPTION_COUNT,                                                                 \
         .at = (field) + offsetof(struct tms_watching, max_size),                                  \
         .environment = true,                                                                      \
         .value = "BYTES",                                                                         \
         .help = "record at most so much per process, for example 500M; if the run exceeds it, "   \
                 "the verdict is incomplete; 0: no limit"},                                        \
        {.name = "memory",                                                                         \
         .type = TMS_OPTION_CHOICE,                                                                \
         .at = (field) + offsetof(struct tms_watching, memory),                                    \
         .initial = "on",                                                                          \
         .word = tms_word_memory,                                                                  \
         .environment = true,                                                                      \
         .value = "on|off",                                                                        \
         .help = "off: watch only locks and atomics, not plain loads and stores; faster, but "     \
                 "finds no data races and can't say whether data was affected"},                   \
        {.name = "exact-races",                                                                    \
         .type = TMS_OPTION_FLAG,                                                                  \
         .at = (field) + offsetof(struct tms_watching, exact_races),                               \
         .environment = true,                                                                      \
         .help = "be exact for racing plain accesses as well; slower. Without it, violations "     \
                 "that follow from a data race may be missed in functions that run often"},        \
    {                                                                                              \
        .name = "full", .type = TMS_OPTION_FLAG,                                                   \
        .at = (field) + offsetof(struct tms_watching, full), .environment = true,                  \
        .help = "record every access, not only those that can affect a verdict"                    \
    }

const char *tms_word_memory(size_t index);

#define TMS_WATCH_SPOOL_ENDING ".spool"

/* The variable in which one command passes the directory for spools to another; programs don't get
 * it. */
#define TMS_WATCH_DIRECTORY "TMESIS_RT_DIRECTORY"

/* The directory in which a command makes its own, for spools of that TMESIS_RT_MODE. */
const char *tms_watch_base(const char *mode);

/* The state of a run, while it lasts and after it. */
struct tms_watched {
    char directory[PATH_MAX]; /* "": none */
    char **spools;            /* paths: the program's own first, then its children's by process */
    size_t spool_count;
    pid_t pid;
    int status;     /* as the program's own: its exit status, or 128 and its signal */
    bool signalled; /* a signal ended it */
    double seconds; /* that it ran */
    uint64_t seed;  /* of --perturb or --schedule */
    char *command;  /* its command line, as a shell would take it */
    int failures;   /* socket on which processes say that they can't be watched, -1: none */
    bool unwatched; /* some process left nothing to judge; this was reported */
    bool running;   /* it still runs: the events until now count */
    bool late;      /* although it got SIGTERM */
    size_t reports; /* that were written while it ran */
};

/* The seed of --perturb: that which is given, or else one is chosen. False after a sentence. */
bool tms_watch_seed(const struct tms_maybe *perturb, uint64_t *seed);

/* How it is to be watched. */
struct tms_manner {
    const char *mode;    /* for TMESIS_RT_MODE */
    bool blame;          /* false: the bare verdict */
    unsigned predict;    /* enum tms_predict and enum tms_rt_predict: decided inside; 0: nothing */
    bool judges;         /* what happens to data is judged inside the program */
    const char *preload; /* the library for programs without the runtime, NULL: it has it */
    int report_signal;   /* by which the command is asked for a report, … */
    bool report_inside;  /* … and processes that have no handler for it */
    /* Writes that report, about what `watched` has then (live_report.h); NULL: there is none. */
    void (*report)(void *user);
    void *user;
};

/*
 * Runs the program to its end. TMS_EXIT_OK, or TMS_EXIT_WATCH_BAD after a sentence;
 * tms_watched_free is due in both cases.
 */
int tms_watch(struct tms_watched *watched, const struct tms_watching *watching,
              const struct tms_manner *manner, const struct tms_operands *operands);

/* Does a child process that left this header still run? Then it goes on writing. */
bool tms_watched_runs(const struct tms_watched *watched, const struct tms_spool_header *header);

/* Removes the spools. */
void tms_watched_free(struct tms_watched *watched);

#endif
