/* SPDX-License-Identifier: Apache-2.0 */
/* Modifies hash tables; see hashtable.h. */
#include "base/hashtable.h"

#include <string.h>

#define SLOTS_LEAST  16
#define NUMBERS_MOST (UINT32_MAX / 2) /* beyond it, emptying starts again at 0 */

/* The free slot where a hash belongs. */
static struct tms_hash_slot *free_slot(const struct tms_hashtable *table, uint32_t hash)
{
    size_t at = hash & (table->size - 1);

    while (table->slots[at].number > table->floor) {
        at = (at + 1) & (table->size - 1);
    }
    return &table->slots[at];
}

static bool grow(struct tms_hashtable *table, struct tms_memory *memory)
{
    struct tms_hashtable larger = *table;

    larger.size = table->size == 0 ? SLOTS_LEAST : 2 * table->size;
    larger.slots = tms_table(memory, larger.size, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (table->slots[i].number > table->floor) {
            *free_slot(&larger, table->slots[i].hash) = table->slots[i];
        }
    }
    tms_release(memory, table->slots, table->size, sizeof(*table->slots));
    *table = larger;
    return true;
}

bool tms_hashtable_add(struct tms_hashtable *table, struct tms_memory *memory, uint64_t hash,
                       uint32_t row)
{
    uint32_t upper = (uint32_t)(hash >> 32);

    assert(row != 0);
    if (row > UINT32_MAX - table->floor ||
        (2 * (table->count + 1) > table->size && !grow(table, memory))) {
        return false;
    }
    assert((table->size & (table->size - 1)) == 0 && table->floor <= table->top);
    uint32_t number = table->floor + row;
    *free_slot(table, upper) = (struct tms_hash_slot){upper, number};
    table->top = number > table->top ? number : table->top;
    table->count++;
    return true;
}

void tms_hashtable_empty(struct tms_hashtable *table)
{
    table->count = 0;
    table->floor = table->top;
    if (table->floor > NUMBERS_MOST) {
        memset(table->slots, 0, table->size * sizeof(*table->slots));
        table->floor = table->top = 0;
    }
}

void tms_hashtable_clear(struct tms_hashtable *table, struct tms_memory *memory)
{
    tms_release(memory, table->slots, table->size, sizeof(*table->slots));
    *table = (struct tms_hashtable){0};
}
