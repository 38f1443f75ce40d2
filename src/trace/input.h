/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a trace from any source: a file, a pipe or standard input, plain, gzip or zstd
 * (recognized by their first bytes, also when several members follow each other).
 *
 * A reader looks at the window [at, end) and moves `at` forward. When it needs more than the window
 * holds it calls tms_input_more, which keeps the rest and appends. At least TMS_INPUT_PAD bytes
 * after `end` are always readable (and zero), so that a reader may load whole words near the end.
 */
#ifndef TMS_TRACE_INPUT_H
#define TMS_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

#define TMS_INPUT_PAD 64

struct tms_input_source; /* how the bytes are got: plain, gzip, zstd */

struct tms_input {
    const char *at;  /* next byte */
    const char *end; /* one past the last byte */
    uint64_t offset; /* of `at` in the decompressed stream, as of the last tms_input_more */
    struct tms_input_source *source;
};

/* The path for messages: unchanged, or "standard input" for "-". */
const char *tms_input_name(const char *path);

/* `path` must live as long as the input. */
int tms_input_open(struct tms_context *context, const char *path, struct tms_input *input);

/*
 * Appends more bytes to those not yet consumed: 1 if there are more now, 0 at the end of the input,
 * or a negative code with the sentence in the context. Pointers into the window move. A window that
 * is full grows, so the caller bounds what it asks for.
 */
int tms_input_more(struct tms_input *input);

/* A compressed input that ended in the middle of a member: what was there has been read. */
bool tms_input_cut(const struct tms_input *input);

/* Bytes taken from the underlying file, and its size or 0. */
uint64_t tms_input_position(const struct tms_input *input, uint64_t *size);

void tms_input_close(struct tms_input *input);

#endif
