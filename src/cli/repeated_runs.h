/* SPDX-License-Identifier: Apache-2.0 */
/* tmesis run --runs=N: a hunt with defaults that ends as a run does. */
#ifndef TMS_CLI_REPEATED_RUNS_H
#define TMS_CLI_REPEATED_RUNS_H

#include "cli/fail_on.h"
#include "cli/options.h"
#include "cli/subprocess.h"
#include "tmesis/tmesis.h"

struct tms_many_runs {
    const struct tms_common *common;
    const struct tms_operands *program;
    const struct tms_words *options; /* for each run */
    const struct tms_fail_on *fail_on;
    const struct tms_report_settings *settings;
    uint64_t runs;
    uint64_t seed;
    bool noise;       /* random delays in every run; otherwise as `hunt` does */
    int exit_code;    /* if there is a violation */
    const char *json; /* NULL: none wanted */
    const struct tms_given *reports;
    const struct tms_storing *storing;
};

/* The exit status, as of `run`. */
int tms_many_runs(const struct tms_many_runs *many);

#endif
