/* SPDX-License-Identifier: Apache-2.0 */
/* Threads put together again; see merge.h. */
#include "spool/merge.h"

#include <stdlib.h>

#include "tmesis/tmesis.h"

#define ACCESS_MOST 16 /* bytes */

bool tms_event_makes_sense(const struct tms_spool_event *event)
{
    return event->kind < TMS_EVENT_COUNT && event->size <= ACCESS_MOST;
}

size_t tms_chunk_events(const struct tms_spool *spool, size_t index,
                        const struct tms_spool_event **events)
{
    size_t at = TMS_SPOOL_HEADER + (size_t)spool->events[index].index * TMS_SPOOL_CHUNK;
    const struct tms_spool_chunk *chunk = (const void *)(spool->map + at);

    *events = (const void *)(chunk + 1);
    return (chunk->used - sizeof(*chunk)) / sizeof(**events);
}

/* Moves on to an event that is one; false at the end of the thread, or of what is whole. */
static bool advance(struct tms_merge *merge, struct tms_merge_cursor *cursor)
{
    uint64_t cut = merge->spool->header.cut;

    for (;; cursor->event++) {
        while (cursor->event == cursor->end) {
            if (cursor->chunk == cursor->chunk_end) {
                return false;
            }
            size_t count = tms_chunk_events(merge->spool, cursor->chunk++, &cursor->event);
            cursor->end = cursor->event + count;
        }
        if (!tms_event_makes_sense(cursor->event) || cursor->event->number < cursor->last) {
            merge->spool->damaged++;
            continue;
        }
        cursor->last = cursor->event->number;
        return cut == 0 || cursor->event->number < cut;
    }
}

static bool is_before(const struct tms_merge_cursor *a, const struct tms_merge_cursor *b)
{
    return a->event->number != b->event->number ? a->event->number < b->event->number
                                                : a->thread < b->thread;
}

static void sink(struct tms_merge *merge, size_t at)
{
    struct tms_merge_cursor moving = merge->cursors[at];

    for (size_t child; (child = 2 * at + 1) < merge->count; at = child) {
        child += child + 1 < merge->count &&
                 is_before(&merge->cursors[child + 1], &merge->cursors[child]);
        if (!is_before(&merge->cursors[child], &moving)) {
            break;
        }
        merge->cursors[at] = merge->cursors[child];
    }
    merge->cursors[at] = moving;
}

bool tms_merge_open(struct tms_merge *merge, struct tms_spool *spool)
{
    *merge = (struct tms_merge){.spool = spool};
    merge->cursors = calloc(spool->event_count + 1, sizeof(*merge->cursors));
    if (merge->cursors == NULL) {
        return false;
    }
    for (size_t i = 0, end; i < spool->event_count; i = end) {
        struct tms_merge_cursor cursor = {.chunk = i, .thread = spool->events[i].thread};
        for (end = i + 1; end < spool->event_count && spool->events[end].thread == cursor.thread;) {
            end++;
        }
        cursor.chunk_end = end;
        if (advance(merge, &cursor)) {
            merge->cursors[merge->count++] = cursor;
        }
    }
    for (size_t i = merge->count / 2; i-- > 0;) {
        sink(merge, i);
    }
    return true;
}

void tms_merge_close(struct tms_merge *merge)
{
    free(merge->cursors);
}

const struct tms_spool_event *tms_merge_next(struct tms_merge *merge, uint32_t *thread)
{
    if (merge->count == 0) {
        return NULL;
    }
    struct tms_merge_cursor *first = &merge->cursors[0];
    const struct tms_spool_event *event = first->event++;
    *thread = first->thread;
    if (!advance(merge, first)) {
        merge->cursors[0] = merge->cursors[--merge->count];
    }
    if (merge->count > 0) {
        sink(merge, 0);
    }
    return event;
}
