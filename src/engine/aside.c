/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread beside the one that feeds; see aside.h. Buffers go round: one is filled while others
 * wait to be taken or are being taken, and come back in the same order.
 */
#include "engine/aside.h"

#include "base/worker.h"

/* Waking a thread takes microseconds, so there is to be much to do when it wakes. */
#define BUFFER_OPS 16384
#define BUFFERS    3

struct buffer {
    size_t count;
    struct tms_op ops[BUFFER_OPS + TMS_OPS_BEHIND];
};

struct tms_aside {
    tms_aside_take *take;
    void *user;
    bool alone; /* a thread could not be had, or has ended: the feeding one takes them */
    bool runs;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t handed, taken; /* buffers, ever; under the lock */
    bool over;              /* no more will come; under the lock */
    bool dropped;           /* and those that wait are of no use */
    struct buffer buffers[BUFFERS];
};

struct tms_aside *tms_aside_new(struct tms_memory *memory, tms_aside_take *take, void *user)
{
    struct tms_aside *aside = tms_resize(memory, NULL, 0, 1, sizeof(*aside));

    if (aside != NULL) {
        aside->take = take;
        aside->user = user;
        pthread_mutex_init(&aside->lock, NULL);
        pthread_cond_init(&aside->changed, NULL);
    }
    return aside;
}

/* ---- the thread ------------------------------------------------------------------------- */

static void *work(void *user)
{
    struct tms_aside *aside = user;

    pthread_mutex_lock(&aside->lock);
    for (;;) {
        while (aside->taken == aside->handed && !aside->over) {
            pthread_cond_wait(&aside->changed, &aside->lock);
        }
        if (aside->taken == aside->handed || aside->dropped) {
            break;
        }
        const struct buffer *buffer = &aside->buffers[aside->taken % BUFFERS];
        pthread_mutex_unlock(&aside->lock);
        aside->take(aside->user, buffer->ops, buffer->count);
        pthread_mutex_lock(&aside->lock);
        aside->taken++;
        pthread_cond_signal(&aside->changed);
    }
    pthread_mutex_unlock(&aside->lock);
    return NULL;
}

static bool start(struct tms_aside *aside)
{
    aside->runs = tms_worker_start(&aside->thread, work, aside);
    return aside->runs;
}

static void end(struct tms_aside *aside, bool dropped)
{
    if (!aside->runs) {
        return;
    }
    pthread_mutex_lock(&aside->lock);
    aside->over = true;
    aside->dropped = dropped;
    pthread_cond_signal(&aside->changed);
    pthread_mutex_unlock(&aside->lock);
    pthread_join(aside->thread, NULL);
    aside->runs = false;
}

void tms_aside_free(struct tms_aside *aside, struct tms_memory *memory)
{
    if (aside != NULL) {
        end(aside, true);
        pthread_cond_destroy(&aside->changed);
        pthread_mutex_destroy(&aside->lock);
        tms_release(memory, aside, 1, sizeof(*aside));
    }
}

/* ---- the one that feeds ----------------------------------------------------------------- */

/* `handed` is only changed here, so it may be read without the lock. */
static struct buffer *filling(struct tms_aside *aside)
{
    return &aside->buffers[aside->handed % BUFFERS];
}

static void take_here(struct tms_aside *aside)
{
    struct buffer *buffer = filling(aside);

    if (buffer->count > 0) {
        aside->take(aside->user, buffer->ops, buffer->count);
        buffer->count = 0;
    }
}

static void hand_over(struct tms_aside *aside)
{
    pthread_mutex_lock(&aside->lock);
    aside->handed++;
    pthread_cond_signal(&aside->changed);
    while (aside->handed - aside->taken == BUFFERS) {
        pthread_cond_wait(&aside->changed, &aside->lock);
    }
    pthread_mutex_unlock(&aside->lock);
    filling(aside)->count = 0;
}

static void pass_on(struct tms_aside *aside)
{
    aside->alone = aside->alone || (!aside->runs && !start(aside));
    if (aside->alone) {
        take_here(aside);
    } else {
        hand_over(aside);
    }
}

struct tms_op *tms_aside_room(struct tms_aside *aside, size_t *room)
{
    if (filling(aside)->count == BUFFER_OPS) {
        pass_on(aside);
    }
    struct buffer *buffer = filling(aside);
    *room = BUFFER_OPS - buffer->count;
    return &buffer->ops[buffer->count];
}

void tms_aside_put(struct tms_aside *aside, size_t count)
{
    filling(aside)->count += count;
}

void tms_aside_pick(struct tms_aside *aside, const bool wanted[TMS_OP_COUNT],
                    const struct tms_op *ops, size_t count)
{
    while (count > 0) {
        size_t room;
        struct tms_op *to = tms_aside_room(aside, &room);
        size_t some = count < room ? count : room, picked = 0;
        for (size_t i = 0; i < some; i++) {
            to[picked] = ops[i]; /* wanted or not: who could guess? */
            picked += wanted[ops[i].kind];
        }
        tms_aside_put(aside, picked);
        ops += some;
        count -= some;
    }
}

void tms_aside_finish(struct tms_aside *aside)
{
    end(aside, false);
    aside->alone = true;
    take_here(aside);
}
