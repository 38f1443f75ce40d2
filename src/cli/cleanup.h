/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary files and directories, which are removed even if a signal (^C, TERM) ends the command.
 * They are few; the handler knows their paths.
 */
#ifndef TMS_CLI_CLEANUP_H
#define TMS_CLI_CLEANUP_H

#include <stdbool.h>

/* Installs the handler, for signals that are not ignored. Once, before anything else. */
void tms_cleanup_start(void);

/*
 * Between the two no signal ends the command: something is being created that is to be removed.
 * Blocking calls are still interrupted.
 */
void tms_cleanup_hold(void);
void tms_cleanup_release(void);

/* Adds a file, or a directory of files. */
void tms_cleanup_add(const char *path);

/* Makes a directory, as mkdtemp does, and adds it; false with errno. */
bool tms_cleanup_make_directory(char *template);

/* It is gone, or is to stay. */
void tms_cleanup_forget(const char *path);

/* Removes it now. */
void tms_cleanup_remove(const char *path);

#endif
