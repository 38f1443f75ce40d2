/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What blocks keeps of the trace for theorem 3: cells, and the windows and points on them, each
 * once for its period, and windows for their label too.
 */
#include <assert.h>

#include "lockset/blocks.h"

static bool is_window(enum tms_blocks_what what)
{
    return what >= WINDOW_READ_READ;
}

/* ---- cells ------------------------------------------------------------------------------ */

uint32_t tms_blocks_cell(struct tms_blocks_engine *b, uint32_t variable)
{
    if (!RESERVE(b, &b->cell_of, &b->cell_of_capacity, (size_t)variable + 1)) {
        return 0;
    }
    if (b->cell_of[variable] == 0) {
        if (!RESERVE(b, &b->cells, &b->cell_capacity, b->cell_count + 1)) {
            return 0;
        }
        b->cells[b->cell_count] = (struct tms_blocks_cell){.variable = variable};
        b->cell_of[variable] = (uint32_t)b->cell_count++;
    }
    assert(b->cell_of[variable] < b->cell_count);
    assert(b->cells[b->cell_of[variable]].variable == variable);
    return b->cell_of[variable];
}

/* ---- windows and points ------------------------------------------------------------------ */

uint32_t tms_blocks_keep_transaction(struct tms_blocks_engine *b, struct tms_blocks_thread *thread)
{
    if (thread->transaction == 0) {
        if (!RESERVE(b, &b->transactions, &b->transaction_capacity, b->transaction_count + 1)) {
            return 0;
        }
        b->transactions[b->transaction_count] = thread->name;
        thread->transaction = (uint32_t)b->transaction_count++;
    }
    assert(thread->transaction < b->transaction_count);
    return thread->transaction;
}

/* The class of a new use, chained into its cell; 0 when memory is short. */
static uint32_t class_of(struct tms_blocks_engine *b, const struct tms_blocks_class_key *key)
{
    bool is_new;
    uint32_t number = tms_intern_table_add(&b->classes, key, &is_new);

    assert(key->cell > 0 && key->cell < b->cell_count);
    if (is_new) {
        struct tms_blocks_cell *cell = &b->cells[key->cell];
        uint32_t *head = is_window(key->what) ? &cell->windows : &cell->points;
        tms_blocks_class(b, number)->next = *head;
        *head = number;
    }
    return number;
}

static void chain_use(struct tms_blocks_engine *b, uint32_t number, uint32_t class_number)
{
    struct tms_blocks_class *class = tms_blocks_class(b, class_number);

    assert(number > 0 && (class->uses == 0) == (class->last_use == 0));
    if (class->uses == 0) {
        class->uses = number;
    } else {
        tms_blocks_use(b, class->last_use)->next = number;
    }
    class->last_use = number;
}

/* The blocks inside the transaction that have both events are as little atomic as it is. */
static void keep_refuted(struct tms_blocks_engine *b, const struct tms_blocks_thread *thread,
                         struct tms_blocks_use *use)
{
    if (!tms_nesting_refute(&thread->nesting, b->memory, &thread->name, use->first.event,
                            &b->refuting) ||
        !RESERVE(b, &b->refuted, &b->refuted_capacity, b->refuted_count + b->refuting.count)) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
        return;
    }
    use->refuted = (uint32_t)b->refuted_count;
    use->refuted_count = (uint32_t)b->refuting.count;
    for (size_t i = 0; i < b->refuting.count; i++) {
        b->refuted[b->refuted_count++] = b->refuting.block[i];
    }
}

static void keep_use(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                     const struct tms_blocks_use *wanted)
{
    bool is_new;
    uint32_t number = tms_intern_table_add(&b->uses, &wanted->key, &is_new);

    if (number == 0) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
        return;
    }
    if (!is_new) {
        b->seen.known++;
        return;
    }
    uint32_t class_number = class_of(b, &wanted->key.of);
    uint32_t transaction = tms_blocks_keep_transaction(b, thread);
    if (class_number == 0 || transaction == 0) {
        tms_host_fail(b->host, TMS_ERR_MEMORY);
        return;
    }
    struct tms_blocks_use *use = tms_blocks_use(b, number);
    *use = *wanted;
    use->transaction = transaction;
    chain_use(b, number, class_number);
    if (is_window(wanted->key.of.what)) {
        b->seen.windows++;
        keep_refuted(b, thread, use);
    } else {
        b->seen.points++;
    }
}

void tms_blocks_keep_point(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                           uint32_t cell, enum tms_blocks_what what,
                           const struct tms_blocks_access *access)
{
    struct tms_blocks_use use = {
        .key = {.of = {cell, what, access->held}, .period = thread->period},
        .first = access->at,
    };

    keep_use(b, thread, &use);
}

/* What is held since before the event: locks are taken one after the other. */
static struct tms_held held_since(const struct tms_blocks_thread *thread, uint64_t event)
{
    size_t count = thread->hold_count;

    while (count > 0 && thread->holds[count - 1].event > event) {
        count--;
    }
    return count > 0 ? thread->holds[count - 1].held : (struct tms_held){0};
}

static uint32_t path_since(const struct tms_blocks_thread *thread, uint64_t event)
{
    uint32_t path = 0;

    for (size_t i = 0; i < thread->nesting.depth; i++) {
        const struct tms_transaction *block = &thread->nesting.open[i].block;
        if (block->begin_event <= event) {
            path = (uint32_t)(tms_mix(path, block->label + 1) >> 32);
        }
    }
    return path;
}

void tms_blocks_keep_window(struct tms_blocks_engine *b, struct tms_blocks_thread *thread,
                            uint32_t cell, enum tms_blocks_what what,
                            const struct tms_blocks_access *first,
                            const struct tms_blocks_access *second)
{
    if (first->at.event == second->at.event) {
        return; /* a read-modify-write: nothing comes between */
    }
    struct tms_blocks_use use = {
        .key = {.of = {cell, what, held_since(thread, first->at.event)},
                .period = thread->period,
                .label = thread->name.label,
                .path = path_since(thread, first->at.event)},
        .first = first->at,
        .second = second->at,
    };

    keep_use(b, thread, &use);
}
