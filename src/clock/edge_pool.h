/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of reference-counted edges of the transaction graph, kept only while an entry of a
 * reachability matrix refers to them. Number 0 means no edge. An edge is made with one reference,
 * its maker's. Freed ones are reused, so memory is bounded by the entries, not by time.
 */
#ifndef TMS_CLOCK_EDGE_POOL_H
#define TMS_CLOCK_EDGE_POOL_H

#include <assert.h>

#include "base/memory.h"
#include "tmesis/tmesis.h"

struct tms_edge {
    struct tms_step step;
    uint32_t from; /* column (thread slot) of step.from */
    uint32_t references;
    uint32_t next_free;
};

struct tms_edges {
    struct tms_memory *memory;
    struct tms_edge *edge; /* [0] is unused */
    uint32_t count, free;
    size_t capacity;
};

void tms_edges_init(struct tms_edges *edges, struct tms_memory *memory);
void tms_edges_clear(struct tms_edges *edges);

/* A copy of `step` with one reference, or 0 when memory is short. */
uint32_t tms_edges_make(struct tms_edges *edges, const struct tms_step *step, uint32_t from);

static inline void tms_edges_keep(struct tms_edges *edges, uint32_t number)
{
    if (number != 0) {
        edges->edge[number].references++;
    }
}

static inline void tms_edges_drop(struct tms_edges *edges, uint32_t number)
{
    if (number == 0) {
        return;
    }
    assert(edges->edge[number].references > 0);
    if (--edges->edge[number].references == 0) {
        edges->edge[number].next_free = edges->free;
        edges->free = number;
    }
}

#endif
