/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library-internal thread that processes items in the order in which they are submitted.
 *
 * The thread starts at the first submit, with all signals blocked: they are for the threads of the
 * program. If it cannot be started, items are processed by the submitting thread. All functions are
 * called by one thread, the owner; only `work` runs on the other.
 *
 * The queue never fills: the owner waits (tms_worker_wait) before it uses the room of an item
 * again, and has at most TMS_WORKER_QUEUE items. Items are large, so one signal for each is cheap.
 */
#ifndef TMS_BASE_WORKER_H
#define TMS_BASE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TMS_WORKER_QUEUE 16

typedef void tms_work(void *user, void *item);

struct tms_worker {
    tms_work *work;
    void *user;
    bool runs;  /* the thread was started and not joined yet */
    bool alone; /* it could not be started, or has ended: not tried again */
    pthread_t thread;
    pthread_mutex_t lock; /* protects all that follows */
    pthread_cond_t changed;
    void *queue[TMS_WORKER_QUEUE]; /* item n at n % TMS_WORKER_QUEUE */
    uint64_t submitted, done;      /* items, ever */
    bool over;                     /* no more items will come, … */
    bool dropped;                  /* … and those in the queue are to be dropped */
};

void tms_worker_init(struct tms_worker *worker, tms_work *work, void *user);

/* If the thread has not started, the owner processes the last item itself. */
void tms_worker_submit(struct tms_worker *worker, void *item, bool is_last);

/* Waits until at most `most` items are submitted and not done. */
void tms_worker_wait(struct tms_worker *worker, uint64_t most);

/* Waits until all items are done, and ends the thread. */
void tms_worker_finish(struct tms_worker *worker);

/* Ends the thread as soon as it has done its present item, and frees what the worker has. */
void tms_worker_clear(struct tms_worker *worker);

#endif
