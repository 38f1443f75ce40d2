/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a program under the runtime's eyes, and waiting for its end. */
#ifndef TMS_CLI_LAUNCH_H
#define TMS_CLI_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/options.h"
#include "protocol/config.h"

/*
 * Runs the program with the environment that says what the runtime in it is to do, and with all
 * that is ours: files, terminal, signals. `preload` is a library to be loaded into it, in front of
 * those that are to be loaded anyway, or NULL. What others send us with kill is sent on to it; what
 * a key on the terminal sends reaches it anyway. *status is that of waitpid, *seconds how long it
 * ran. False after a sentence if it can't be started.
 */
bool tms_launch(const struct tms_operands *operands, const struct tms_rt_config *config,
                const char *preload, pid_t *pid, int *status, double *seconds);

#endif
