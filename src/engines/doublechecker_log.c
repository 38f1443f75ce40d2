/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logs of doublechecker: each thread writes its events one after the other into chunks, and a
 * node is a stretch of them. A chunk is used again as soon as no node has entries in it and its
 * thread has gone on to the next, so that a log costs what the nodes that are kept take.
 */
#include <assert.h>

#include "engines/doublechecker.h"

static struct tms_dc_chunk *take_chunk(struct tms_dc *c)
{
    struct tms_dc_chunk *chunk = c->free_chunks;

    if (chunk != NULL) {
        assert(chunk->users == 0);
        c->free_chunks = chunk->next;
        return chunk;
    }
    if (!RESERVE(c, &c->chunks, &c->chunk_capacity, c->chunk_count + 1)) {
        return NULL;
    }
    chunk = tms_resize(c->memory, NULL, 0, 1, sizeof(*chunk));
    if (chunk == NULL) {
        tms_host_fail(c->host, TMS_ERR_MEMORY);
        return NULL;
    }
    return c->chunks[c->chunk_count++] = chunk;
}

static void leave_chunk(struct tms_dc *c, struct tms_dc_chunk *chunk)
{
    assert(chunk->users > 0);
    if (--chunk->users == 0) {
        chunk->next = c->free_chunks;
        c->free_chunks = chunk;
    }
}

void tms_dc_close_log(struct tms_dc *c, struct tms_dc_thread *thread)
{
    if (thread->tail != NULL) {
        leave_chunk(c, thread->tail);
        thread->tail = NULL;
    }
}

/* The chunk that the thread's next entry goes to, NULL when memory is short. */
static struct tms_dc_chunk *writable_chunk(struct tms_dc *c, struct tms_dc_thread *thread)
{
    if (thread->tail != NULL && thread->used < CHUNK_ENTRIES) {
        return thread->tail;
    }
    struct tms_dc_chunk *chunk = take_chunk(c);
    if (chunk == NULL) {
        return NULL;
    }
    if (thread->tail != NULL) {
        thread->tail->next = chunk;
    }
    tms_dc_close_log(c, thread);
    chunk->users = 1;
    thread->tail = chunk;
    thread->used = 0;
    return chunk;
}

/* Only variables are ever forgotten; other ids count by themselves. */
static uint32_t incarnation(const struct tms_dc *c, const struct tms_op *op)
{
    bool variable =
        op->kind == TMS_OP_READ || op->kind == TMS_OP_WRITE || op->kind == TMS_OP_UPDATE;

    return variable && op->target < c->incarnation_capacity ? c->incarnations[op->target] : 0;
}

void tms_dc_log(struct tms_dc *c, const struct tms_op *op)
{
    struct tms_dc_thread *thread = &c->threads[op->thread];
    struct tms_dc_node *node = &c->nodes[thread->node];
    struct tms_dc_chunk *chunk = c->host->failed ? NULL : writable_chunk(c, thread);

    if (chunk == NULL) {
        return;
    }
    assert(thread->used < CHUNK_ENTRIES && node->name.thread == op->thread);
    if (node->count == 0) {
        node->log = chunk;
        node->log_at = thread->used;
    }
    chunk->users += node->count == 0 || thread->used == 0;
    chunk->entry[thread->used++] = (struct tms_dc_entry){
        .event = op->event,
        .target = op->target,
        .incarnation = incarnation(c, op),
        .location = op->location,
        .event_kind = op->event_kind,
        .kind = op->kind,
    };
    node->count++;
    node->logged++;
    c->held++;
    c->seen.logged++;
}

void tms_dc_release_log(struct tms_dc *c, const struct tms_dc_node *node)
{
    struct tms_dc_chunk *chunk = node->log;
    uint64_t at = node->log_at;

    for (uint64_t left = node->count; left > 0; at = 0) {
        uint64_t here = CHUNK_ENTRIES - at < left ? CHUNK_ENTRIES - at : left;
        struct tms_dc_chunk *next = chunk->next;
        leave_chunk(c, chunk);
        chunk = next;
        left -= here;
    }
    c->held -= node->count;
}

void tms_dc_clear_logs(struct tms_dc *c)
{
    for (size_t i = 0; i < c->chunk_count; i++) {
        tms_release(c->memory, c->chunks[i], 1, sizeof(*c->chunks[i]));
    }
    tms_release(c->memory, c->chunks, c->chunk_capacity, sizeof(*c->chunks));
}
