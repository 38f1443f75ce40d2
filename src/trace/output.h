/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the bytes of a trace to a file or standard output, plain, gzip or zstd. Buffered; an error
 * is kept and returned by the next call and by tms_output_close.
 *
 * A file gets its name only when it is complete (base/atomic_file.h). Messages show the path as
 * given.
 */
#ifndef TMS_TRACE_OUTPUT_H
#define TMS_TRACE_OUTPUT_H

#include <stddef.h>

#include "base/context.h"

struct tms_output;

/*
 * `compression`: "none", "gz" or "zst"; `level` 0 is the library's default. `path` must
 * live as long as the output. `descriptor` is where the bytes go instead, and stays open; 0: none.
 */
int tms_output_open(struct tms_context *context, const char *path, const char *compression,
                    int level, int descriptor, struct tms_output **out);
int tms_output_write(struct tms_output *output, const void *bytes, size_t length);

/* Flushes, closes, gives the file its name, and frees. After an error nothing is left of it. */
int tms_output_close(struct tms_output *output);

/* Removes the file, and frees the output. */
void tms_output_abandon(struct tms_output *output);

#endif
