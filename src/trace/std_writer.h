/* SPDX-License-Identifier: Apache-2.0 */
/* The writing half of the std format, for its table of functions in std_reader.c. */
#ifndef TMS_TRACE_STD_WRITER_H
#define TMS_TRACE_STD_WRITER_H

#include "trace/format.h"

/* Ids of one class whose names need no escapes: a bit each. */
struct tms_std_plain {
    uint64_t *bits;
    size_t words;
};

struct tms_std_writer {
    struct tms_std_plain plain[TMS_CLASS_COUNT];
    size_t used;
    char buffer[1u << 16];
};

int tms_std_write(struct tms_writer *writer, const struct tms_event *events, size_t count);
int tms_std_finish(struct tms_writer *writer);

/* The start of the line that says why the trace is incomplete. */
#define TMS_STD_LOSS "# incomplete: "
void tms_std_destroy(struct tms_writer *writer);

#endif
