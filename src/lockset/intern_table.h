/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that are kept once: a growing array of elements of one size, each of which begins with a
 * key of plain bytes, and a hash index that finds the row of a key. For engines that intern what
 * they see.
 *
 * Representation: a hash table (base/hashtable.h) finds the number of a row by its key.
 *
 * Rows are numbered from 1 in the order in which they came; 0 is no row. They move when the array
 * grows, so keep numbers, not pointers. Keys are compared as bytes: leave no padding in them.
 */
#ifndef TMS_LOCKSET_INTERN_TABLE_H
#define TMS_LOCKSET_INTERN_TABLE_H

#include <assert.h>

#include "base/hashtable.h"

struct tms_intern_table {
    struct tms_memory *memory;
    char *row; /* number 1 first */
    size_t row_size, key_size;
    size_t count, capacity;
    struct tms_hashtable index;
};

/* Takes no memory yet. All zero is cleared. */
void tms_intern_table_init(struct tms_intern_table *rows, struct tms_memory *memory,
                           size_t row_size, size_t key_size);
void tms_intern_table_clear(struct tms_intern_table *rows);

/* Forgets all rows, and keeps the memory for others. */
void tms_intern_table_empty(struct tms_intern_table *rows);

/* The row of a key, 0 when memory is short. A new row is zero after its key, and *is_new is set. */
uint32_t tms_intern_table_add(struct tms_intern_table *rows, const void *key, bool *is_new);

/* The row of a key, 0 if there is none. */
uint32_t tms_intern_table_find(const struct tms_intern_table *rows, const void *key);

static inline void *tms_intern_table_row(const struct tms_intern_table *rows, uint32_t number)
{
    assert(number > 0 && number <= rows->count);
    return rows->row + (size_t)(number - 1) * rows->row_size;
}

/* How many there are. */
static inline size_t tms_intern_table_count(const struct tms_intern_table *rows)
{
    return rows->count;
}

#endif
