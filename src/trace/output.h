/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a trace on their way out: to a file or standard output, plain, gzip or zstd.
 * Buffered; an error is kept and returned by the next call and by tms_output_close.
 *
 * A regular file is written under another name beside it, "PATH.PID~", and gets its own only
 * when it is whole: half a trace never stands where a good one is looked for, and one that was
 * there stays until then. Where that can't be had (a device, a directory that takes no new
 * files), the file itself is written. Messages name the path as it was given.
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

/* Flushes, closes, gives the file its name, and frees. After an error nothing is left of it. */
int tms_output_close(struct tms_output *output);

/* The file is not wanted any more: takes it away, and frees. */
void tms_output_abandon(struct tms_output *output);

#endif
