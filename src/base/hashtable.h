/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash table over numbered rows: open addressing, linear probing.
 *
 * Representation: the rows are the caller's, an array as a rule, and are numbered from 1. A slot
 * has the number of a row and 32 bits of the hash of its key. So a row is looked at only where the
 * hash matches, and growing looks at no row. A slot whose number is not above `floor` is free:
 * raising the floor empties the table without touching a slot, which makes it cheap to use one per
 * transaction.
 *
 * Invariants: `size` is 0 or a power of two; at most half of the slots are in use, so every search
 * ends at a free one. No two rows have equal keys: callers search before they add. Rows are not
 * removed one by one; tables that need that are hand-written where they are used.
 *
 * Cost: 8 bytes for each of 2 to 4 slots per row. A search looks at 1.5 slots on average for a key
 * that is there and at 2.5 for one that is not, and at one row. Not thread-safe.
 *
 * A second form, tms_hash_slot_of, serves arrays of fixed size whose elements begin with a 64-bit
 * key. It allocates nothing.
 */
#ifndef TMS_BASE_HASHTABLE_H
#define TMS_BASE_HASHTABLE_H

#include <assert.h>

#include "base/hash_mix.h"
#include "base/memory.h"

struct tms_hash_slot {
    uint32_t hash;
    uint32_t number; /* of the row, plus the floor at that time */
};

/* All zero is empty. */
struct tms_hashtable {
    struct tms_hash_slot *slots;
    size_t size, count;
    uint32_t floor, top; /* numbers in use are above the floor, and none is above the top */
};

/* Where a search is; made by tms_hash_first. */
struct tms_hash_walk {
    const struct tms_hashtable *table;
    size_t at;
    uint32_t hash;
};

/*
 * Adds a row that is not in the table, under the hash of its key. `memory` is the same for all
 * calls. False: out of memory, or the number is above 2^31; nothing has changed.
 */
bool tms_hashtable_add(struct tms_hashtable *table, struct tms_memory *memory, uint64_t hash,
                       uint32_t row);

/* Removes all rows and keeps the memory. Constant time, but once in two billion rows. */
void tms_hashtable_empty(struct tms_hashtable *table);

/* Gives the memory back; the table is empty. */
void tms_hashtable_clear(struct tms_hashtable *table, struct tms_memory *memory);

/* The row in a slot, from 0 to size - 1, for visiting all of them; 0: the slot is free. */
static inline uint32_t tms_hashtable_row_at(const struct tms_hashtable *table, size_t slot)
{
    uint32_t number = table->slots[slot].number;

    return number > table->floor ? number - table->floor : 0;
}

/* The next row whose key has the hash, for the caller to compare; 0: there is no further one. */
static inline uint32_t tms_hash_next(struct tms_hash_walk *walk)
{
    const struct tms_hashtable *table = walk->table;
    uint32_t row;

    do {
        row = tms_hashtable_row_at(table, walk->at);
        uint32_t hash = table->slots[walk->at].hash;
        walk->at = (walk->at + 1) & (table->size - 1);
        if (hash == walk->hash) {
            break;
        }
    } while (row != 0);
    return row;
}

/* The first such row, 0: there is none. */
static inline uint32_t tms_hash_first(const struct tms_hashtable *table, uint64_t hash,
                                      struct tms_hash_walk *walk)
{
    uint32_t upper = (uint32_t)(hash >> 32);

    if (table->count == 0) {
        return 0;
    }
    *walk = (struct tms_hash_walk){table, upper & (table->size - 1), upper};
    return tms_hash_next(walk);
}

/*
 * The slot of a key in an array of `count` elements of `size` bytes, or the free one where it
 * belongs. `count` is a power of two, and at least one element is free: each element begins with
 * its key, a uint64_t, which is 0 where it is free.
 */
static inline void *tms_hash_slot_of(void *slots, size_t count, size_t size, uint64_t key)
{
    size_t at = tms_hash(key) >> 32 & (count - 1);

    assert((count & (count - 1)) == 0);
    for (;; at = (at + 1) & (count - 1)) {
        uint64_t *slot = (uint64_t *)((char *)slots + at * size);
        if (*slot == 0 || *slot == key) {
            return slot;
        }
    }
}
#define TMS_HASH_SLOT_OF(slots, count, key) tms_hash_slot_of(slots, count, sizeof(*(slots)), key)

#endif
