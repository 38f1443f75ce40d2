/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of a program before it runs: that there is none, that an option took its
 * place, that it can't be watched, or that names and lines will be missing in the report.
 */
#ifndef TMS_CLI_PREFLIGHT_H
#define TMS_CLI_PREFLIGHT_H

#include <limits.h>

#include "cli/watched_run.h"

/*
 * Finds the program as the system will; *path stays its name if it is not there, which the start
 * then says. False after a sentence if something else was meant. `file` is what an option in front
 * of it took for a file to write, or NULL, and `option` its name.
 */
bool tms_preflight_find(const char *program, const struct tms_watching *watching,
                        const char *option, const char *file, char path[PATH_MAX]);

/*
 * For a program that is to have the runtime in it. False after a sentence if no result can come of
 * it; one that may start others is only remarked upon.
 */
bool tms_preflight_watchable(const char *program, bool quiet);

/*
 * For a program that may do without the runtime: `preload` gets the path of the library that is to
 * be loaded into it, or "" if it has the runtime, or if its start will fail. False after a sentence
 * if nothing can be loaded into it.
 */
bool tms_preflight_preload(const char *program, bool quiet, char preload[PATH_MAX]);

/* Remarks on symbols and lines that are missing. */
void tms_preflight_remark(const char *program);

#endif
