/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a program among many: `tmesis run` as a child process with a time limit. No process of
 * it survives.
 *
 * Between the two is a supervisor, a child of the caller in a process group of its own: the key
 * that interrupts a hunt reaches the hunt alone. It is a subreaper, so that it inherits all
 * processes that outlive the program, even daemons, and kills them. If the caller dies, it ends the
 * run.
 *
 * A run that takes too long gets SIGTERM, which `tmesis run` passes on and reports about; then the
 * program is killed, and last `tmesis run`.
 */
#ifndef TMS_CLI_HUNT_TRIAL_H
#define TMS_CLI_HUNT_TRIAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/subprocess.h"

/* Bytes of standard error that are kept: the last ones. */
#define TMS_TRIAL_SAID 65536

/* How it went; the supervisor writes it, and the caller reads it once the supervisor has ended. */
struct tms_trial_outcome {
    bool started;   /* `tmesis run` was */
    bool timed_out; /* it took too long */
    bool stopped;   /* because the caller wanted it to */
    int status;     /* of `tmesis run`, as of waitpid */
    double seconds;
    size_t said; /* bytes of standard error, of which the last are in `text`, as a ring */
    char text[TMS_TRIAL_SAID];
};

struct tms_trial {
    pid_t supervisor; /* 0: none */
    struct tms_trial_outcome *outcome;
};

/* The command to run. */
struct tms_trial_plan {
    const struct tms_words *words; /* of `tmesis run` */
    const char *input;             /* file for its standard input */
    const char *directory;         /* for its temporary files, which are removed afterwards */
    double limit;                  /* seconds; 0: none */
};

/*
 * Starts it. SIGCHLD, SIGINT, SIGTERM and SIGHUP must be blocked; `before` is the mask that the
 * program is to have. False after a sentence. tms_trial_free is due in both cases.
 */
bool tms_trial_start(struct tms_trial *trial, const struct tms_trial_plan *plan,
                     const void *before);

/* Asks it to end; twice: at once. */
void tms_trial_stop(const struct tms_trial *trial);

/*
 * The end of the program's standard error, in order: `text` has room for TMS_TRIAL_SAID bytes.
 * Returns how many there are.
 */
size_t tms_trial_said(const struct tms_trial *trial, char *text);

void tms_trial_free(struct tms_trial *trial);

/* Removes a directory and all that is in it. */
void tms_remove_tree(const char *path);

#endif
