/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread beside the one that feeds; see engine_thread.h. One buffer is filled while others wait
 * to be taken, in their order. The one that came back last is filled next, as it is still in the
 * cache: most are never touched, unless the thread falls behind.
 */
#include "analysis/engine_thread.h"

#include <string.h>

#include "base/worker.h"
#include "trace/format.h"

#define BUFFER_EVENTS (4 * TMS_BATCH)
#define BUFFER_OPS    512
#define BUFFER_PIECES 512
#define BUFFERS       128
/* Waking a thread takes its time, of the one that wakes, too: there is to be much to do. */
#define ENOUGH 8

/* Events or operations that came one after the other. */
struct piece {
    uint64_t number; /* of the first event; 0: operations */
    uint32_t at;     /* the index of the first in the buffer */
    uint32_t count;
};

struct buffer {
    size_t piece_count, event_count, op_count;
    struct piece pieces[BUFFER_PIECES];
    struct tms_op ops[BUFFER_OPS];
    struct tms_event events[BUFFER_EVENTS];
};

struct tms_aside {
    struct tms_aside_taker taker;
    bool accesses; /* reads and writes are wanted among operations */
    bool alone;    /* a thread could not be had, or has ended: the feeding one takes them */
    bool runs;
    pthread_t thread;
    struct buffer *filling;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    uint64_t handed, taken;        /* buffers, ever */
    struct buffer *queue[BUFFERS]; /* those handed and not taken, from taken % BUFFERS on */
    struct buffer *free[BUFFERS];  /* the others, less the one being filled */
    size_t free_count;
    bool over;    /* no more will come */
    bool dropped; /* and those that wait are of no use */
    struct buffer buffers[BUFFERS];
};

struct tms_aside *tms_aside_new(struct tms_memory *memory, const struct tms_aside_taker *taker)
{
    struct tms_aside *aside = tms_resize(memory, NULL, 0, 1, sizeof(*aside));

    if (aside == NULL) {
        return NULL;
    }
    aside->taker = *taker;
    pthread_mutex_init(&aside->lock, NULL);
    pthread_cond_init(&aside->changed, NULL);
    aside->filling = &aside->buffers[0];
    for (size_t i = 1; i < BUFFERS; i++) {
        aside->free[aside->free_count++] = &aside->buffers[i];
    }
    return aside;
}

void tms_aside_accesses(struct tms_aside *aside)
{
    aside->accesses = true;
}

/* The buffer is empty afterwards. */
static void take(const struct tms_aside_taker *taker, struct buffer *buffer)
{
    for (size_t i = 0; i < buffer->piece_count; i++) {
        const struct piece *piece = &buffer->pieces[i];
        if (piece->number != 0) {
            taker->events(taker->user, &buffer->events[piece->at], piece->count, piece->number);
        } else {
            taker->ops(taker->user, &buffer->ops[piece->at], piece->count);
        }
    }
    buffer->piece_count = buffer->event_count = buffer->op_count = 0;
}

/* ---- the thread ------------------------------------------------------------------------- */

static uint64_t waiting(const struct tms_aside *aside)
{
    return aside->handed - aside->taken;
}

/* Buffers to take, or none, for ever. */
static void wait_for_some(struct tms_aside *aside)
{
    while (waiting(aside) < ENOUGH && !aside->over) {
        pthread_cond_wait(&aside->changed, &aside->lock);
    }
}

