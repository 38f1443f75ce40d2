/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access to a cell, shared by the loop over operations (frontier_access.c) and the loop over
 * events (engines/frontier_fused.c). The hottest code of the library.
 */
#ifndef TMS_FRONTIER_FRONTIER_ACCESS_H
#define TMS_FRONTIER_FRONTIER_ACCESS_H

#include "frontier/frontier.h"

/* The outcome of an access. */
enum tms_frontier_outcome {
    REPEATS, /* nothing: it is recorded already */
    MEETS,  /* slow path: edges, or several readers; tms_frontier_meet does everything except … */
    PASSES, /* recorded; the caller still has to record its location, and … log the operation */
};

/*
 * `exclusive`, all ones or zero: a write, or an operation on the exclusive side of a lock;
 * `always`, likewise: recorded even when it repeats. Arithmetic instead of branches: the next
 * operation is unpredictable.
 */
static inline enum tms_frontier_outcome access_cell(const struct tms_frontier_thread *t,
                                                    struct tms_frontier_cell *cell,
                                                    uint64_t exclusive, uint64_t always,
                                                    uint64_t moment)
{
    uint64_t write = cell->write;
    uint64_t read = cell->read;
    uint64_t since = write - t->floor < read - t->floor ? write - t->floor : read - t->floor;
    uint64_t blocked =
        (read | always) & exclusive; /* larger than any span because of its slot, or 0 */

    if ((since | blocked) < t->span) {
        return REPEATS;
    }
    if (!implied(t, write) || !implied(t, read)) {
        return MEETS;
    }
    /* Drops a redundant reader: whatever is ordered after this event is ordered after that one. */
    cell->read = 0;
    cell->at[READ + exclusive] = moment;
    return PASSES;
}

/* Until an event has a location, all locations are 0 and need not be written. */
static inline void note_place(struct tms_frontier *f, const struct tms_frontier_cells *cells,
                              uint32_t target, uint64_t exclusive, uint32_t location)
{
    if (f->located | location) {
        f->located |= location;
        cells->place[target].at[READ + exclusive] = location;
    }
}

/* The slow path: an access that MEETS something, except for the log. It may fail the engine. */
void tms_frontier_meet(struct tms_frontier *f, struct tms_frontier_thread *t,
                       const struct tms_op *op);

/*
 * Operations come in batches, so the cell of a later one is prefetched. Each is assumed to access a
 * variable, as most do: prefetching an invalid address does no harm.
 */
#define AHEAD 10

#endif
