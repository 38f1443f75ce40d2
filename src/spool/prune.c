/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out blocks and calls without events; see prune.h. */
#include "spool/prune.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct tms_prune_thread *tms_prune_thread(struct tms_prune *prune, uint32_t id)
{
    if (id >= prune->count) {
        size_t count = 2 * (size_t)id + 16;
        struct tms_prune_thread *grown = realloc(prune->threads, count * sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        for (size_t i = prune->count; i < count; i++) {
            grown[i] = (struct tms_prune_thread){.off = prune->off};
        }
        prune->threads = grown;
        prune->count = count;
    }
    return &prune->threads[id];
}

int tms_prune_defer(struct tms_prune_thread *thread, const struct tms_event *begin)
{
    if (!TMS_RESERVE(NULL, &thread->begins, &thread->capacity, thread->count + 1, 64)) {
        return TMS_ERR_MEMORY;
    }
    thread->begins[thread->count++] = *begin;
    return TMS_OK;
}

int tms_prune_flush(struct tms_prune_thread *thread, const struct tms_event *event,
                    tms_prune_sink *sink, void *user)
{
    int code = TMS_OK;

    for (size_t i = 0; i < thread->count && code == TMS_OK; i++) {
        code = sink(user, &thread->begins[i]);
    }
    thread->count = 0;
    return code == TMS_OK ? sink(user, event) : code;
}

/* The innermost deferred begin of a kind, counted from 1; 0: none. */
static size_t innermost(const struct tms_prune_thread *thread, uint8_t kind)
{
    size_t at = thread->count;

    while (at > 0 && thread->begins[at - 1].kind != kind) {
        at--;
    }
    return at;
}

static void forget(struct tms_prune_thread *thread, size_t at)
{
    memmove(&thread->begins[at - 1], &thread->begins[at],
            (thread->count - at) * sizeof(*thread->begins));
    thread->count--;
}

/* Ends the innermost that an event of the kind `opened` has begun. */
static int end(struct tms_prune_thread *thread, uint8_t opened, const struct tms_event *event,
               tms_prune_sink *sink, void *user)
{
    size_t at = innermost(thread, opened);

    if (at == 0) {
        return sink(user, event);
    }
    if (event->kind == TMS_EVENT_DEMOTE) {
        thread->begins[at - 1].kind = TMS_EVENT_CALL;
    } else {
        forget(thread, at);
    }
    return TMS_OK;
}

int tms_prune_other(struct tms_prune_thread *thread, const struct tms_event *event,
                    tms_prune_sink *sink, void *user)
{
    switch (event->kind) {
    case TMS_EVENT_END:
    case TMS_EVENT_DEMOTE:
        thread->depth -= thread->depth > 0;
        thread->forked = false;
        return end(thread, TMS_EVENT_BEGIN, event, sink, user);
    case TMS_EVENT_CALL:
        return thread->off ? sink(user, event) : tms_prune_defer(thread, event);
    case TMS_EVENT_RETURN:
        return end(thread, TMS_EVENT_CALL, event, sink, user);
    case TMS_EVENT_CLEAR: /* blocks without an event have nothing to clear, … */
    case TMS_EVENT_FENCE: /* … and these are in no block */
    case TMS_EVENT_SEND:
    case TMS_EVENT_RECEIVE:
        return sink(user, event);
    default:
        return tms_prune_flush(thread, event, sink, user);
    }
}

void tms_prune_free(struct tms_prune *prune)
{
    for (size_t i = 0; i < prune->count; i++) {
        free(prune->threads[i].begins);
    }
    free(prune->threads);
}
