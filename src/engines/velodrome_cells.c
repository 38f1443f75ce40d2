/* SPDX-License-Identifier: Apache-2.0 */
/* Last writes and reads of the velodrome engine; see velodrome_cells.h. */
#include "engines/velodrome_cells.h"

#include <assert.h>

#define LEAST 64

struct tms_velodrome_cell *tms_velodrome_cell(struct tms_memory *memory,
                                              struct tms_velodrome_cells *cells, uint32_t id)
{
    return TMS_RESERVE(memory, &cells->cell, &cells->capacity, (size_t)id + 1, LEAST)
               ? &cells->cell[id]
               : NULL;
}

static void drop(struct tms_velodrome_readers *readers, uint32_t *link)
{
    uint32_t number = *link;

    assert(number > 0 && number <= readers->count);
    *link = readers->reader[number].next;
    readers->reader[number].next = readers->free;
    readers->free = number;
}

/* A free one, or 0 when memory is short. */
static uint32_t take(struct tms_memory *memory, struct tms_velodrome_readers *readers)
{
    uint32_t number = readers->free;

    if (number != 0) {
        readers->free = readers->reader[number].next;
        return number;
    }
    if (readers->count == UINT32_MAX - 1 ||
        !TMS_RESERVE(memory, &readers->reader, &readers->capacity, (size_t)readers->count + 2,
                     LEAST)) {
        return 0;
    }
    assert(readers->count + (size_t)1 < readers->capacity);
    return ++readers->count;
}

void tms_velodrome_write(struct tms_velodrome_readers *readers, struct tms_velodrome_cell *cell,
                         struct tms_velodrome_step step)
{
    while (cell->readers != 0) {
        drop(readers, &cell->readers);
    }
    cell->write = step;
}

bool tms_velodrome_read(const struct tms_velodrome_graph *graph,
                        struct tms_velodrome_readers *readers, struct tms_velodrome_cell *cell,
                        uint32_t thread, struct tms_velodrome_step step)
{
    for (uint32_t *link = &cell->readers; *link != 0;) {
        struct tms_velodrome_reader *reader = &readers->reader[*link];
        if (reader->thread == thread || !step_lives(graph, &reader->step)) {
            drop(readers, link);
        } else {
            link = &reader->next;
        }
    }
    if (step.node == NO_NODE) {
        return true;
    }
    uint32_t number = take(graph->memory, readers);
    if (number == 0) {
        return false;
    }
    assert(number != cell->readers && step_lives(graph, &step));
    readers->reader[number] = (struct tms_velodrome_reader){step, thread, cell->readers};
    cell->readers = number;
    return true;
}
