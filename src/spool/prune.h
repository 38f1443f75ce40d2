/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording that is not full leaves out of its trace, though it is in the spool:
 *
 * - accesses to memory of one thread alone. They conflict only with the fork and the join of the
 *   thread, and these with each other event of it: so one event of every thread is enough. Only
 *   at the end of the run is it known that no other thread came;
 * - blocks inside blocks in which nothing is left. They are no transactions, and none of their
 *   events can be cut off from the others. By default every function is a block, so these would
 *   be most of the trace.
 *
 * Outermost blocks stay, empty or not, as far as the process recorded them one by one
 * (spool_reader.h). So does what follows on a fork, because --split=fork lets a transaction begin
 * with it. Calls stay if anything inside them does. What is for `judge` alone is no event in all
 * this.
 *
 * Representation: by thread, the begins and calls that wait for an event inside. Cost: constant per
 * event, and the number of those that wait for an end.
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

/* Good until another is asked for. NULL: memory is short. */
struct tms_prune_thread *tms_prune_thread(struct tms_prune *prune, uint32_t id);

void tms_prune_free(struct tms_prune *prune);

/* Takes in an event that stays; a negative code stops the work. */
typedef int tms_prune_sink(void *user, const struct tms_event *event);

/* Does an access of the thread to memory that is its own stay? */
static inline bool tms_prune_keeps(const struct tms_prune_thread *thread)
{
    return thread->off || !thread->heard || thread->forked;
}

/* Is an access of the thread passed on as it is? Then tms_prune_event need not be asked. */
static inline bool tms_prune_passes(const struct tms_prune_thread *thread)
{
    return thread->heard && !thread->forked && thread->count == 0;
}

/* Is it no event to the engines that check: for `judge` alone, a fence, or order by a channel? */
static inline bool tms_prune_is_aside(const struct tms_event *event)
{
    return (event->kind >= TMS_EVENT_CALL && event->kind <= TMS_EVENT_DELAY &&
            event->kind != TMS_EVENT_DEMOTE) ||
           (event->kind >= TMS_EVENT_FENCE && event->kind <= TMS_EVENT_RECEIVE);
}

static inline bool tms_prune_is_atomic(const struct tms_event *event)
{
    return event->kind >= TMS_EVENT_ATOMIC_READ && event->kind <= TMS_EVENT_ATOMIC_UPDATE;
}

/* The begin of a block inside another, or a call. TMS_OK or TMS_ERR_MEMORY. */
int tms_prune_defer(struct tms_prune_thread *thread, const struct tms_event *begin);

/* Passes on what was put off, and then the event. */
int tms_prune_flush(struct tms_prune_thread *thread, const struct tms_event *event,
                    tms_prune_sink *sink, void *user);

/* An event that ends a block or a call, or that is aside. Codes as below. */
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
