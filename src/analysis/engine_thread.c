/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Circulates buffers of operations between two threads; see engine_thread.h. A buffer is large
 * enough that waking the other thread costs little per operation, and all of them together fit into
 * a second-level cache or two.
 */
#include "analysis/engine_thread.h"

#include <assert.h>
#include <string.h>

#include "base/worker.h"

#define BUFFER_OPS 8192
#define BUFFERS    8
_Static_assert(BUFFERS <= TMS_WORKER_QUEUE, "the queue has room for all buffers");

struct buffer {
    size_t count;
    struct tms_op ops[BUFFER_OPS + TMS_OPS_AHEAD];
};

struct tms_engine_thread {
    tms_take_ops *take;
    void *user;
    struct tms_worker worker;
    size_t filling; /* the buffer that is being filled; the worker has none or some of the others */
    struct buffer buffers[BUFFERS];
};

static void take_buffer(void *user, void *item)
{
    struct tms_engine_thread *thread = user;
    struct buffer *buffer = item;

    if (buffer->count > 0) {
        thread->take(thread->user, buffer->ops, buffer->count);
    }
    buffer->count = 0;
}

struct tms_engine_thread *tms_engine_thread_new(struct tms_memory *memory, tms_take_ops *take,
                                                void *user)
{
    struct tms_engine_thread *thread = tms_resize(memory, NULL, 0, 1, sizeof(*thread));

    if (thread != NULL) {
        thread->take = take;
        thread->user = user;
        tms_worker_init(&thread->worker, take_buffer, thread);
    }
    return thread;
}

void tms_engine_thread_free(struct tms_engine_thread *thread, struct tms_memory *memory)
{
    if (thread != NULL) {
        tms_worker_clear(&thread->worker);
        tms_release(memory, thread, 1, sizeof(*thread));
    }
}

/* Afterwards the next buffer is empty and the worker has finished with it. */
static void submit(struct tms_engine_thread *thread, bool is_last)
{
    tms_worker_submit(&thread->worker, &thread->buffers[thread->filling], is_last);
    tms_worker_wait(&thread->worker, BUFFERS - 1);
    thread->filling = (thread->filling + 1) % BUFFERS;
    assert(thread->buffers[thread->filling].count == 0);
}

void tms_engine_thread_put(struct tms_engine_thread *thread, const struct tms_op *ops, size_t count)
{
    while (count > 0) {
        struct buffer *buffer = &thread->buffers[thread->filling];
        size_t room = BUFFER_OPS - buffer->count;
        size_t some = count < room ? count : room;
        memcpy(&buffer->ops[buffer->count], ops, some * sizeof(*ops));
        buffer->count += some;
        ops += some;
        count -= some;
        if (buffer->count == BUFFER_OPS) {
            submit(thread, false);
        }
    }
}

void tms_engine_thread_finish(struct tms_engine_thread *thread)
{
    submit(thread, true);
    tms_worker_finish(&thread->worker);
}
