/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the events of all threads by number; the numbers of a thread increase along its chunks.
 * They are returned in place, in runs of one thread. Cost: constant for each event, and logarithmic
 * in the number of threads for each run.
 *
 * Runs are short where threads run in parallel, since their numbers alternate. A caller that does
 * not need the full order says where it matters, and runs extend up to there.
 */
#ifndef TMS_SPOOL_EVENT_MERGE_H
#define TMS_SPOOL_EVENT_MERGE_H

#include "spool/spool_reader.h"
#include "tmesis/tmesis.h"

/* The position of a thread. */
struct tms_merge_cursor {
    const struct tms_spool_event *event; /* the next one */
    const struct tms_spool_event *end;   /* of the chunk */
    size_t chunk, chunk_end;             /* the next of spool->events, and one past the last */
    uint64_t last;                       /* number of the event before */
    bool sound;                          /* the chunk has been validated */
};

/* The position of the next event of a thread, or of an event to stop at. */
struct tms_merge_turn {
    uint64_t number;
    uint64_t rank; /* among those of the same number: the thread, and below it the cursor */
};

static inline struct tms_merge_turn tms_merge_stop(uint64_t number, uint32_t thread)
{
    return (struct tms_merge_turn){number, (uint64_t)thread << 32};
}

struct tms_merge {
    struct tms_spool *spool;
    struct tms_merge_cursor *cursors;
    struct tms_merge_turn *turns; /* a heap: the next one is at its root */
    size_t count;
    bool loose;   /* runs end at stops only */
    size_t ahead; /* events of the same thread that follow those of the last run */
    const struct tms_merge_turn *stops;
    size_t stop, stop_count; /* the next one, and all */
};

/* False if out of memory; call tms_merge_close in both cases. */
bool tms_merge_open(struct tms_merge *merge, struct tms_spool *spool);
void tms_merge_close(struct tms_merge *merge);

/*
 * Call it before the first run: the order matters only between each of these events and all others.
 * Sorts the array, which the caller owns.
 */
void tms_merge_loosen(struct tms_merge *merge, struct tms_merge_turn *stops, size_t count);

/*
 * Returns the number of the next events, all of one thread, 0 after the last. No event of another
 * thread comes between them, or none that matters. Invalid events are counted and skipped.
 */
size_t tms_merge_run(struct tms_merge *merge, const struct tms_spool_event **events,
                     uint32_t *thread);

/*
 * The event at *at, joined in `whole` with those up to `end` that belong to it; *at is advanced
 * past them.
 */
static inline const struct tms_spool_event *tms_merge_next(const struct tms_merge *merge,
                                                           const struct tms_spool_event **at,
                                                           const struct tms_spool_event *end,
                                                           struct tms_spool_event *whole)
{
    const struct tms_spool_event *event = (*at)++;

    if (*at == end || !tms_spool_is_joined(merge->spool, *at)) {
        return event;
    }
    for (*whole = *event; *at < end && tms_spool_is_joined(merge->spool, *at); ++*at) {
        tms_event_lengthen(whole, *at);
    }
    return whole;
}

/*
 * The number of events of one chunk, the index-th of spool->events. Chunks may be read in any
 * order.
 */
size_t tms_chunk_events(const struct tms_spool *spool, size_t index,
                        const struct tms_spool_event **events);

static inline bool tms_is_access(const struct tms_spool_event *event)
{
    return (event->kind >= TMS_EVENT_READ && event->kind <= TMS_EVENT_UPDATE) ||
           (event->kind >= TMS_EVENT_ATOMIC_READ && event->kind <= TMS_EVENT_ATOMIC_UPDATE);
}

/* Is it one of the kinds that have a memory order? */
static inline bool tms_is_with_order(const struct tms_spool_event *event)
{
    return event->kind >= TMS_EVENT_ATOMIC_READ && event->kind <= TMS_EVENT_FENCE;
}

/* Is it a valid event? Rejects kinds that occur only in imported traces. */
static inline bool tms_event_makes_sense(const struct tms_spool_event *event)
{
    bool counts = (tms_is_access(event) && event->size == 0) || event->kind == TMS_SPOOL_IDLE;
    bool written = event->kind != TMS_EVENT_ENTER && event->kind != TMS_EVENT_EXIT &&
                   event->kind != TMS_EVENT_RETRY;

    written = written && (!tms_is_with_order(event) ||
                          (tms_event_orders(event->kind) >> tms_spool_order(event) & 1) != 0);
    return (event->kind < TMS_EVENT_COUNT || event->kind == TMS_SPOOL_IDLE) && written &&
           event->size <= 16 && (!counts || event->extra <= TMS_SPOOL_RUN_MOST);
}

#endif
