/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the events of threads; see event_merge.h. */
#include "spool/event_merge.h"

#include <stdlib.h>

size_t tms_chunk_events(const struct tms_spool *spool, size_t index,
                        const struct tms_spool_event **events)
{
    const struct tms_spool_chunk *chunk = tms_spool_chunk(spool, spool->events[index].at);

    *events = (const void *)(chunk + 1);
    return (chunk->used - sizeof(*chunk)) / sizeof(**events);
}

/* Does the next event follow the last one? */
static inline bool is_good(const struct tms_merge_cursor *cursor)
{
    return cursor->sound ||
           (tms_event_makes_sense(cursor->event) && cursor->event->number >= cursor->last);
}

/* Beyond some number the events of some threads may be missing. */
static inline bool is_whole(const struct tms_merge *merge, const struct tms_merge_cursor *cursor)
{
    return merge->spool->header.cut == 0 || cursor->event->number < merge->spool->header.cut;
}

/* Advances past an event and the events joined to it. */
static inline void step(const struct tms_merge *merge, struct tms_merge_cursor *cursor)
{
    do {
        cursor->event++;
    } while (cursor->event < cursor->end && tms_spool_is_joined(merge->spool, cursor->event));
}

/* Advances to the next valid event; false at the end of the thread, or of what is complete. */
static bool advance(struct tms_merge *merge, struct tms_merge_cursor *cursor)
{
    for (;; step(merge, cursor)) {
        while (cursor->event == cursor->end) {
            if (cursor->chunk == cursor->chunk_end) {
                return false;
            }
            size_t count = tms_chunk_events(merge->spool, cursor->chunk++, &cursor->event);
            cursor->end = cursor->event + count;
            cursor->sound = merge->spool->events[cursor->chunk - 1].sound && count > 0 &&
                            cursor->event->number >= cursor->last;
        }
        if (is_good(cursor)) {
            return is_whole(merge, cursor);
        }
        merge->spool->damaged++;
    }
}

static inline uint64_t rank_of(uint32_t thread, size_t cursor)
{
    return (uint64_t)thread << 32 | (uint32_t)cursor;
}

/* Branch-free: the next thread is unpredictable. */
static inline bool is_before(const struct tms_merge_turn *a, const struct tms_merge_turn *b)
{
    return (a->number < b->number) | ((a->number == b->number) & (a->rank < b->rank));
}

static inline void sink(struct tms_merge *merge, size_t at)
{
    struct tms_merge_turn *turns = merge->turns, moving = turns[at];

    for (size_t child; (child = 2 * at + 1) < merge->count; at = child) {
        child += child + 1 < merge->count && is_before(&turns[child + 1], &turns[child]);
        if (!is_before(&turns[child], &moving)) {
            break;
        }
        turns[at] = turns[child];
    }
    turns[at] = moving;
}

static void add_cursor(struct tms_merge *merge, uint32_t thread, struct tms_merge_cursor cursor)
{
    struct tms_merge_cursor *added = &merge->cursors[merge->count];

    *added = cursor;
    if (advance(merge, added)) {
        merge->turns[merge->count] =
            (struct tms_merge_turn){added->event->number, rank_of(thread, merge->count)};
        merge->count++;
    }
}

static void add_threads(struct tms_merge *merge, const struct tms_spool *spool)
{
    for (size_t i = 0, end; i < spool->event_count; i = end) {
        for (end = i + 1;
             end < spool->event_count && spool->events[end].thread == spool->events[i].thread;) {
            end++;
        }
        add_cursor(merge, spool->events[i].thread,
                   (struct tms_merge_cursor){.chunk = i, .chunk_end = end});
    }
}

