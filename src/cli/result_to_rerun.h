/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A result whose program is run again, for `confirm` and `replay`: the directory of a hunt, which
 * `merge` may have written as well, or a JSON file that `run` or `hunt` wrote.
 */
#ifndef TMS_CLI_RESULT_TO_RERUN_H
#define TMS_CLI_RESULT_TO_RERUN_H

#include <limits.h>

#include "cli/options.h"
#include "cli/subprocess.h"
#include "hunt/hunt_directory.h"
#include "hunt/hunt_result.h"

struct tms_rerun {
    json_t *result;                      /* findings and windows */
    struct tms_hunt hunt;                /* of a directory: its runs, … */
    struct tms_hunt_directory directory; /* … open to add to them */
    bool is_directory;
    struct tms_words program, options;
    char working_directory[PATH_MAX]; /* where the program ran, "": unknown */
    char input[PATH_MAX];             /* its standard input; "": none */
};

/*
 * Reads it. `update`: it will be changed, so it is locked against other writers. False after a
 * sentence; tms_rerun_close is due in both cases.
 */
bool tms_rerun_open(struct tms_rerun *rerun, const char *path, bool update);
void tms_rerun_close(struct tms_rerun *rerun);

/* The judged finding with that id, NULL: there is none. */
const json_t *tms_rerun_finding(const struct tms_rerun *rerun, const char *id);

/* Is this word the id of a finding, and no program? */
bool tms_is_finding_id(const char *word);

/*
 * The program to be run: those of the operands from `first` on, or else that of the result, whose
 * directory then becomes the working directory. False after a sentence.
 */
bool tms_rerun_program(const struct tms_rerun *rerun, const struct tms_operands *operands,
                       size_t first, struct tms_operands *program);

/* Says which ids there are. TMS_EXIT_BAD. */
int tms_rerun_no_id(const struct tms_rerun *rerun, const char *path, const char *id);

/* "deposit(), account.balance": what a finding is about, for a line on standard output. */
void tms_rerun_describe(const json_t *finding);

#endif
