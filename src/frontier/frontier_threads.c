/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the frontier engine: their slots in the matrices, assigned at the first event and
 * reused after the join, and the rows of those that are in a transaction.
 */
#include <assert.h>
#include <string.h>

#include "frontier/frontier.h"
#include "frontier/frontier_invariants.h"

#define LEAST_THREADS 16

bool tms_frontier_need_id(struct tms_frontier *f, uint32_t id)
{
    size_t wanted = (size_t)id + 1;

    if (TMS_RESERVE(f->memory, &f->forks, &f->fork_capacity, wanted, LEAST_THREADS) &&
        TMS_RESERVE(f->memory, &f->by_id, &f->id_capacity, wanted, LEAST_THREADS)) {
        return true;
    }
    tms_frontier_fail(f, TMS_ERR_MEMORY);
    return false;
}

/*
 * A slot of a joined thread may be reused only when no running transaction reaches it: then none
 * ever will, and moments of the old thread add no edges. Reusing it earlier would order unrelated
 * threads.
 */
static bool find_reusable(struct tms_frontier *f, const struct tms_op *op, uint32_t *slot)
{
    for (uint32_t i = 0; i < f->retired_count; i++) {
        *slot = f->retired[i];
        if (tms_reach_unreached(&f->graph, *slot) &&
            (!f->blame || tms_reach_unreached(&f->order, *slot)) &&
            (f->port->may_reuse == NULL || f->port->may_reuse(f, *slot, op))) {
            f->retired[i] = f->retired[--f->retired_count];
            f->retired_tried = 0;
            return true;
        }
    }
    f->retired_tried = f->retired_count;
    return false;
}

/* After an unsuccessful search the list is searched again only when it has doubled. */
static bool reuse_slot(struct tms_frontier *f, const struct tms_op *op, uint32_t *slot)
{
    return f->retired_count >= f->retired_tried * 2 && find_reusable(f, op, slot);
}

/* Doubles the number of slots. The rows of `in` grow, and all of them move. */
static bool grow_slots(struct tms_frontier *f)
{
    size_t before = f->slot_capacity;
    size_t capacity = before == 0 ? LEAST_THREADS : 2 * before;
    uint64_t *in = tms_resize(f->memory, NULL, 0, capacity * capacity, sizeof(*in));

    if (in == NULL || !TMS_RESERVE(f->memory, &f->threads, &f->slot_capacity, capacity, capacity)) {
        tms_release(f->memory, in, capacity * capacity, sizeof(*in));
        return false;
    }
    for (uint32_t slot = FIRST_SLOT; slot < f->slot_count; slot++) {
        struct tms_frontier_thread *t = f->threads[slot];
        memcpy(&in[slot * capacity], t->in, before * sizeof(*in));
        t->in = &in[slot * capacity];
    }
    tms_release(f->memory, f->in, before * before, sizeof(*in));
    f->in = in;
    return true;
}

/* The thread of the next slot; kept when something else fails, and found there next time. */
static bool new_thread(struct tms_frontier *f)
{
    struct tms_frontier_thread **t = &f->threads[f->slot_count];

    if (*t == NULL) {
        *t = tms_resize(f->memory, NULL, 0, 1, sizeof(**t));
    }
    return *t != NULL;
}

static int grow_matrices(struct tms_frontier *f, uint32_t rows, uint32_t columns)
{
    int code = tms_reach_grow(&f->graph, rows, columns);

    return code == TMS_OK && f->blame ? tms_reach_grow(&f->order, rows, columns) : code;
}

static int new_slot(struct tms_frontier *f, uint32_t *slot)
{
    if (f->slot_count > f->slot_most) {
        return TMS_ERR_LIMIT;
    }
    uint32_t columns = f->slot_count + 1;
    if ((columns > f->slot_capacity && !grow_slots(f)) || !new_thread(f)) {
        return TMS_ERR_MEMORY;
    }
    int code = grow_matrices(f, 1, columns);
    if (code == TMS_OK) {
        *slot = f->slot_count++;
    }
    return code;
}

/* Edges into the slot so far are those of the previous thread. */
struct tms_frontier_thread *tms_frontier_settle_in(struct tms_frontier *f, const struct tms_op *op)
{
    uint32_t slot;

