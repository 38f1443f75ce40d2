/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of work for a library-internal thread; see worker.h. */
#include "base/worker.h"

#include <assert.h>
#include <signal.h>

void tms_worker_init(struct tms_worker *worker, tms_work *work, void *user)
{
    *worker = (struct tms_worker){.work = work, .user = user};
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
}

/* ---- the thread ------------------------------------------------------------------------- */

/* The next item, or NULL when there will be none. With the lock held. */
static void *next_item(struct tms_worker *worker)
{
    while (worker->submitted == worker->done && !worker->over) {
        pthread_cond_wait(&worker->changed, &worker->lock);
    }
    bool none = worker->submitted == worker->done || worker->dropped;
    return none ? NULL : worker->queue[worker->done % TMS_WORKER_QUEUE];
}

static void *run(void *user)
{
    struct tms_worker *worker = user;
    void *item;

    pthread_mutex_lock(&worker->lock);
    while ((item = next_item(worker)) != NULL) {
        pthread_mutex_unlock(&worker->lock);
        worker->work(worker->user, item);
        pthread_mutex_lock(&worker->lock);
        worker->done++;
        pthread_cond_signal(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

static bool start(struct tms_worker *worker)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    worker->runs = pthread_create(&worker->thread, NULL, run, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return worker->runs;
}

/* ---- the owner -------------------------------------------------------------------------- */

void tms_worker_submit(struct tms_worker *worker, void *item, bool is_last)
{
    assert(item != NULL);
    worker->alone = worker->alone || (!worker->runs && (is_last || !start(worker)));
    if (worker->alone) {
        worker->work(worker->user, item);
        return;
    }
    pthread_mutex_lock(&worker->lock);
    assert(worker->submitted - worker->done < TMS_WORKER_QUEUE);
    worker->queue[worker->submitted++ % TMS_WORKER_QUEUE] = item;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

void tms_worker_wait(struct tms_worker *worker, uint64_t most)
{
    pthread_mutex_lock(&worker->lock);
    while (worker->submitted - worker->done > most) {
        pthread_cond_wait(&worker->changed, &worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
}

static void end(struct tms_worker *worker, bool dropped)
{
    if (worker->runs) {
        pthread_mutex_lock(&worker->lock);
        worker->over = true;
        worker->dropped = dropped;
        pthread_cond_signal(&worker->changed);
        pthread_mutex_unlock(&worker->lock);
        pthread_join(worker->thread, NULL);
        worker->runs = false;
    }
    worker->alone = true;
}

void tms_worker_finish(struct tms_worker *worker)
{
    end(worker, false);
}

void tms_worker_clear(struct tms_worker *worker)
{
    end(worker, true);
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
}
