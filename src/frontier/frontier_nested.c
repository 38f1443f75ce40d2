/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks inside transactions, for the frontier engine: which of them are refuted when their
 * transaction is to blame.
 *
 * Block b is refuted at event m iff b.begin -> x -> m for an event x of another thread. That is the
 * question of blame, asked of b instead of its transaction, so b can have a row of `order` as if it
 * were one. Blocks that were open when the transaction began (after a split) need none: what
 * refutes it refutes them.
 *
 * Few rows are enough. An edge that leaves from event e extends what the blocks begun by then
 * reach, so of several blocks that begin one inside the other without an edge from an event between
 * their begins, all reach the same. The innermost has the row, and the invariant is: a block
 * without a row reaches what the next block inside it with a row reaches, and without any of these
 * nothing but its own thread. An edge opens one row at most, and programs that lock deep inside a
 * recursion have few. The number of a row, plus one, is in `mark`.
 */
#include <assert.h>

#include "frontier/frontier.h"
#include "frontier/frontier_invariants.h"

static void give_back(struct tms_frontier *f, uint32_t row)
{
    assert(row < f->row_count && f->free_row_count < f->row_count);
    tms_reach_close(&f->order, row);
    assert(f->order.listed[row] == 0 && f->graph.listed[row] == 0);
    f->free_rows[f->free_row_count++] = row;
}

/* How many of the open blocks have begun by then? They are in the order of their begins. */
static size_t begun_by(const struct tms_nesting *nesting, uint64_t event)
{
    size_t low = 0, high = nesting->depth;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (nesting->open[middle].block.begin_event <= event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * A block with a row ends. If the enclosing block has none, it reaches the same and takes over the
 * row.
 */
static void hand_over(struct tms_frontier *f, struct tms_frontier_thread *t,
                      const struct tms_nested *closed)
{
    size_t i = begun_by(&t->nesting, closed->block.begin_event);
    struct tms_nested *around = i > 0 ? &t->nesting.open[i - 1] : NULL;

    assert(closed->mark != 0 && closed->mark - 1 != t->row);
    if (around != NULL && around->mark == 0 && around->block.begin_event > t->begin) {
        around->mark = closed->mark;
        tms_reach_lower(&f->order, closed->mark - 1, t->slot, around->block.begin_event, 0);
    } else {
        give_back(f, closed->mark - 1);
    }
}

/* The row reaches what the other one does. */
static void copy_row(struct tms_reach *reach, uint32_t row, uint32_t other)
{
    const uint32_t *list = &reach->list[(size_t)other * reach->column_capacity];

    for (uint32_t i = 0; i < reach->listed[other]; i++) {
        tms_reach_lower(reach, row, list[i], tms_reach_at(reach, other, list[i]),
                        tms_reach_edge(reach, other, list[i]));
    }
}

static void open_row(struct tms_frontier *f, const struct tms_frontier_thread *t, size_t at)
{
    struct tms_nested *open = t->nesting.open;
    size_t inner = at + 1;
    uint32_t row;

    assert(f->blame && at < t->nesting.depth && open[at].mark == 0);
    if (!tms_frontier_take_row(f, &row)) {
        return;
    }
    tms_reach_open(&f->order, row, t->slot, open[at].block.begin_event);
    while (inner < t->nesting.depth && open[inner].mark == 0) {
        inner++;
    }
    if (inner < t->nesting.depth) {
        copy_row(&f->order, row, open[inner].mark - 1);
    }
    open[at].mark = row + 1;
}

void tms_frontier_nested_leave(struct tms_frontier *f, uint32_t slot, uint64_t event)
{
    const struct tms_frontier_thread *t = f->threads[slot];
    const struct tms_nested *open = t->nesting.open;
    size_t i = begun_by(&t->nesting, event);
    bool wanted = i > 0 && open[i - 1].mark == 0 && open[i - 1].block.begin_event > t->begin;

    /* Not for blocks that are open over a split, nor if the transaction is blamed already. */
    if (wanted && t->row != NO_ROW && !(t->pending.open && t->pending.violation.not_atomic)) {
        open_row(f, t, i - 1);
    }
}

void tms_frontier_nest(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op)
{
    size_t depth = t->nesting.depth;

    if (f->blame && !tms_nesting_follow(&t->nesting, f->memory, op)) {
        tms_frontier_fail(f, TMS_ERR_MEMORY);
    } else if (t->nesting.depth > depth) {
        start_stretch(t, op->event); /* earlier moments are not equivalent to those inside */
        f->nests = true;             /* other traces skip the bookkeeping */
    } else if (t->nesting.depth < depth && t->nesting.open[t->nesting.depth].mark != 0) {
        hand_over(f, t, &t->nesting.open[t->nesting.depth]);
    }
    assert(f->failed != TMS_OK || tms_frontier_innermost_holds(f, t));
    log_add(f, &t->log, op);
}

void tms_frontier_close_nested(struct tms_frontier *f, struct tms_frontier_thread *t)
{
    for (size_t i = 0; i < t->nesting.depth; i++) {
        struct tms_nested *nested = &t->nesting.open[i];
        if (nested->mark != 0) {
            give_back(f, nested->mark - 1);
            nested->mark = 0;
        }
    }
}

uint64_t tms_frontier_nested_to(const struct tms_frontier *f, const struct tms_frontier_thread *t,
                                uint32_t slot, uint64_t event)
{
    const struct tms_nested *open = t->nesting.open;

    for (size_t i = t->nesting.depth; i > 0; i--) {
        uint32_t mark = open[i - 1].mark;
        if (mark != 0 && tms_reach_at(&f->order, mark - 1, slot) <= event) {
            return open[i - 1].block.begin_event;
        }
    }
    return 0;
}
