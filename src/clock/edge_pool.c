/* SPDX-License-Identifier: Apache-2.0 */
/* The edge pool; see edge_pool.h. */
#include "clock/edge_pool.h"

#define LEAST_EDGES 64

void tms_edges_init(struct tms_edges *edges, struct tms_memory *memory)
{
    *edges = (struct tms_edges){.memory = memory, .count = 1};
}

void tms_edges_clear(struct tms_edges *edges)
{
    if (edges->memory != NULL) {
        tms_release(edges->memory, edges->edge, edges->capacity, sizeof(*edges->edge));
    }
    *edges = (struct tms_edges){0};
}

static uint32_t take(struct tms_edges *edges)
{
    uint32_t number = edges->free;

    if (number != 0) {
        edges->free = edges->edge[number].next_free;
        return number;
    }
    bool room = TMS_RESERVE(edges->memory, &edges->edge, &edges->capacity, (size_t)edges->count + 1,
                            LEAST_EDGES);

    return room ? edges->count++ : 0;
}

uint32_t tms_edges_make(struct tms_edges *edges, const struct tms_step *step, uint32_t from)
{
    uint32_t number = take(edges);

    if (number != 0) {
        edges->edge[number] = (struct tms_edge){.step = *step, .from = from, .references = 1};
    }
    return number;
}
