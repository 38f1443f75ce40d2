/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of each variable, lock and barrier: 16 bytes, and in a separate array, to keep it out
 * of the cache, the locations of the accesses. Only a cell that several threads read between two
 * writes has more: a chain of nodes, each a cache line with up to four readers.
 */
#include <stdint.h>

#include "frontier/frontier.h"
#include "frontier/frontier_invariants.h"

#define CELLS_LEAST 256
#define LINE        64

bool tms_cells_grow(struct tms_frontier *f, struct tms_frontier_cells *cells, uint32_t id)
{
    size_t wanted = (size_t)id + 1;

    /* Locations first: every cell that exists has one. */
    return TMS_RESERVE(f->memory, &cells->place, &cells->place_capacity, wanted, CELLS_LEAST) &&
           TMS_RESERVE(f->memory, &cells->cell, &cells->capacity, wanted, CELLS_LEAST);
}

void tms_cells_clear(struct tms_frontier *f, struct tms_frontier_cells *cells)
{
    tms_release(f->memory, cells->cell, cells->capacity, sizeof(*cells->cell));
    tms_release(f->memory, cells->place, cells->place_capacity, sizeof(*cells->place));
    *cells = (struct tms_frontier_cells){0};
}

/* ---- nodes ------------------------------------------------------------------------------ */

static size_t chunk_bytes(void)
{
    return NODE_CHUNK * sizeof(struct tms_frontier_reader_node) + LINE;
}

static bool add_chunk(struct tms_frontier_reader_nodes *nodes, struct tms_memory *memory,
                      size_t index)
{
    if (!TMS_RESERVE(memory, &nodes->chunk, &nodes->chunk_capacity, index + 1, 8) ||
        !TMS_RESERVE(memory, &nodes->block, &nodes->block_capacity, index + 1, 8)) {
        return false;
    }
    char *block = tms_resize(memory, NULL, 0, chunk_bytes(), 1);
    if (block == NULL) {
        return false;
    }
    size_t past_line = (uintptr_t)block % LINE;
    nodes->block[index] = block;
    nodes->chunk[index] =
        (struct tms_frontier_reader_node *)(void *)(block + (LINE - past_line) % LINE);
    return true;
}

static uint32_t take_node(struct tms_frontier *f)
{
    struct tms_frontier_reader_nodes *nodes = &f->nodes;
    uint32_t number = nodes->free;

    if (number != 0) {
        nodes->free = reader_node(f, number)->next;
        *reader_node(f, number) = (struct tms_frontier_reader_node){0};
        return number;
    }
    number = nodes->count == 0 ? 1 : nodes->count;
    size_t index = number / NODE_CHUNK;
    bool there = index < nodes->block_capacity && nodes->block[index] != NULL;
    if (!there && !add_chunk(nodes, f->memory, index)) {
        return 0;
    }
    nodes->count = number + 1;
    assert((uintptr_t)reader_node(f, number) % LINE == 0);
    return number;
}

void tms_reader_nodes_clear(struct tms_frontier *f)
{
    for (size_t i = 0; i < f->nodes.block_capacity; i++) {
        tms_release(f->memory, f->nodes.block[i], chunk_bytes(), 1);
    }
    tms_release(f->memory, f->nodes.chunk, f->nodes.chunk_capacity, sizeof(*f->nodes.chunk));
    tms_release(f->memory, f->nodes.block, f->nodes.block_capacity, sizeof(*f->nodes.block));
    f->nodes = (struct tms_frontier_reader_nodes){0};
}

/* ---- readers ---------------------------------------------------------------------------- */

/*
 * Replaces a reader from which an edge into the new one's thread would be implied (its own earlier
 * read is one): whatever is ordered after the new reader is ordered after that one too.
 */
static bool set_reader(struct tms_frontier *f, const struct tms_frontier_thread *t, uint32_t number,
                       uint64_t moment, uint32_t place)
{
    for (;;) {
        struct tms_frontier_reader_node *node = reader_node(f, number);
        for (int i = 0; i < NODE_READERS; i++) {
            if (implied(t, node->moment[i])) {
                node->moment[i] = moment;
                node->place[i] = place;
                return true;
            }
        }
        if (node->next == 0) {
            uint32_t next = take_node(f); /* nodes do not move */
            if (next == 0) {
                return false;
            }
            node->next = next;
        }
        number = node->next;
    }
}

bool tms_cell_add_reader(struct tms_frontier *f, const struct tms_frontier_thread *t,
                         struct tms_frontier_cell *cell, struct tms_frontier_places *places,
                         uint64_t moment, uint32_t place)
{
    assert(moment_slot(moment) == t->slot);
    if (implied(t, cell->read)) {
        cell->read = moment;
        if (f->located | place) {
            places->at[READ] = place;
        }
        return true;
    }
    if (is_several(cell->read)) {
        assert(tms_reader_nodes_hold(f, moment_node(cell->read)));
        return set_reader(f, t, moment_node(cell->read), moment, place);
    }
    uint32_t number = take_node(f);
    if (number == 0) {
        return false;
    }
    struct tms_frontier_reader_node *node = reader_node(f, number);
    node->moment[0] = cell->read;
    node->place[0] = f->located ? places->at[READ] : 0;
    node->moment[1] = moment;
    node->place[1] = place;
    cell->read = make_several(number);
    assert(tms_reader_nodes_hold(f, number));
    f->nodes_used++;
    return true;
}

void tms_reader_nodes_drop(struct tms_frontier *f, uint32_t first)
{
    uint32_t last = first;

    assert(first != f->nodes.free);
    while (reader_node(f, last)->next != 0) {
        last = reader_node(f, last)->next;
    }
    reader_node(f, last)->next = f->nodes.free;
    f->nodes.free = first;
}