static void *work(void *user)
{
    struct tms_aside *aside = user;

    pthread_mutex_lock(&aside->lock);
    for (;;) {
        if (waiting(aside) == 0) {
            wait_for_some(aside);
        }
        if (waiting(aside) == 0 || aside->dropped) {
            break;
        }
        struct buffer *buffer = aside->queue[aside->taken % BUFFERS];
        pthread_mutex_unlock(&aside->lock);
        take(&aside->taker, buffer);
        pthread_mutex_lock(&aside->lock);
        aside->free[aside->free_count++] = buffer;
        aside->taken++;
        if (aside->free_count == ENOUGH) {
            pthread_cond_signal(&aside->changed);
        }
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

static void hand_over(struct tms_aside *aside)
{
    pthread_mutex_lock(&aside->lock);
    aside->queue[aside->handed % BUFFERS] = aside->filling;
    aside->handed++;
    if (waiting(aside) == ENOUGH) {
        pthread_cond_signal(&aside->changed);
    }
    if (aside->free_count == 0) {
        while (aside->free_count < ENOUGH) {
            pthread_cond_wait(&aside->changed, &aside->lock);
        }
    }
    aside->filling = aside->free[--aside->free_count];
    pthread_mutex_unlock(&aside->lock);
}

static void pass_on(struct tms_aside *aside)
{
    aside->alone = aside->alone || (!aside->runs && !start(aside));
    if (aside->alone) {
        take(&aside->taker, aside->filling);
    } else {
        hand_over(aside);
    }
}

static bool is_full(const struct buffer *buffer)
{
    return buffer->piece_count == BUFFER_PIECES || buffer->event_count == BUFFER_EVENTS ||
           buffer->op_count == BUFFER_OPS;
}

/* The buffer that has room for one piece, one event and one operation at least. */
static struct buffer *with_room(struct tms_aside *aside)
{
    if (is_full(aside->filling)) {
        pass_on(aside);
    }
    return aside->filling;
}

static void add_piece(struct buffer *buffer, uint64_t number, size_t at, size_t count)
{
    buffer->pieces[buffer->piece_count++] =
        (struct piece){.number = number, .at = (uint32_t)at, .count = (uint32_t)count};
}

struct tms_event *tms_aside_room(struct tms_aside *aside)
{
    if (BUFFER_EVENTS - aside->filling->event_count < TMS_BATCH) {
        pass_on(aside);
    }
    return &aside->filling->events[aside->filling->event_count];
}

/* Where tms_aside_room said that they may be? Perhaps the buffer has gone round since: then it is
 * empty, but they are still there, as events that have to be copied come from nowhere else. */
static bool is_there(const struct buffer *buffer, const struct tms_event *events)
{
    uintptr_t first = (uintptr_t)&buffer->events[buffer->event_count];
    uintptr_t end = (uintptr_t)&buffer->events[BUFFER_EVENTS];

    return (uintptr_t)events >= first && (uintptr_t)events < end;
}

/* Some of the events, at least one: how many. */
static size_t put_some(struct buffer *buffer, const struct tms_event *events, size_t count,
                       uint64_t number)
{
    size_t at = buffer->event_count, room = BUFFER_EVENTS - at;

    if (is_there(buffer, events)) {
        at = (size_t)(events - buffer->events);
    } else {
        count = count < room ? count : room;
        memcpy(&buffer->events[at], events, count * sizeof(*events));
    }
    add_piece(buffer, number, at, count);
    buffer->event_count = at + count;
    return count;
}

void tms_aside_events(struct tms_aside *aside, const struct tms_event *events, size_t count,
                      uint64_t number)
{
    while (count > 0) {
        size_t put = put_some(with_room(aside), events, count, number);
        events += put;
        number += put;
        count -= put;
    }
}

/* Those that are atomic pass on order, and are wanted. */
static bool is_plain_access(const struct tms_op *op)
{
    return (op->kind == TMS_OP_READ || op->kind == TMS_OP_WRITE) && (op->flags & TMS_OP_ORDER) == 0;
}

void tms_aside_ops(struct tms_aside *aside, const struct tms_op *ops, size_t count)
{
    for (size_t i = 0; i < count;) {
        struct buffer *buffer = with_room(aside);
        struct tms_op *to = &buffer->ops[buffer->op_count];
        size_t room = BUFFER_OPS - buffer->op_count, picked = 0;
        for (; i < count && picked < room; i++) {
            to[picked] = ops[i]; /* needed or not: who could guess? */
            picked += aside->accesses || !is_plain_access(&ops[i]);
        }
        if (picked > 0) {
            add_piece(buffer, 0, buffer->op_count, picked);
            buffer->op_count += picked;
        }
    }
}

void tms_aside_finish(struct tms_aside *aside)
{
    end(aside, false);
    aside->alone = true;
    take(&aside->taker, aside->filling);
}
