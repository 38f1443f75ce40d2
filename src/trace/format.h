/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of a trace format, and the reader and writer objects of the public API. A new
 * format is one file with a `const struct tms_format` and one line in format.c.
 */
#ifndef TMS_TRACE_FORMAT_H
#define TMS_TRACE_FORMAT_H

#include "base/context.h"
#include "trace/input.h"
#include "trace/output.h"

/* Events per batch: 16 KiB of them stay in the first-level cache on their way through. */
#define TMS_BATCH 1024

struct tms_reader {
    struct tms_context *context;
    const struct tms_format *format;
    char *path;
    struct tms_input input;
    bool lenient;
    struct tms_event events[TMS_BATCH]; /* the present batch */
    uint32_t line_offset[TMS_BATCH];    /* text formats: line of events[i] is first_line + this */
    uint64_t first_line;                /* text formats: 1-based */
    uint64_t first_event;               /* number of events[0], 1-based */
    size_t count;                       /* events in the batch */
    uint64_t complaints;                /* lines or records that a lenient reader left out */
    bool cut;                           /* the file ends in the middle of something */
    bool ended;                         /* nothing more will come */
    int failed;                         /* first error; returned by every later call */
    char loss[TMS_MESSAGE_SIZE];        /* for tms_reader_loss */
    char where[TMS_MESSAGE_SIZE];       /* for tms_reader_where */
    void *state;                        /* of the format, state_size bytes, zero at first */
};

struct tms_writer {
    struct tms_context *context;
    const struct tms_format *format;
    char *path;
    struct tms_output *output;
    int level;
    bool no_accesses; /* see struct tms_writer_settings */
    int failed;       /* first error; returned by every later call */
    uint64_t events;
    void *state;
    char loss[TMS_MESSAGE_SIZE /
              2]; /* why the trace is incomplete, "": it is complete. Written by `finish`. */
};

struct tms_format {
    struct tms_format_info info;
    bool counts_lines;    /* positions are lines, not event numbers */
    bool own_compression; /* never wrapped in gzip or zstd by the writer */
    bool omits_accesses;  /* the writer supports `no_accesses` */

    /*
     * Does content that starts like this look like the format? Called in registry order. NULL: the
     * format can't be read.
     */
    bool (*detect)(const char *head, size_t length);

    size_t reader_size; /* of reader->state */
    /* Called once, after detection; the input is at its first byte. NULL: nothing to do. */
    int (*open)(struct tms_reader *reader);
    /*
     * Fills reader->events from the input: the number of events, 0 at the end, or a negative
     * code. Sets line_offset and first_line if counts_lines. What a lenient reader skips, it
     * reports with tms_reader_skip.
     */
    int64_t (*read)(struct tms_reader *reader);
    void (*close)(struct tms_reader *reader);

    size_t writer_size;                       /* of writer->state */
    int (*create)(struct tms_writer *writer); /* NULL: nothing to do */
    int (*write)(struct tms_writer *writer, const struct tms_event *events, size_t count);
    int (*finish)(struct tms_writer *writer);   /* writes what is left; NULL: nothing to do */
    void (*destroy)(struct tms_writer *writer); /* frees what state holds; NULL: nothing */
};

/*
 * Reports a syntax error at `line`, or at that event if the format does not count lines. Strict:
 * records the failure "PATH:LINE: sentence" and returns TMS_ERR_SYNTAX. Lenient: complains, counts,
 * returns TMS_OK.
 */
__attribute__((format(printf, 3, 4))) int tms_reader_skip(struct tms_reader *reader, uint64_t line,
                                                          const char *format, ...);

/* Reports that the file is truncated: complains, and sets tms_reader_loss. */
__attribute__((format(printf, 2, 3))) void tms_reader_cut(struct tms_reader *reader,
                                                          const char *format, ...);

/* The same if the trace itself is marked as incomplete. */
void tms_reader_marked_lost(struct tms_reader *reader, const char *loss, size_t length);

extern const struct tms_format tms_format_std;
extern const struct tms_format tms_format_rr;
extern const struct tms_format tms_format_regiontrack;
extern const struct tms_format tms_format_tms;
extern const struct tms_format tms_format_perfetto;

#endif
