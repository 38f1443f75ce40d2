/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a program under the runtime's eyes, and waiting for its end. */
#ifndef TMS_CLI_LAUNCH_H
#define TMS_CLI_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/live_report.h"
#include "cli/options.h"
#include "protocol/config.h"

struct tms_launch {
    const struct tms_rt_config *config; /* what the runtime in the program is to do */
    const char *preload; /* a library to be loaded into it, before all others; NULL: none */
    struct tms_on_demand *demand; /* reports while it runs; NULL: none */
};

/*
 * Runs the program with the environment that says what the runtime in it is to do, and with all
 * that is ours: files, terminal, signals. What others send us with kill is sent on to it, but for
 * the signal that asks for a report; what a key on the terminal sends reaches it anyway. *status is
 * that of waitpid, *seconds how long it ran. False after a sentence if it can't be started.
 */
bool tms_launch(const struct tms_operands *operands, const struct tms_launch *launch, pid_t *pid,
                int *status, double *seconds);

#endif