bool tms_merge_open(struct tms_merge *merge, struct tms_spool *spool)
{
    size_t most = spool->event_count + 1;

    *merge = (struct tms_merge){.spool = spool};
    merge->cursors = calloc(most, sizeof(*merge->cursors));
    merge->turns = calloc(most, sizeof(*merge->turns));
    if (merge->cursors == NULL || merge->turns == NULL) {
        return false;
    }
    add_threads(merge, spool);
    for (size_t i = merge->count / 2; i-- > 0;) {
        sink(merge, i);
    }
    return true;
}

void tms_merge_close(struct tms_merge *merge)
{
    free(merge->cursors);
    free(merge->turns);
}

/* ---- runs --------------------------------------------------------------------------------- */

static int by_turn(const void *a, const void *b)
{
    return is_before(b, a) - is_before(a, b);
}

void tms_merge_loosen(struct tms_merge *merge, struct tms_merge_turn *stops, size_t count)
{
    if (count > 0) {
        qsort(stops, count, sizeof(*stops), by_turn);
    }
    merge->loose = true;
    merge->stops = stops;
    merge->stop_count = count;
}

/* The turn that events of the first thread must not pass, NULL: none. */
static const struct tms_merge_turn *bound_of(struct tms_merge *merge)
{
    const struct tms_merge_turn *first = &merge->turns[0], *next = first + 1;

    if (!merge->loose) {
        return merge->count < 2                                ? NULL
               : merge->count > 2 && is_before(next + 1, next) ? next + 1
                                                               : next;
    }
    while (merge->stop < merge->stop_count && is_before(&merge->stops[merge->stop], first)) {
        merge->stop++;
    }
    return merge->stop < merge->stop_count ? &merge->stops[merge->stop] : NULL;
}

/* The events of the first thread with smaller numbers come next. */
static uint64_t limit_of(struct tms_merge *merge)
{
    const struct tms_merge_turn *bound = bound_of(merge);
    uint64_t cut = merge->spool->header.cut != 0 ? merge->spool->header.cut : UINT64_MAX;
    uint64_t limit = bound != NULL ? bound->number + (merge->turns->rank < bound->rank) : cut;

    return limit < cut ? limit : cut;
}

/* Advances to the first event at or beyond the limit; false if it is not in this chunk. */
static bool take_some(const struct tms_merge *merge, struct tms_merge_cursor *cursor,
                      uint64_t limit)
{
    bool good;

    do {
        cursor->last = cursor->event->number;
        step(merge, cursor);
        good = cursor->event < cursor->end && is_good(cursor);
    } while (good && cursor->event->number < limit);
    return good;
}

/* The same in a chunk that is sound. */
static inline bool take_sound(const struct tms_merge *merge, struct tms_merge_cursor *cursor,
                              uint64_t limit)
{
    const struct tms_spool_event *at = cursor->event + 1, *end = cursor->end;

    if (merge->loose && end[-1].number < limit) {
        at = end;
    }
    while (at < end && (at->number < limit || tms_spool_is_joined(merge->spool, at))) {
        at++;
    }
    cursor->event = at;
    cursor->last = at[-1].number;
    return at < end;
}

size_t tms_merge_run(struct tms_merge *merge, const struct tms_spool_event **events,
                     uint32_t *thread)
{
    if (merge->count == 0) {
        return 0;
    }
    struct tms_merge_turn *turn = &merge->turns[0];
    struct tms_merge_cursor *cursor = &merge->cursors[(uint32_t)turn->rank];
    const struct tms_spool_event *start = cursor->event;
    uint64_t limit = limit_of(merge);
    bool good = (cursor->sound ? take_sound : take_some)(merge, cursor, limit);
    *events = start;
    *thread = (uint32_t)(turn->rank >> 32);
    size_t count = (size_t)(cursor->event - start);
    merge->ahead = (size_t)(cursor->end - cursor->event);
    if (good ? is_whole(merge, cursor) : advance(merge, cursor)) {
        turn->number = cursor->event->number;
    } else {
        *turn = merge->turns[--merge->count];
    }
    sink(merge, 0);
    return count;
}
