/* SPDX-License-Identifier: Apache-2.0 */
/* replay --gdb: the program under gdb, which stops at each step of the finding. */
#ifndef TMS_CLI_REPLAY_GDB_H
#define TMS_CLI_REPLAY_GDB_H

#include "cli/options.h"

/*
 * Runs gdb on the program along the text of a directed schedule, with all that is ours: terminal,
 * files, signals. TMS_EXIT_OK when gdb has ended, or TMS_EXIT_BAD after a sentence.
 */
int tms_replay_gdb(const char *schedule, const struct tms_operands *program);

#endif
