/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points, put in order for the questions that are asked at the end.
 *
 * Can any come where these locks are held? In most programs a variable has a lock that is held at
 * all its points; so what is common to all is tried before the classes are, one by one.
 *
 * Which point of a class is parallel to a period? A program that passes barriers has as many
 * periods as there are rounds, so they are not tried one by one. On a line of periods
 * (periods.h) those that ended before the one in question come first, and those that begin after
 * it come last: the first that did not end before is parallel, or none on that line is.
 */
#include <assert.h>
#include <stdlib.h>

#include "lockset/blocks.h"

static int by_line(const void *a, const void *b)
{
    const struct tms_blocks_mark *x = a, *y = b;

    if (x->line != y->line) {
        return x->line < y->line ? -1 : 1;
    }
    return x->number != y->number ? (x->number < y->number ? -1 : 1)
                                  : (x->use > y->use) - (x->use < y->use);
}

static void mark_class(struct tms_blocks_engine *b, struct tms_blocks_class *class)
{
    class->marks = b->mark_count;
    for (uint32_t i = class->uses; i != 0; i = tms_blocks_use(b, i)->next) {
        const struct tms_period *period = &b->periods.periods[tms_blocks_use(b, i)->key.period];
        b->marks[b->mark_count++] = (struct tms_blocks_mark){period->number, period->line, i};
    }
    assert(b->mark_count <= b->mark_capacity);
    class->mark_count = (uint32_t)(b->mark_count - class->marks);
    qsort(&b->marks[class->marks], class->mark_count, sizeof(*b->marks), by_line);
}

static void add_to_always(struct tms_blocks_engine *b, struct tms_blocks_cell *cell,
                          const struct tms_blocks_class *class)
{
    int kind = class->key.what == POINT_READ ? KIND_READ : KIND_WRITE;

    assert(class->key.what < WINDOW_READ_READ);
    cell->always[kind] = cell->has[kind]
                             ? tms_held_both(&b->locksets, cell->always[kind], class->key.held)
                             : class->key.held;
    cell->has[kind] = true;
}

bool tms_blocks_kept_out(struct tms_blocks_engine *b, uint32_t cell, int kind, struct tms_held held)
{
    const struct tms_blocks_cell *c = &b->cells[cell];

    assert(cell < b->cell_count && (kind == KIND_READ || kind == KIND_WRITE));
    return !c->has[kind] || tms_blocks_apart(b, held, c->always[kind]);
}

void tms_blocks_mark_points(struct tms_blocks_engine *b)
{
    if (!RESERVE(b, &b->marks, &b->mark_capacity, b->seen.points)) {
        return;
    }
    for (size_t i = 1; i < b->cell_count; i++) {
        for (uint32_t j = b->cells[i].points; j != 0; j = tms_blocks_class(b, j)->next) {
            mark_class(b, tms_blocks_class(b, j));
            add_to_always(b, &b->cells[i], tms_blocks_class(b, j));
        }
    }
}

/* The first mark from `at` on that is beyond this line, or on it and beyond this number. */
static size_t first_beyond(const struct tms_blocks_engine *b, size_t at, size_t end, uint32_t line,
                           uint64_t number)
{
    assert(at <= end && end <= b->mark_count);
    while (at < end) {
        size_t middle = at + (end - at) / 2;
        const struct tms_blocks_mark *mark = &b->marks[middle];
        if (mark->line < line || (mark->line == line && mark->number <= number)) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    return at;
}

uint32_t tms_blocks_parallel_use(struct tms_blocks_engine *b, const struct tms_blocks_class *class,
                                 uint32_t period)
{
    const struct tms_period *asked = &b->periods.periods[period];
    size_t at = class->marks, end = class->marks + class->mark_count;

    assert(class->marks + class->mark_count <= b->mark_count);
    assert(period < b->periods.period_count);
    while (at < end) {
        uint32_t line = b->marks[at].line;
        b->seen.compared++;
        at = first_beyond(b, at, end, line, tms_vector_get(&asked->knows, line));
        if (at < end && b->marks[at].line == line) {
            uint32_t use = b->marks[at].use;
            if (tms_periods_parallel(&b->periods, tms_blocks_use(b, use)->key.period, period)) {
                return use;
            }
            at = first_beyond(b, at, end, line, UINT64_MAX);
        }
    }
    return 0;
}