    if (!tms_frontier_need_id(f, op->thread)) {
        return NULL;
    }
    if (!reuse_slot(f, op, &slot)) {
        int code = new_slot(f, &slot);
        if (code == TMS_ERR_LIMIT && find_reusable(f, op, &slot)) {
            code = TMS_OK; /* rather than give up, search before the list has doubled */
        }
        if (code != TMS_OK) {
            tms_frontier_fail(f, code);
            return NULL;
        }
    }
    struct tms_frontier_thread *t = f->threads[slot];
    assert(!t->pending.open && slot >= FIRST_SLOT && slot < f->slot_count);
    t->slot = slot;
    t->base = make_moment(slot, 0, 0);
    t->id = op->thread;
    t->row = NO_ROW;
    t->begin = 0;
    t->met = op->event;
    t->history.count = 0;
    tms_nesting_restart(&t->nesting);
    if (!tms_log_start(f, &t->log)) {
        tms_frontier_fail(f, TMS_ERR_MEMORY);
        return NULL;
    }
    t->in = &f->in[slot * f->slot_capacity];
    memset(t->in, 0, f->slot_capacity * sizeof(*t->in));
    t->in[slot] = make_moment(slot + 1, 0, 0) - 1; /* its own moments make no edges */
    start_stretch(t, op->event);
    assert(implied(t, moment_here(t, op)) && fresh(t, moment_here(t, op)) && implied(t, 0));
    f->by_id[op->thread] = t;
    return t;
}

void tms_frontier_retire(struct tms_frontier *f, uint32_t slot)
{
    if (!TMS_RESERVE(f->memory, &f->retired, &f->retired_capacity, f->retired_count + 1u,
                     LEAST_THREADS)) {
        tms_frontier_fail(f, TMS_ERR_MEMORY);
        return;
    }
    f->retired[f->retired_count++] = slot;
    assert(f->retired_count <= f->slot_count && tms_frontier_retired_hold(f));
}

int tms_frontier_grow_rows(struct tms_frontier *f)
{
    assert(f->free_row_count == 0);
    uint32_t rows = f->row_count + 1;
    int code = grow_matrices(f, rows, 1);

    if (code == TMS_OK &&
        !TMS_RESERVE(f->memory, &f->free_rows, &f->row_capacity, rows, LEAST_THREADS)) {
        code = TMS_ERR_MEMORY;
    }
    if (code == TMS_OK) {
        f->free_rows[f->free_row_count++] = f->row_count++;
    }
    return code;
}

int tms_frontier_set_up(struct tms_frontier *f, const struct tms_frontier_port *port, void *user,
                        struct tms_memory *memory, bool blame)
{
    assert(tms_frontier_port_holds(port) && f->memory == NULL);
    assert(memory->bytes == 0 || memory->allocator == port->memory); /* one for all blocks */
    f->port = port;
    f->user = user;
    f->memory = memory;
    f->memory->allocator = port->memory;
    f->blame = blame;
    f->slot_count = FIRST_SLOT;
    f->slot_most = LAST_SLOT;
    tms_edges_init(&f->edges, f->memory);
    tms_reach_init(&f->graph, f->memory, &f->edges);
    tms_reach_init(&f->order, f->memory, &f->edges);
    int code = tms_reach_grow(&f->graph, 1, 1);
    return code == TMS_OK ? tms_reach_grow(&f->order, 1, 1) : code;
}

int tms_frontier_limit_slots(struct tms_frontier *f, uint32_t most)
{
    f->slot_most = most;
    while (f->slot_capacity <= most) {
        if (!grow_slots(f)) {
            return TMS_ERR_MEMORY;
        }
    }
    return grow_matrices(f, 1, most + 1);
}

void tms_frontier_clear(struct tms_frontier *f)
{
    if (f->memory == NULL) {
        return;
    }
    tms_witness_clear(f);
    for (size_t slot = 0; slot < f->slot_capacity; slot++) {
        tms_release(f->memory, f->threads[slot], 1, sizeof(struct tms_frontier_thread));
    }
    tms_release(f->memory, f->in, f->slot_capacity * f->slot_capacity, sizeof(*f->in));
    tms_release(f->memory, f->threads, f->slot_capacity, sizeof(*f->threads));
    tms_release(f->memory, f->retired, f->retired_capacity, sizeof(*f->retired));
    tms_release(f->memory, f->free_rows, f->row_capacity, sizeof(*f->free_rows));
    tms_release(f->memory, f->by_id, f->id_capacity, sizeof(*f->by_id));
    tms_release(f->memory, f->forks, f->fork_capacity, sizeof(*f->forks));
    for (int i = 0; i < TMS_PLACES; i++) {
        tms_cells_clear(f, &f->cells[i]);
    }
    tms_reader_nodes_clear(f);
    tms_reach_clear(&f->graph);
    tms_reach_clear(&f->order);
    tms_edges_clear(&f->edges);
}
