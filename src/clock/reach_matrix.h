/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reachability matrix of the frontier engine.
 *
 * A row belongs to a running transaction, a column to a thread. The entry is the earliest moment
 * (event number) of that thread which the transaction reaches, TMS_NEVER if it reaches none; with
 * it is stored the edge by which it was reached, for witnesses.
 *
 * Representation: column by column, so that "which rows reach column c up to moment m?" is a scan
 * of adjacent words; each row has the list of its finite columns, so that opening, closing and
 * merging rows costs what they reach, not the number of threads. `least` is a lower bound of each
 * column: that one word answers most queries with "none".
 *
 * Invariants: closed rows hold TMS_NEVER everywhere; an entry is finite iff its column is in the
 * row's list; an entry with an edge holds one reference to it.
 *
 * Size: 16 bytes per row and column. Expected: up to a few hundred of each; thousands of both take
 * gigabytes, and TMS_REACH_MOST is the limit.
 */
#ifndef TMS_CLOCK_REACH_MATRIX_H
#define TMS_CLOCK_REACH_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

#define TMS_NEVER UINT64_MAX

struct tms_edges;

struct tms_reach {
    struct tms_memory *memory;
    struct tms_edges *edges; /* whose references the entries hold */
    uint64_t *value;         /* [column * row_capacity + row] */
    uint32_t *edge;          /* same; 0: none */
    uint64_t *least;         /* [column] */
    uint32_t *list;          /* [row * column_capacity + i] */
    uint32_t *listed;        /* [row] */
    uint32_t row_capacity, column_capacity;
};

void tms_reach_init(struct tms_reach *reach, struct tms_memory *memory, struct tms_edges *edges);
void tms_reach_clear(struct tms_reach *reach);

/*
 * Makes room for so many rows and columns. TMS_ERR_MEMORY when memory is short, TMS_ERR_LIMIT
 * when it would take more than TMS_REACH_MOST entries: better no answer than no machine.
 */
#define TMS_REACH_MOST (UINT64_C(1) << 27)
int tms_reach_grow(struct tms_reach *reach, uint32_t rows, uint32_t columns);

static inline uint64_t tms_reach_at(const struct tms_reach *reach, uint32_t row, uint32_t column)
{
    return reach->value[(size_t)column * reach->row_capacity + row];
}

static inline uint32_t tms_reach_edge(const struct tms_reach *reach, uint32_t row, uint32_t column)
{
    return reach->edge[(size_t)column * reach->row_capacity + row];
}

/* Starts a row: it reaches its own column from `moment` on. The row is closed before. */
void tms_reach_open(struct tms_reach *reach, uint32_t row, uint32_t column, uint64_t moment);
void tms_reach_close(struct tms_reach *reach, uint32_t row);

/* The row reaches `column` from `moment` on, by `edge`; nothing if it already did. */
void tms_reach_lower(struct tms_reach *reach, uint32_t row, uint32_t column, uint64_t moment,
                     uint32_t edge);

/* Can any row reach the column at `moment` or before? May say yes when none does. */
static inline bool tms_reach_maybe(const struct tms_reach *reach, uint32_t column, uint64_t moment)
{
    return reach->least[column] <= moment;
}

/* Does any? If none does, the lower bound is tightened. */
bool tms_reach_any(struct tms_reach *reach, uint32_t column, uint64_t moment);

/*
 * Which rows of the group that begins with `first` do? As bits, the first row's the lowest.
 * Branch-free, because the answers are unpredictable. Groups begin at multiples of their size.
 */
#define TMS_REACH_GROUP 8u
static inline unsigned tms_reach_group(const struct tms_reach *reach, uint32_t column,
                                       uint64_t moment, uint32_t first)
{
    const uint64_t *values = &reach->value[(size_t)column * reach->row_capacity + first];
    unsigned others = 0;

    for (unsigned i = TMS_REACH_GROUP; i-- > 0;) {
        others = 2 * others + (moment < values[i]);
    }
    return ~others & ((1u << TMS_REACH_GROUP) - 1);
}

/* No row reaches the column at all. */
bool tms_reach_unreached(struct tms_reach *reach, uint32_t column);

#endif
