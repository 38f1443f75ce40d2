/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running transaction of a thread: what it touched, and the windows and points that the next
 * access makes with that, by rules (a) and (b) of section 6.1.
 */
#include <assert.h>

#include "lockset/blocks.h"

#define INDEX_LEAST 32

/* ---- what the running transaction touched ------------------------------------------------- */

static bool grow_index(struct tms_blocks_engine *b, struct tms_blocks_thread *thread)
{
    size_t size = thread->index_size > 0 ? thread->index_size * 2 : INDEX_LEAST;
    uint32_t *index = tms_table(b->memory, size, sizeof(*index));

    if (index == NULL) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
        return false;
    }
    for (size_t i = 0; i < thread->touch_count; i++) {
        size_t at = thread->touches[i].cell & (size - 1);
        while (index[at] != 0) {
            at = (at + 1) & (size - 1);
        }
        index[at] = (uint32_t)i + 1;
        thread->touches[i].slot = (uint32_t)at;
    }
    tms_release(b->memory, thread->index, thread->index_size, sizeof(*index));
    thread->index = index;
    thread->index_size = size;
    return true;
}

/* NULL when memory is short, and the host knows. */
static struct tms_blocks_touch *touch_of(struct tms_blocks_engine *b,
                                         struct tms_blocks_thread *thread, uint32_t cell)
{
    assert(cell > 0 && cell < b->cell_count);
    if ((thread->touch_count + 1) * 2 > thread->index_size && !grow_index(b, thread)) {
        return NULL;
    }
    size_t mask = thread->index_size - 1;
    size_t at = cell & mask; /* cells are numbered as they come: no need to hash */
    while (thread->index[at] != 0) {
        struct tms_blocks_touch *touch = &thread->touches[thread->index[at] - 1];
        if (touch->cell == cell) {
            return touch;
        }
        at = (at + 1) & mask;
    }
    if (!RESERVE(b, &thread->touches, &thread->touch_capacity, thread->touch_count + 1)) {
        return NULL;
    }
    assert(thread->touch_count * 2 < thread->index_size);
    struct tms_blocks_touch *touch = &thread->touches[thread->touch_count++];
    *touch = (struct tms_blocks_touch){.cell = cell, .slot = (uint32_t)at};
    thread->index[at] = (uint32_t)thread->touch_count;
    return touch;
}

/* ---- transactions ------------------------------------------------------------------------ */

void tms_blocks_start(struct tms_blocks_engine *b, struct tms_blocks_thread *thread)
{
    assert(thread->touch_count == 0 && thread->item_count == 0);
    thread->transaction = 0;
    thread->period = tms_period_of(&b->periods, thread->name.thread);
    for (size_t i = 0; i < thread->nesting.depth && tms_blocks_wants_flows(b); i++) {
        tms_blocks_log_nest(b, thread, &thread->nesting.open[i]);
    }
}

void tms_blocks_end(struct tms_blocks_engine *b, struct tms_blocks_thread *thread)
{
    for (size_t i = 0; i < thread->touch_count; i++) {
        const struct tms_blocks_touch *touch = &thread->touches[i];
        assert(thread->index[touch->slot] == i + 1);
        thread->index[touch->slot] = 0;
        if (touch->written && !b->host->failed) {
            tms_blocks_keep_point(b, thread, touch->cell, POINT_FINAL, &touch->write);
        }
    }
    if (tms_blocks_wants_flows(b) && !b->host->failed) {
        tms_blocks_keep_flow(b, thread);
    }
    thread->touch_count = 0;
    thread->item_count = 0;
}

/* ---- accesses ----------------------------------------------------------------------------- */

static void note_access(struct tms_blocks_engine *b, uint32_t cell, uint32_t thread, bool writes)
{
    struct tms_blocks_cell *c = &b->cells[cell];

    assert(thread != 0); /* nobody */
    c->shared |= c->thread != 0 && c->thread != thread;
    c->thread = c->thread != 0 ? c->thread : thread;
    c->written |= writes;
}

static void read_cell(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                      struct tms_blocks_touch *touch, const struct tms_blocks_access *access)
{
    assert(!touch->read || touch->last_read.at.event <= access->at.event);
    if (touch->written) {
        tms_blocks_keep_window(b, thread, touch->cell, WINDOW_WRITE_READ, &touch->write, access);
        return;
    }
    tms_blocks_keep_point(b, thread, touch->cell, POINT_READ, access);
    if (tms_blocks_wants_flows(b)) {
        tms_blocks_log_read(b, thread, touch, access);
    }
    if (touch->read) {
        tms_blocks_keep_window(b, thread, touch->cell, WINDOW_READ_READ, &touch->last_read, access);
    }
    touch->last_read = *access;
    touch->read = true;
}

static void write_cell(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                       struct tms_blocks_touch *touch, const struct tms_blocks_access *access)
{
    assert(!touch->written || touch->write.at.event <= access->at.event);
    if (touch->written) {
        tms_blocks_keep_point(b, thread, touch->cell, POINT_WRITE, &touch->write);
        tms_blocks_keep_window(b, thread, touch->cell, WINDOW_WRITE_WRITE, &touch->write, access);
    }
    if (touch->read) {
        tms_blocks_keep_window(b, thread, touch->cell, WINDOW_READ_WRITE, &touch->last_read,
                               access);
    }
    if (tms_blocks_wants_flows(b)) {
        tms_blocks_log_write(b, thread, touch, access);
    }
    touch->write = *access;
    touch->written = true;
}

void tms_blocks_access(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                       const struct tms_op *op)
{
    uint32_t cell = tms_blocks_cell(b, op->target);
    struct tms_blocks_touch *touch = cell != 0 ? touch_of(b, thread, cell) : NULL;
    struct tms_blocks_access access = {
        .at = {op->event, op->location, op->event_kind},
        .held = tms_blocks_held_now(thread),
    };

    if (touch == NULL) {
        return;
    }
    note_access(b, cell, op->thread, op->kind != TMS_OP_READ);
    if (op->kind != TMS_OP_WRITE) {
        read_cell(b, thread, touch, &access);
    }
    if (op->kind != TMS_OP_READ) {
        write_cell(b, thread, touch, &access);
    }
}
