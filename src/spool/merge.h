/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of all threads in their order: those of a thread follow each other in its chunks with
 * rising numbers, and of all threads the one with the smallest number is next. Cost: the logarithm
 * of the number of threads for each event.
 */
#ifndef TMS_SPOOL_MERGE_H
#define TMS_SPOOL_MERGE_H

#include "spool/spool.h"

/* Where a thread stands. */
struct tms_merge_cursor {
    const struct tms_spool_event *event; /* the next one */
    const struct tms_spool_event *end;   /* of the chunk */
    size_t chunk, chunk_end;             /* the next of spool->events, and behind the last */
    uint64_t last;                       /* number of the event before */
    uint32_t thread;
};

struct tms_merge {
    struct tms_spool *spool;
    struct tms_merge_cursor *cursors; /* a heap: the smallest number is at its root */
    size_t count;
};

/* False when memory is short. tms_merge_close is due in both cases. */
bool tms_merge_open(struct tms_merge *merge, struct tms_spool *spool);
void tms_merge_close(struct tms_merge *merge);

/* The next event and its thread, NULL after the last. What makes no sense is counted and left out.
 */
const struct tms_spool_event *tms_merge_next(struct tms_merge *merge, uint32_t *thread);

/* The events of one chunk, the index-th of spool->events: their number. In any order of chunks. */
size_t tms_chunk_events(const struct tms_spool *spool, size_t index,
                        const struct tms_spool_event **events);

/* Is it an event at all? */
bool tms_event_makes_sense(const struct tms_spool_event *event);

#endif
