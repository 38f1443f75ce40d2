/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the events of all threads in their order: those of a thread follow each other in its
 * chunks with rising numbers, and of all threads the one with the smallest number is next. They are
 * returned in place, in runs of one thread. Cost: constant for each event, and logarithmic in the
 * number of threads for each run.
 *
 * Runs are short where threads are independent, since their numbers rise side by side. A caller
 * that does not need all of the order says where it matters: then a run extends up to there.
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
    bool sound;                          /* nothing in the chunk needs to be looked at again */
};

/* An event that is the next of its thread, or one to stop at, in its order. */
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

/* False when memory is short: tms_merge_close is due as well. */
bool tms_merge_open(struct tms_merge *merge, struct tms_spool *spool);
void tms_merge_close(struct tms_merge *merge);

/*
 * Before the first run: the order matters only between each of these events and all the others.
 * They get sorted, and stay the caller's.
 */
void tms_merge_loosen(struct tms_merge *merge, struct tms_merge_turn *stops, size_t count);

/*
 * The next events, all of one thread: how many, 0 after the last. None of another comes between
 * them, or none that matters. What makes no sense is counted and left out.
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

/* The events of one chunk, the index-th of spool->events: their number. In any order of chunks. */
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

/* Is it an event at all? No process writes those that only traces from elsewhere have. */
static inline bool tms_event_makes_sense(const struct tms_spool_event *event)
{
    bool counts = (tms_is_access(event) && event->size == 0) || event->kind == TMS_SPOOL_IDLE;
    bool written = event->kind != TMS_EVENT_ENTER && event->kind != TMS_EVENT_EXIT &&
                   event->kind != TMS_EVENT_RETRY;

    written = written && (!tms_is_with_order(event) ||
                          (tms_event_orders(event->kind) >> tms_spool_order(event) & 1) != 0);
    return (event->kind < TMS_EVENT_COUNT || event->kind >= TMS_SPOOL_IDLE) && written &&
           event->size <= 16 && (!counts || event->extra <= TMS_SPOOL_RUN_MOST);
}

#endif
