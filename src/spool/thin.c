/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks without events, left out; see thin.h. */
#include "spool/thin.h"

#include <stdlib.h>
#include <string.h>

static struct tms_thin_thread *thread_of(struct tms_thin *thin, uint32_t id)
{
    if (id >= thin->count) {
        size_t count = 2 * (size_t)id + 16;
        struct tms_thin_thread *grown = realloc(thin->threads, count * sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        memset(&grown[thin->count], 0, (count - thin->count) * sizeof(*grown));
        thin->threads = grown;
        thin->count = count;
    }
    return &thin->threads[id];
}

static int put_off(struct tms_thin_thread *thread, const struct tms_event *begin)
{
    if (thread->count == thread->capacity) {
        size_t capacity = 2 * thread->capacity + 16;
        struct tms_event *grown = realloc(thread->begins, capacity * sizeof(*grown));
        if (grown == NULL) {
            return TMS_ERR_MEMORY;
        }
        thread->begins = grown;
        thread->capacity = capacity;
    }
    thread->begins[thread->count++] = *begin;
    return TMS_OK;
}

bool tms_thin_keeps(const struct tms_thin *thin, uint32_t thread)
{
    return thin->off || thread >= thin->count || !thin->threads[thread].heard ||
           thin->threads[thread].forked;
}

int tms_thin_event(struct tms_thin *thin, const struct tms_event *event, tms_thin_sink *sink,
                   void *user)
{
    struct tms_thin_thread *thread = thread_of(thin, event->thread);
    int code = TMS_OK;

    if (thread == NULL) {
        return TMS_ERR_MEMORY;
    }
    bool stays = thin->off || thread->forked;
    thread->forked = event->kind == TMS_EVENT_FORK;
    thread->heard =
        thread->heard || (event->kind != TMS_EVENT_BEGIN && event->kind != TMS_EVENT_END);
    if (event->kind == TMS_EVENT_BEGIN && thread->depth++ > 0 && !stays) {
        return put_off(thread, event);
    }
    if (event->kind == TMS_EVENT_END) {
        thread->depth -= thread->depth > 0;
        if (thread->count > 0) { /* an end closes the innermost */
            thread->count--;
            return TMS_OK;
        }
    }
    for (size_t i = 0; i < thread->count && code == TMS_OK; i++) {
        code = sink(user, &thread->begins[i]);
    }
    thread->count = 0;
    return code == TMS_OK ? sink(user, event) : code;
}

void tms_thin_free(struct tms_thin *thin)
{
    for (size_t i = 0; i < thin->count; i++) {
        free(thin->threads[i].begins);
    }
    free(thin->threads);
}
