/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that commands write. Each is there whole or not at all (base/atomic_file.h), also if a
 * signal ends the command (cleanup.h), and none replaces a file that the command reads.
 */
#ifndef TMS_CLI_OUTPUT_FILE_H
#define TMS_CLI_OUTPUT_FILE_H

#include <stdbool.h>

#include "base/atomic_file.h"
#include "cli/console.h"
#include "cli/options.h"

struct tms_new_file {
    const char *path; /* as messages name it; NULL: not open */
    int fd;           /* for a trace: where tms_writer_settings has it; 1: standard output */
    struct tms_replace replace;
    struct tms_stream stream; /* .out is for text; NULL: not asked for */
};

/* NULL and "-" are standard output. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence. */
int tms_new_file_open(struct tms_new_file *file, const char *path);

/* The same with a stream to write text to. */
int tms_new_file_open_text(struct tms_new_file *file, const char *path);

/* Whether it could be opened, without leaving anything: a program runs before it is written. */
int tms_new_file_possible(const char *path);

/* Moves it into place. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence, and nothing is left. */
int tms_new_file_close(struct tms_new_file *file);

/* Gives it up; also if it is not open, or already closed. */
void tms_new_file_abandon(struct tms_new_file *file);

/*
 * False after a sentence if the output (NULL or "-": standard output) is also one of the inputs or
 * of the files of rules, also by another name. Both lists may be NULL.
 */
bool tms_new_file_spares(const char *output, const struct tms_operands *inputs,
                         const struct tms_given *rules);

/* Are two outputs one file, there or not? */
bool tms_new_file_twice(const char *a, const char *b);

#endif
