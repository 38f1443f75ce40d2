/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of vector clocks of equal width: a clock is a number, its components are adjacent in one
 * array, and freed ones are reused. For engines that may need as many clocks as the trace has
 * variables, but mostly do not.
 *
 * Number 0 means no clock. Making a clock or widening may move them all: pointers to components do
 * not outlive either.
 */
#ifndef TMS_CLOCK_CLOCK_POOL_H
#define TMS_CLOCK_CLOCK_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* Rows of words, all of one width, in one array. New words are zero. */
struct tms_grid {
    uint64_t *word; /* [row * width + column] */
    size_t rows, width;
};

/* Grows by doubling to hold so many rows and columns. False when memory is short. */
bool tms_grid_reserve(struct tms_memory *memory, struct tms_grid *grid, size_t rows, size_t width);
void tms_grid_clear(struct tms_memory *memory, struct tms_grid *grid);

static inline uint64_t *tms_grid_row(const struct tms_grid *grid, size_t row)
{
    return &grid->word[row * grid->width];
}

struct tms_clocks {
    struct tms_memory *memory;
    struct tms_grid grid; /* a row per clock, a column per thread slot */
    uint32_t count;       /* of rows in use or free; row 0 is no clock */
    uint32_t free;        /* the last clock given back, or 0 */
};

void tms_clocks_init(struct tms_clocks *clocks, struct tms_memory *memory);
void tms_clocks_clear(struct tms_clocks *clocks);

/* Sees to it that clocks have so many components. False when memory is short. */
bool tms_clocks_widen(struct tms_clocks *clocks, size_t width);

/* A new clock, all zero, or 0 when memory is short. */
uint32_t tms_clocks_make(struct tms_clocks *clocks);

/* Gives a clock back; 0 is fine. */
void tms_clocks_drop(struct tms_clocks *clocks, uint32_t clock);

static inline uint64_t *tms_clocks_at(const struct tms_clocks *clocks, uint32_t clock)
{
    return tms_grid_row(&clocks->grid, clock);
}

/* into := into ⊔ other */
static inline void tms_clocks_join(const struct tms_clocks *clocks, uint32_t into, uint32_t other)
{
    uint64_t *a = tms_clocks_at(clocks, into);
    const uint64_t *b = tms_clocks_at(clocks, other);

    for (size_t i = 0; i < clocks->grid.width; i++) {
        a[i] = a[i] > b[i] ? a[i] : b[i];
    }
}

#endif
