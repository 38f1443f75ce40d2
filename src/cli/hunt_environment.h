/* SPDX-License-Identifier: Apache-2.0 */
/* What the runs of a hunt have around them: their input, and where they are made. */
#ifndef TMS_CLI_HUNT_ENVIRONMENT_H
#define TMS_CLI_HUNT_ENVIRONMENT_H

#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>

/*
 * Chooses the file that every run reads: `given`, or, if that is NULL, a copy in `directory` of
 * what standard input has if it is a file or a pipe, or else /dev/null. The signals of the set are
 * blocked, and one of them ends the copying. False after a sentence.
 */
bool tms_hunt_input(const char *given, const char *directory, const sigset_t *signals,
                    char input[PATH_MAX]);

/*
 * The machine, the time, and those environment variables that configure the loader, the C library
 * and tmesis; others may contain secrets. A new object, NULL when memory is short.
 */
json_t *tms_hunt_environment(void);

#endif
