/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of all commands, and those that were meant to be one. */
#ifndef TMS_CLI_ENVIRONMENT_VARIABLES_H
#define TMS_CLI_ENVIRONMENT_VARIABLES_H

/* Remarks on each variable TMESIS_… that is none, but looks like one. */
void tms_variables_check(void);

#endif
