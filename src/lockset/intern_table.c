/* SPDX-License-Identifier: Apache-2.0 */
/* Interned rows; see intern_table.h. */
#include "lockset/intern_table.h"

#include <assert.h>
#include <string.h>
#define XXH_INLINE_ALL /* keys are short: the call would cost as much as the hash */
#include <xxhash.h>

#define ROWS_LEAST  64
#define INDEX_LEAST 256

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
        tms_release(rows->memory, rows->index, rows->index_size, sizeof(*rows->index));
    }
    *rows = (struct tms_intern_table){0};
}

void tms_intern_table_empty(struct tms_intern_table *rows)
{
    if (rows->count > 0) {
        memset(rows->row, 0, rows->count * rows->row_size);
        memset(rows->index, 0, rows->index_size * sizeof(*rows->index));
        rows->count = 0;
    }
}

static uint32_t hash_of(const struct tms_intern_table *rows, const void *key)
{
    return (uint32_t)(XXH3_64bits(key, rows->key_size) >> 32);
}

/* Where the key is, or belongs, in the index. */
static struct tms_intern_table_place *place_of(const struct tms_intern_table *rows, const void *key,
                                               uint32_t hash)
{
    size_t mask = rows->index_size - 1;
    size_t at = hash & mask;

    assert((rows->index_size & mask) == 0 && rows->count < rows->index_size);
    while (rows->index[at].row != 0 &&
           (rows->index[at].hash != hash ||
            memcmp(tms_intern_table_row(rows, rows->index[at].row), key, rows->key_size) != 0)) {
        at = (at + 1) & mask;
    }
    return &rows->index[at];
}

static bool grow_index(struct tms_intern_table *rows)
{
    size_t size = rows->index_size > 0 ? rows->index_size * 2 : INDEX_LEAST;
    struct tms_intern_table_place *index = tms_table(rows->memory, size, sizeof(*index));

    if (index == NULL) {
        return false;
    }
    for (size_t i = 0; i < rows->index_size; i++) {
        if (rows->index[i].row != 0) {
            size_t at = rows->index[i].hash & (size - 1);
            while (index[at].row != 0) {
                at = (at + 1) & (size - 1);
            }
            index[at] = rows->index[i];
        }
    }
    assert(rows->count < size);
    tms_release(rows->memory, rows->index, rows->index_size, sizeof(*index));
    rows->index = index;
    rows->index_size = size;
    return true;
}

/* Room for one more row and for its place in the index. */
static bool make_room(struct tms_intern_table *rows)
{
    size_t wanted = (rows->count > 0 ? rows->count : 1) + 1;

    if (wanted >= UINT32_MAX ||
        (wanted > rows->capacity && !tms_reserve(rows->memory, &rows->row, &rows->capacity, wanted,
                                                 ROWS_LEAST, rows->row_size))) {
        return false;
    }
    return wanted * 2 <= rows->index_size || grow_index(rows);
}

uint32_t tms_intern_table_add(struct tms_intern_table *rows, const void *key, bool *is_new)
{
    *is_new = false;
    if (!make_room(rows)) {
        return 0;
    }
    assert(rows->count < rows->capacity && rows->count * 2 <= rows->index_size);
    uint32_t hash = hash_of(rows, key);
    struct tms_intern_table_place *place = place_of(rows, key, hash);
    if (place->row == 0) {
        rows->count += rows->count == 0; /* the row that is not used */
        *place = (struct tms_intern_table_place){hash, (uint32_t)rows->count++};
        *is_new = true;
        memcpy(tms_intern_table_row(rows, place->row), key, rows->key_size);
    }
    assert(place->row > 0 && place->row < rows->count);
    return place->row;
}

uint32_t tms_intern_table_find(const struct tms_intern_table *rows, const void *key)
{
    return rows->index_size > 0 ? place_of(rows, key, hash_of(rows, key))->row : 0;
}
