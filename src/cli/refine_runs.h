/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that was run some times with every access recorded, and what its processes recorded as
 * traces that can be checked again and again: for `refine`. The recordings stay where the runtime
 * put them until the end.
 */
#ifndef TMS_CLI_REFINE_RUNS_H
#define TMS_CLI_REFINE_RUNS_H

#include "cli/check_job.h"
#include "cli/process_result.h"

/* What the user says about the runs. */
struct tms_program_options {
    uint64_t runs;
    struct tms_maybe perturb;
};

/* The recording of one process. */
struct tms_program_trace {
    char *title; /* "./bank, run 2" */
    size_t run, spool;
};

struct tms_program_runs {
    struct tms_watched *watched; /* by run */
    size_t count;
    struct tms_program_trace *traces;
    size_t trace_count;
};

/* Is the first operand a program that can be run? */
bool tms_program_is_there(const struct tms_operands *operands);

/*
 * Runs it. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence; tms_program_free is due in both cases.
 */
int tms_program_run(struct tms_program_runs *runs, const struct tms_program_options *options,
                    const struct tms_operands *operands, const char *split, bool quiet);
void tms_program_free(struct tms_program_runs *runs);

/*
 * Checks one of the traces: as tms_checking_run, with `checking` and `process` zero. The context
 * belongs to `process`; tms_program_checked is due in all cases.
 */
int tms_program_check(const struct tms_program_runs *runs, size_t index,
                      const struct tms_settings *settings, struct tms_checking *checking,
                      struct tms_process_result *process);
void tms_program_checked(struct tms_checking *checking, struct tms_process_result *process);

#endif
