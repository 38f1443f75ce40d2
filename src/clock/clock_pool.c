/* SPDX-License-Identifier: Apache-2.0 */
/* Numbered vector clocks; see clock_pool.h. A free clock names the next free one in its first word.
 */
#include "clock/clock_pool.h"

#include <assert.h>
#include <string.h>

#define LEAST_ROWS  16
#define LEAST_WIDTH 8

void tms_grid_clear(struct tms_memory *memory, struct tms_grid *grid)
{
    tms_release(memory, grid->word, grid->rows * grid->width, sizeof(*grid->word));
    *grid = (struct tms_grid){0};
}

bool tms_grid_reserve(struct tms_memory *memory, struct tms_grid *grid, size_t rows, size_t width)
{
    struct tms_grid grown = {.rows = grid->rows, .width = grid->width};

    if (rows <= grid->rows && width <= grid->width) {
        return true;
    }
    grown.rows = tms_capacity(grid->rows, rows, LEAST_ROWS);
    grown.width = tms_capacity(grid->width, width, 1);
    grown.word = tms_resize(memory, NULL, 0, grown.rows * grown.width, sizeof(*grown.word));
    if (grown.word == NULL) {
        return false;
    }
    for (size_t row = 0; row < grid->rows; row++) {
        memcpy(tms_grid_row(&grown, row), tms_grid_row(grid, row),
               grid->width * sizeof(*grown.word));
    }
    tms_grid_clear(memory, grid);
    *grid = grown;
    return true;
}

void tms_clocks_init(struct tms_clocks *clocks, struct tms_memory *memory)
{
    *clocks = (struct tms_clocks){.memory = memory, .count = 1};
}

void tms_clocks_clear(struct tms_clocks *clocks)
{
    tms_grid_clear(clocks->memory, &clocks->grid);
}

bool tms_clocks_widen(struct tms_clocks *clocks, size_t width)
{
    return tms_grid_reserve(clocks->memory, &clocks->grid, clocks->grid.rows,
                            width < LEAST_WIDTH ? LEAST_WIDTH : width);
}

uint32_t tms_clocks_make(struct tms_clocks *clocks)
{
    uint32_t clock = clocks->free;

    if (clock != 0) {
        uint64_t *first = tms_clocks_at(clocks, clock);
        clocks->free = (uint32_t)*first;
        *first = 0; /* the rest was cleared when it was given back */
        return clock;
    }
    if (!tms_grid_reserve(clocks->memory, &clocks->grid, clocks->count + 1u, LEAST_WIDTH)) {
        return 0;
    }
    return clocks->count++;
}

void tms_clocks_drop(struct tms_clocks *clocks, uint32_t clock)
{
    if (clock == 0) {
        return;
    }
    assert(clock < clocks->count);
    uint64_t *first = tms_clocks_at(clocks, clock);
    memset(first, 0, clocks->grid.width * sizeof(*first));
    *first = clocks->free;
    clocks->free = clock;
}
