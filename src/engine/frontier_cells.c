/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the frontier engine knows of each variable, lock and barrier: 16 bytes, and apart from
 * them, so that the checks do not drag them through the cache, what a report will want to say.
 * Only a cell that several threads read between two writes has more, from a pool of sets.
 */
#include "engine/frontier.h"

#define CELLS_LEAST   256
#define SETS_LEAST    64
#define READERS_LEAST 4

bool tms_cells_grow(struct frontier *f, struct cells *cells, uint32_t id)
{
    size_t capacity = tms_capacity(cells->capacity, (size_t)id + 1, CELLS_LEAST);
    struct cell *cell =
        tms_resize(f->memory, cells->cell, cells->capacity, capacity, sizeof(*cell));

    if (cell == NULL) {
        return false;
    }
    cells->cell = cell;
    struct sites *site =
        tms_resize(f->memory, cells->site, cells->capacity, capacity, sizeof(*site));
    if (site == NULL) {
        /* Undo the bill: the larger block stays, and is released by its old size. */
        f->memory->bytes -= (capacity - cells->capacity) * sizeof(*cell);
        return false;
    }
    cells->site = site;
    cells->capacity = capacity;
    return true;
}

void tms_cells_clear(struct frontier *f, struct cells *cells)
{
    tms_release(f->memory, cells->cell, cells->capacity, sizeof(*cells->cell));
    tms_release(f->memory, cells->site, cells->capacity, sizeof(*cells->site));
    *cells = (struct cells){0};
}

static uint32_t take_set(struct frontier *f)
{
    struct reader_sets *sets = &f->sets;
    uint32_t number = sets->free;

    if (number != 0) {
        sets->free = sets->set[number].next_free;
        return number;
    }
    bool room =
        TMS_RESERVE(f->memory, &sets->set, &sets->capacity, (size_t)sets->count + 1, SETS_LEAST);

    return room ? sets->count++ : 0;
}

static bool grow_readers(struct frontier *f, struct readers *readers)
{
    uint32_t capacity = readers->capacity == 0 ? READERS_LEAST : readers->capacity * 2;
    uint64_t *moment = tms_resize(f->memory, NULL, 0, capacity, sizeof(*moment));
    struct site *site = tms_resize(f->memory, NULL, 0, capacity, sizeof(*site));

    if (moment == NULL || site == NULL) {
        tms_release(f->memory, moment, capacity, sizeof(*moment));
        tms_release(f->memory, site, capacity, sizeof(*site));
        return false;
    }
    for (uint32_t i = 0; i < readers->count; i++) {
        moment[i] = readers->moment[i];
        site[i] = readers->site[i];
    }
    tms_release(f->memory, readers->moment, readers->capacity, sizeof(*moment));
    tms_release(f->memory, readers->site, readers->capacity, sizeof(*site));
    readers->moment = moment;
    readers->site = site;
    readers->capacity = capacity;
    return true;
}

static bool set_reader(struct frontier *f, struct readers *readers, uint64_t moment,
                       const struct site *site)
{
    uint32_t i = 0;

    while (i < readers->count && moment_slot(readers->moment[i]) != moment_slot(moment)) {
        i++;
    }
    if (i == readers->capacity && !grow_readers(f, readers)) {
        return false;
    }
    readers->moment[i] = moment;
    readers->site[i] = *site;
    readers->count += i == readers->count;
    return true;
}

bool tms_cell_add_reader(struct frontier *f, struct cell *cell, struct sites *sites,
                         uint64_t moment, const struct site *site)
{
    if (cell->read == 0 || moment_slot(cell->read) == moment_slot(moment)) {
        cell->read = moment;
        sites->read = *site;
        return true;
    }
    if (moment_slot(cell->read) == SLOT_SEVERAL) {
        return set_reader(f, cell_readers(f, cell), moment, site);
    }
    uint32_t number = take_set(f);
    if (number == 0) {
        return false;
    }
    struct readers *readers = &f->sets.set[number];
    uint64_t first = cell->read;
    cell->read = (uint64_t)SLOT_SEVERAL << MOMENT_BITS | number;
    return set_reader(f, readers, first, &sites->read) && set_reader(f, readers, moment, site);
}

void tms_cell_drop_readers(struct frontier *f, struct cell *cell)
{
    if (moment_slot(cell->read) == SLOT_SEVERAL) {
        uint32_t number = (uint32_t)moment_event(cell->read);
        f->sets.set[number].count = 0;
        f->sets.set[number].next_free = f->sets.free;
        f->sets.free = number;
    }
    cell->read = 0;
}

void tms_reader_sets_clear(struct frontier *f)
{
    for (uint32_t i = 1; i < f->sets.count; i++) {
        struct readers *readers = &f->sets.set[i];
        tms_release(f->memory, readers->moment, readers->capacity, sizeof(*readers->moment));
        tms_release(f->memory, readers->site, readers->capacity, sizeof(*readers->site));
    }
    tms_release(f->memory, f->sets.set, f->sets.capacity, sizeof(*f->sets.set));
    f->sets = (struct reader_sets){0};
}
