/* SPDX-License-Identifier: Apache-2.0 */
/* The reachability matrix; reach_matrix.h has the representation. */
#include "clock/reach_matrix.h"

#include <assert.h>

#include "clock/edge_pool.h"

#define LEAST_SIDE TMS_REACH_GROUP

void tms_reach_init(struct tms_reach *reach, struct tms_memory *memory, struct tms_edges *edges)
{
    *reach = (struct tms_reach){.memory = memory, .edges = edges};
}

static void drop_arrays(struct tms_reach *reach)
{
    size_t cells = (size_t)reach->row_capacity * reach->column_capacity;

    tms_release(reach->memory, reach->value, cells, sizeof(*reach->value));
    tms_release(reach->memory, reach->edge, cells, sizeof(*reach->edge));
    tms_release(reach->memory, reach->list, cells, sizeof(*reach->list));
    tms_release(reach->memory, reach->listed, reach->row_capacity, sizeof(*reach->listed));
}

void tms_reach_clear(struct tms_reach *reach)
{
    if (reach->memory != NULL) {
        drop_arrays(reach);
        tms_release(reach->memory, reach->least, reach->column_capacity, sizeof(*reach->least));
    }
    *reach = (struct tms_reach){0};
}

static bool allocate(struct tms_reach *reach)
{
    size_t cells = (size_t)reach->row_capacity * reach->column_capacity;

    reach->value = tms_resize(reach->memory, NULL, 0, cells, sizeof(*reach->value));
    reach->edge = tms_resize(reach->memory, NULL, 0, cells, sizeof(*reach->edge));
    reach->list = tms_resize(reach->memory, NULL, 0, cells, sizeof(*reach->list));
    reach->listed = tms_resize(reach->memory, NULL, 0, reach->row_capacity, sizeof(*reach->listed));
    return reach->value != NULL && reach->edge != NULL && reach->list != NULL &&
           reach->listed != NULL;
}

/* Stays where it is unless there are more columns: others may be looking at it. */
static bool grow_least(struct tms_reach *grown, const struct tms_reach *reach)
{
    if (grown->column_capacity == reach->column_capacity) {
        return true;
    }
    uint64_t *least =
        tms_resize(grown->memory, NULL, 0, grown->column_capacity, sizeof(*grown->least));
    if (least == NULL) {
        return false;
    }
    for (uint32_t column = 0; column < grown->column_capacity; column++) {
        least[column] = column < reach->column_capacity ? reach->least[column] : TMS_NEVER;
    }
    tms_release(grown->memory, reach->least, reach->column_capacity, sizeof(*reach->least));
    grown->least = least;
    return true;
}

static void copy_entries(struct tms_reach *to, const struct tms_reach *from)
{
    for (size_t i = 0; i < (size_t)to->row_capacity * to->column_capacity; i++) {
        to->value[i] = TMS_NEVER;
    }
    for (uint32_t row = 0; row < from->row_capacity; row++) {
        to->listed[row] = from->listed[row];
        for (uint32_t i = 0; i < from->listed[row]; i++) {
            uint32_t column = from->list[(size_t)row * from->column_capacity + i];
            size_t cell = (size_t)column * to->row_capacity + row;
            to->list[(size_t)row * to->column_capacity + i] = column;
            to->value[cell] = tms_reach_at(from, row, column);
            to->edge[cell] = tms_reach_edge(from, row, column);
        }
    }
}

int tms_reach_grow(struct tms_reach *reach, uint32_t rows, uint32_t columns)
{
    if (rows <= reach->row_capacity && columns <= reach->column_capacity) {
        return TMS_OK;
    }
    struct tms_reach grown = *reach;
    grown.row_capacity = (uint32_t)tms_capacity(reach->row_capacity, rows, LEAST_SIDE);
    grown.column_capacity = (uint32_t)tms_capacity(reach->column_capacity, columns, LEAST_SIDE);
    if ((uint64_t)grown.row_capacity * grown.column_capacity > TMS_REACH_MOST) {
        return TMS_ERR_LIMIT;
    }
    if (!allocate(&grown) || !grow_least(&grown, reach)) {
        drop_arrays(&grown);
        return TMS_ERR_MEMORY;
    }
    copy_entries(&grown, reach);
    drop_arrays(reach);
    *reach = grown;
    return TMS_OK;
}

void tms_reach_open(struct tms_reach *reach, uint32_t row, uint32_t column, uint64_t moment)
{
    size_t cell = (size_t)column * reach->row_capacity + row;

    assert(reach->listed[row] == 0 && reach->value[cell] == TMS_NEVER && reach->edge[cell] == 0);
    reach->list[(size_t)row * reach->column_capacity] = column;
    reach->listed[row] = 1;
    reach->value[cell] = moment;
    reach->least[column] = moment < reach->least[column] ? moment : reach->least[column];
}

void tms_reach_close(struct tms_reach *reach, uint32_t row)
{
    const uint32_t *list = &reach->list[(size_t)row * reach->column_capacity];

    for (uint32_t i = 0; i < reach->listed[row]; i++) {
        size_t cell = (size_t)list[i] * reach->row_capacity + row;
        reach->value[cell] = TMS_NEVER;
        tms_edges_drop(reach->edges, reach->edge[cell]);
        reach->edge[cell] = 0;
    }
    reach->listed[row] = 0;
}

void tms_reach_lower(struct tms_reach *reach, uint32_t row, uint32_t column, uint64_t moment,
                     uint32_t edge)
{
    size_t cell = (size_t)column * reach->row_capacity + row;

    assert(row < reach->row_capacity && column < reach->column_capacity);
    if (moment >= reach->value[cell]) {
        return;
    }
    if (reach->value[cell] == TMS_NEVER) {
        reach->list[(size_t)row * reach->column_capacity + reach->listed[row]++] = column;
    }
    reach->value[cell] = moment;
    tms_edges_keep(reach->edges, edge);
    tms_edges_drop(reach->edges, reach->edge[cell]);
    reach->edge[cell] = edge;
    if (moment < reach->least[column]) {
        reach->least[column] = moment;
    }
}

static uint64_t column_least(const struct tms_reach *reach, uint32_t column)
{
    const uint64_t *values = &reach->value[(size_t)column * reach->row_capacity];
    uint64_t least = TMS_NEVER;

    for (const uint64_t *end = values + reach->row_capacity; values < end;
         values += TMS_REACH_GROUP) {
        for (unsigned i = 0; i < TMS_REACH_GROUP; i++) {
            least = values[i] < least ? values[i] : least;
        }
    }
    return least;
}

bool tms_reach_any(struct tms_reach *reach, uint32_t column, uint64_t moment)
{
    if (reach->least[column] > moment) {
        return false;
    }
    uint64_t least = column_least(reach, column);
    if (least <= moment) {
        return true;
    }
    reach->least[column] = least;
    return false;
}

bool tms_reach_unreached(struct tms_reach *reach, uint32_t column)
{
    if (reach->least[column] != TMS_NEVER) {
        reach->least[column] = column_least(reach, column);
    }
    return reach->least[column] == TMS_NEVER;
}
