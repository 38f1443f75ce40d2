/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access to a cell, for the two loops that have them: over operations (frontier_access.c) and
 * over events (engines/frontier_fused.c). The hottest code there is.
 */
#ifndef TMS_FRONTIER_FRONTIER_ACCESS_H
#define TMS_FRONTIER_FRONTIER_ACCESS_H

#include "frontier/frontier.h"

/* What an access comes to. */
enum outcome {
    REPEATS, /* nothing: it is recorded already */
    MEETS,   /* edges, or several readers: nothing was done, tms_frontier_meet does all but … */
    PASSES,  /* it is recorded now; its place, and … the thread's log, are left to do */
};

/*
 * `exclusive`, all ones or zero: a write, or an operation on the exclusive side of a lock;
 * `always`, likewise: recorded even when it repeats. Arithmetic instead of branches: the next
 * operation is unpredictable.
 */
static inline enum outcome access_cell(const struct tms_frontier_thread *t,
                                       struct tms_frontier_cell *cell, uint64_t exclusive,
                                       uint64_t always, uint64_t moment)
{
    uint64_t write = cell->write;
    uint64_t read = cell->read;
    uint64_t since = write - t->floor < read - t->floor ? write - t->floor : read - t->floor;
    uint64_t blocked = (read | always) & exclusive; /* by its slot more than any span, or 0 */

    if ((since | blocked) < t->span) {
        return REPEATS;
    }
    if (!implied(t, write) || !implied(t, read)) {
        return MEETS;
    }
    /* A reader that is implied makes way: who comes after this event comes after that one. */
    cell->read = 0;
    cell->at[READ + exclusive] = moment;
    return PASSES;
}

/* Before any event has a location, all places are 0 and need no visit. */
static inline void note_place(struct tms_frontier *f, const struct tms_frontier_cells *cells,
                              uint32_t target, uint64_t exclusive, uint32_t location)
{
    if (f->located | location) {
        f->located |= location;
        cells->place[target].at[READ + exclusive] = location;
    }
}

/* An access that MEETS something, whole but for the log. It may fail the engine. */
void tms_frontier_meet(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op);

/*
 * Operations come in batches, so the cell of a later one is prefetched. Each is assumed to access a
 * variable, as most do: prefetching an invalid address does no harm.
 */
#define AHEAD 10

#endif
