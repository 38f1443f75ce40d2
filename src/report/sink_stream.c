/* SPDX-License-Identifier: Apache-2.0 */
/* Streams to sinks; see sink_stream.h. */
#include "report/sink_stream.h"

static ssize_t carry(void *cookie, const char *text, size_t length)
{
    const struct tms_sink_stream *stream = cookie;

    return stream->sink(stream->user, text, length) ? (ssize_t)length : 0;
}

FILE *tms_sink_stream_open(struct tms_sink_stream *stream, tms_sink *sink, void *user)
{
    *stream = (struct tms_sink_stream){.sink = sink, .user = user};
    stream->out = fopencookie(stream, "w", (cookie_io_functions_t){.write = carry});
    return stream->out;
}

bool tms_sink_stream_close(struct tms_sink_stream *stream)
{
    bool written = !ferror(stream->out);

    return fclose(stream->out) == 0 && written;
}
