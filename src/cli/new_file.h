/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is there whole or not at all: it is written beside its place and moved there when
 * it is finished. What is no regular file (a pipe, a device) is written as it is.
 */
#ifndef TMS_CLI_NEW_FILE_H
#define TMS_CLI_NEW_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct tms_new_file {
    FILE *out; /* NULL: not open */
    const char *path;
    char target[PATH_MAX];         /* the path behind its links */
    char temporary[PATH_MAX + 32]; /* "": written in place */
};

/* NULL and "-" are standard output. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence. */
int tms_new_file_open(struct tms_new_file *file, const char *path);

/* Moves it into place. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence, and nothing is left. */
int tms_new_file_close(struct tms_new_file *file);

/* Gives it up; also if it is not open, or already closed. */
void tms_new_file_abandon(struct tms_new_file *file);

/* Are both there, and one regular file? */
bool tms_same_file(const char *a, const char *b);

#endif
