/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open blocks and held locks of all threads while events go by, and how often each label began.
 * Numbers of events count from 1; 0 is "none".
 */
#ifndef TMS_JUDGE_VERIFY_THREADS_H
#define TMS_JUDGE_VERIFY_THREADS_H

#include "tmesis/tmesis.h"

struct threads {
    struct thread_state *states; /* by thread id */
    size_t state_count;
    uint64_t *begun; /* by label id */
    size_t label_count;
};

static inline bool threads_opens(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_BEGIN || event->kind == TMS_EVENT_ENTER ||
           event->kind == TMS_EVENT_CALL;
}

/* Takes in one event of a well-formed trace. Ends the program when memory is short. */
void threads_follow(struct threads *threads, const struct tms_event *event, uint64_t number);

/* The begin of the last block of the thread that is open and began before the event `before`. */
uint64_t threads_innermost(const struct threads *threads, uint32_t thread, uint64_t before);

/* The event since which the thread holds the lock. */
uint64_t threads_held_since(const struct threads *threads, uint32_t thread, uint32_t lock);

/* How often blocks of the label's function began. */
uint64_t threads_executions(const struct threads *threads, const struct tms_context *context,
                            uint32_t label);

void threads_clear(struct threads *threads);

#endif
