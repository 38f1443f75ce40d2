/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prunes the trace of a recording that is not full. It leaves out, though the spool has them:
 *
 * - accesses to memory of one thread alone. They conflict only with the fork and the join of the
 *   thread, and these with each other event of it: so one event of every thread is enough. Only
 *   at the end of the run is it known that no other thread came;
 * - nested blocks in which nothing is left. They are not transactions, and have no events that
 *   could be interleaved. By default every function is a block, so these would be most of the
 *   trace.
 *
 * Outermost blocks stay, empty or not, if the process recorded them individually (spool_reader.h).
 * So does the event after a fork, because --split=fork lets a transaction begin with it. Calls stay
 * if anything inside them does. Events for `judge` alone do not count here.
 *
 * Representation: per thread, the deferred begins and calls, which wait for an event inside. Cost:
 * constant per event; an end costs the number of deferred ones.
 */
#ifndef TMS_SPOOL_PRUNE_H
#define TMS_SPOOL_PRUNE_H

#include <stdbool.h>
#include <stddef.h>

#include "tmesis/tmesis.h"

struct tms_prune_thread {
    struct tms_event *begins; /* and calls */
    size_t count, capacity;
    uint32_t depth; /* blocks that are open */
    bool off;       /* all is to stay */
    bool heard;     /* has an event besides begins and ends */
    bool forked;    /* its last event was a fork */
};

struct tms_prune {
    struct tms_prune_thread *threads; /* by id */
    size_t count;
    bool off; /* all is to stay */
};

/* Valid until the next call. NULL if out of memory. */
struct tms_prune_thread *tms_prune_thread(struct tms_prune *prune, uint32_t id);

void tms_prune_free(struct tms_prune *prune);

/* Receives an event that stays; a negative code stops the work. */
typedef int tms_prune_sink(void *user, const struct tms_event *event);

/* Does an access of the thread to its private memory stay? */
static inline bool tms_prune_keeps(const struct tms_prune_thread *thread)
{
    return thread->off || !thread->heard || thread->forked;
}

/* Is an access of the thread passed on unchanged? Then tms_prune_event need not be called. */
static inline bool tms_prune_passes(const struct tms_prune_thread *thread)
{
    return thread->heard && !thread->forked && thread->count == 0;
}

/*
 * Do the engines that check the observed trace ignore it? True for events for `judge` alone, fences
 * and channel operations.
 */
static inline bool tms_prune_is_unchecked(const struct tms_event *event)
{
    return (event->kind >= TMS_EVENT_CALL && event->kind <= TMS_EVENT_DELAY &&
            event->kind != TMS_EVENT_DEMOTE) ||
           (event->kind >= TMS_EVENT_FENCE && event->kind <= TMS_EVENT_RECEIVE);
}

static inline bool tms_prune_is_atomic(const struct tms_event *event)
{
    return event->kind >= TMS_EVENT_ATOMIC_READ && event->kind <= TMS_EVENT_ATOMIC_UPDATE;
}

/* Defers the begin of a nested block, or a call. TMS_OK or TMS_ERR_MEMORY. */
int tms_prune_defer(struct tms_prune_thread *thread, const struct tms_event *begin);

/* Passes on the deferred begins, and then the event. */
int tms_prune_flush(struct tms_prune_thread *thread, const struct tms_event *event,
                    tms_prune_sink *sink, void *user);

/* An event that ends a block or a call, or that is unchecked. Codes as below. */
int tms_prune_other(struct tms_prune_thread *thread, const struct tms_event *event,
                    tms_prune_sink *sink, void *user);

/* The next event. TMS_OK, or a code: of the sink, or TMS_ERR_MEMORY. */
static inline int tms_prune_event(struct tms_prune_thread *thread, const struct tms_event *event,
                                  tms_prune_sink *sink, void *user)
{
    bool stays = thread->off || thread->forked;

    if (event->kind == TMS_EVENT_END ||
        (event->kind >= TMS_EVENT_CALL && !tms_prune_is_atomic(event))) {
        return tms_prune_other(thread, event, sink, user);
    }
    thread->forked = event->kind == TMS_EVENT_FORK;
    if (event->kind != TMS_EVENT_BEGIN) {
        thread->heard = true;
    } else if (thread->depth++ > 0 && !stays) {
        return tms_prune_defer(thread, event);
    }
    return thread->count == 0 ? sink(user, event) : tms_prune_flush(thread, event, sink, user);
}

#endif
