/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a trace on their way out: to a file or standard output, plain, gzip or zstd.
 * Buffered; an error is kept and returned by the next call and by tms_output_close.
 */
#ifndef TMS_TRACE_OUTPUT_H
#define TMS_TRACE_OUTPUT_H

#include <stddef.h>

#include "base/context.h"

struct tms_output;

/*
 * `compression`: "none", "gz" or "zst"; `level` 0 is the library's default. `path` must
 * live as long as the output.
 */
int tms_output_open(struct tms_context *context, const char *path, const char *compression,
                    int level, struct tms_output **out);
int tms_output_write(struct tms_output *output, const void *bytes, size_t length);

/* Flushes, closes and frees, also on error. */
int tms_output_close(struct tms_output *output);

#endif
