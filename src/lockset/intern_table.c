/* SPDX-License-Identifier: Apache-2.0 */
/* Interned rows; see intern_table.h. */
#include "lockset/intern_table.h"

#include <assert.h>
#include <string.h>
#define XXH_INLINE_ALL /* keys are short: the call would cost as much as the hash */
#include <xxhash.h>

#define ROWS_LEAST 64

void tms_intern_table_init(struct tms_intern_table *rows, struct tms_memory *memory,
                           size_t row_size, size_t key_size)
{
    assert(key_size > 0 && key_size <= row_size);
    *rows = (struct tms_intern_table){.memory = memory, .row_size = row_size, .key_size = key_size};
}

void tms_intern_table_clear(struct tms_intern_table *rows)
{
    if (rows->memory != NULL) {
        tms_release(rows->memory, rows->row, rows->capacity, rows->row_size);
        tms_hashtable_clear(&rows->index, rows->memory);
    }
    *rows = (struct tms_intern_table){0};
}

void tms_intern_table_empty(struct tms_intern_table *rows)
{
    if (rows->count > 0) {
        memset(rows->row, 0, rows->count * rows->row_size);
        tms_hashtable_empty(&rows->index);
        rows->count = 0;
    }
}

static uint64_t hash_of(const struct tms_intern_table *rows, const void *key)
{
    return XXH3_64bits(key, rows->key_size);
}

static uint32_t find(const struct tms_intern_table *rows, const void *key, uint64_t hash)
{
    struct tms_hash_walk walk;
    uint32_t row = tms_hash_first(&rows->index, hash, &walk);

    assert(rows->count == rows->index.count);
    while (row != 0 && memcmp(tms_intern_table_row(rows, row), key, rows->key_size) != 0) {
        row = tms_hash_next(&walk);
    }
    return row;
}

/* Room for one more row. */
static bool make_room(struct tms_intern_table *rows)
{
    size_t wanted = rows->count + 1;

    return wanted < UINT32_MAX &&
           (wanted <= rows->capacity || tms_reserve(rows->memory, &rows->row, &rows->capacity,
                                                    wanted, ROWS_LEAST, rows->row_size));
}

uint32_t tms_intern_table_add(struct tms_intern_table *rows, const void *key, bool *is_new)
{
    uint64_t hash = hash_of(rows, key);
    uint32_t row = find(rows, key, hash);

    *is_new = row == 0;
    if (row == 0) {
        row = (uint32_t)rows->count + 1;
        if (!make_room(rows) || !tms_hashtable_add(&rows->index, rows->memory, hash, row)) {
            *is_new = false;
            return 0;
        }
        rows->count++;
        memcpy(tms_intern_table_row(rows, row), key, rows->key_size);
    }
    assert(row > 0 && row <= rows->count && rows->count <= rows->capacity);
    return row;
}

uint32_t tms_intern_table_find(const struct tms_intern_table *rows, const void *key)
{
    return find(rows, key, hash_of(rows, key));
}
