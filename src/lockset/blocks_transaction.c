/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running transaction of a thread: what it touched, and the windows and points that the next
 * access makes with that, by rules (a) and (b) of section 6.1.
 */
#include <assert.h>

#include "lockset/blocks.h"

/* ---- what the running transaction touched ------------------------------------------------- */

/* NULL when memory is short, and the host knows. */
static struct tms_blocks_touch *touch_of(struct tms_blocks_engine *b,
                                         struct tms_blocks_thread *thread, uint32_t cell)
{
    uint64_t hash = tms_hash(cell);
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&thread->index, hash, &walk);

    assert(cell > 0 && cell < b->cell_count);
    while (found != 0 && thread->touches[found - 1].cell != cell) {
        found = tms_hash_next(&walk);
    }
    if (found != 0) {
        return &thread->touches[found - 1];
    }
    if (!RESERVE(b, &thread->touches, &thread->touch_capacity, thread->touch_count + 1)) {
        return NULL;
    }
    if (!tms_hashtable_add(&thread->index, b->memory, hash, (uint32_t)thread->touch_count + 1)) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
        return NULL;
    }
    assert(thread->index.count == thread->touch_count + 1);
    struct tms_blocks_touch *touch = &thread->touches[thread->touch_count++];
    *touch = (struct tms_blocks_touch){.cell = cell};
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
        if (touch->written && !b->host->failed) {
            tms_blocks_keep_point(b, thread, touch->cell, POINT_FINAL, &touch->write);
        }
    }
    if (tms_blocks_wants_flows(b) && !b->host->failed) {
        tms_blocks_keep_flow(b, thread);
    }
    thread->touch_count = 0;
    tms_hashtable_empty(&thread->index);
    thread->item_count = 0;
}

/* ---- accesses ----------------------------------------------------------------------------- */

static void note_access(struct tms_blocks_engine *b, uint32_t cell, uint32_t thread, bool writes)
{
    struct tms_blocks_cell *c = &b->cells[cell];

    assert(thread != 0); /* no thread */
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
