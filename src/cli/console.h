/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminal input and output of all commands: messages and complaints on standard error, colour,
 * checked output, and the progress line.
 *
 * Reports go to standard error and data to standard output. A reader that closed standard
 * output early (`| head`) is not an error; a full disk is.
 */
#ifndef TMS_CLI_CONSOLE_H
#define TMS_CLI_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options.h"
#include "tmesis/tmesis.h"

/*
 * "tmesis: sentence" on standard error, made printable as by tms_console_name; a progress line is
 * wiped away first by its owner.
 */
__attribute__((format(printf, 1, 2))) void tms_say(const char *format, ...);

/* Only "tmesis: ", for a sentence made of several pieces. */
void tms_say_begin(void);

/* The same as tms_say, returning TMS_EXIT_BAD: `return tms_bad(…)`. */
__attribute__((format(printf, 1, 2))) int tms_bad(const char *format, ...);

/* Says why a trace can't be read or checked, and what to type about it. TMS_EXIT_BAD. */
int tms_bad_input(const struct tms_context *context, int code, const char *format);

/*
 * Says why a trace can't be written to `path`; `to` is the value of --to. TMS_EXIT_BAD, or
 * quietly TMS_EXIT_OK if the reader of standard output has closed it.
 */
int tms_bad_output(const struct tms_context *context, int code, const char *path, const char *to);

/* The JSON object of a trace that can't be read. */
void tms_console_json_error(FILE *out, const char *path, const char *message);

/* For tms_context_new: says the complaint; `user` may be NULL or a `struct tms_progress`. */
void tms_console_complain(void *user, const char *message);

/* For tms_report: `user` is a FILE. */
bool tms_console_sink(void *user, const char *text, size_t length);

/* A name or path for a terminal: control characters and malformed UTF-8 are replaced. */
void tms_console_name(FILE *out, const char *name);

/* The exit status of two traces together: bad input > violation > incomplete > fine. */
int tms_console_worse(int a, int b);

/* Colours on this descriptor? `choice` is the value of --color; NO_COLOR and dumb terminals count.
 */
bool tms_console_color(const char *choice, int descriptor);

/* A stream to write to that remembers why it could not be written. */
struct tms_stream {
    FILE *out;
    int fd;    /* not closed with it */
    int error; /* errno of the first write that failed */
    bool reported;
};

/* False when memory is short. The structure stays where it is. */
bool tms_stream_open(struct tms_stream *stream, int fd);

/* Writes out what it still holds; TMS_EXIT_BAD after a sentence if that failed. */
int tms_stream_close(struct tms_stream *stream, const char *name);

/* Makes `stdout` such a stream; false when memory is short. */
bool tms_console_start(void);

/* Writes out what `stdout` still holds; TMS_EXIT_BAD, after a sentence once, if that failed. */
int tms_console_flush(void);

/* How wide it is: COLUMNS, or the terminal's own size; 0: unknown. */
unsigned tms_console_columns(int descriptor);

/* Characters of UTF-8 text, not bytes. */
int tms_console_width(const char *text, size_t length);

/*
 * Writes a paragraph and its line end, wrapped; the first line is taken to be at column
 * `indent` already, further ones are indented by as much.
 */
void tms_console_wrap(FILE *out, int indent, const char *text);

/*
 * A line on standard error that is rewritten while something takes long. It appears only on a
 * terminal and only after a second.
 */
struct tms_progress {
    bool wanted;    /* on a terminal, and not --no-progress or --quiet */
    bool shown;     /* there is a line to wipe away */
    bool muted;     /* complaints were made before, and are not repeated */
    double started; /* seconds of the monotonic clock */
    double last;
    uint64_t events;
};

void tms_progress_start(struct tms_progress *progress, const struct tms_common *common);

/* After each batch; `done` of `total` (0: unknown) in any unit. */
void tms_progress_step(struct tms_progress *progress, uint64_t events, uint64_t done,
                       uint64_t total);

/* Wipes the line away; it comes back with the next step. */
void tms_progress_hide(struct tms_progress *progress);

#endif
