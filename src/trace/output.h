/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a trace on their way out: to a file or standard output, plain, gzip or zstd.
 * Buffered; an error is kept and returned by the next call and by tms_output_close.
 *
 * A file gets its name only when it is whole (base/atomic_file.h). Messages name the path as it was
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

/* The file is not wanted any more: takes it away, and frees. */
void tms_output_abandon(struct tms_output *output);

#endif
