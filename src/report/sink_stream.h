/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that carries a report to the caller's sink. */
#ifndef TMS_REPORT_SINK_STREAM_H
#define TMS_REPORT_SINK_STREAM_H

#include <stdio.h>

#include "tmesis/tmesis.h"

struct tms_sink_stream {
    tms_sink *sink;
    void *user;
    FILE *out;
};

/* NULL when memory is short; *stream outlives the FILE. */
FILE *tms_sink_stream_open(struct tms_sink_stream *stream, tms_sink *sink, void *user);

/* False if the sink did not take everything. */
bool tms_sink_stream_close(struct tms_sink_stream *stream);

#endif
