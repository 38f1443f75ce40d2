/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs: their arguments, their paths, and their output. */
#ifndef TMS_CLI_SUBPROCESS_H
#define TMS_CLI_SUBPROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A command line; the words are copies. `text` ends with NULL once there is a word. */
struct tms_words {
    char **text;
    size_t count;
    bool failed; /* no memory: words are missing */
};

void tms_words_add(struct tms_words *words, const char *text);
void tms_words_add_part(struct tms_words *words, const char *text, size_t length);
void tms_words_free(struct tms_words *words);

/* A command line as a shell would take it. */
void tms_words_write(FILE *out, const char *const *words, size_t count);

/* The same as a text to be freed; NULL when memory is short. */
char *tms_words_text(const char *const *words, size_t count);

/* The same as a message of ours. */
void tms_words_show(const struct tms_words *words);

/* Is there such a program, by its path or on PATH? */
bool tms_program_exists(const char *name);

/* The path of this program with all links resolved; false if it is unknown. */
bool tms_program_self(char *path, size_t size);

/*
 * Standard descriptors that are closed are taken, so that no file of ours becomes standard output.
 * A program that is started finds them closed as they were.
 */
void tms_descriptors_keep(void);

/*
 * The command ignores SIGPIPE: a reader that goes away shows as a failed write, which
 * tms_console_flush knows. A program that it starts gets what the command was started with.
 */
void tms_sigpipe_ignore(void);
void tms_sigpipe_restore(void);

/* Becomes the program. Returns only if it can't, with TMS_EXIT_BAD after a sentence. */
int tms_program_become(const struct tms_words *words);

/*
 * Runs a program with nothing to read, and keeps the start of what it wrote to standard output
 * and standard error. Returns its exit status, 128 and the number of the signal that ended it,
 * or -1 if it could not be started.
 */
int tms_program_ask(const struct tms_words *words, char *said, size_t size);

#endif
