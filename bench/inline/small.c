/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worst case of --tmesis-inline=none in C: a hash map and a heap sort whose inner loops call
 * functions of one or two lines, most of them marked inline.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SLOTS  (1u << 18)
#define KEYS   100000u
#define ROUNDS 3000000u
#define ITEMS  1000000u

struct map {
    uint32_t key[SLOTS], value[SLOTS];
};

static inline uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static uint32_t slot_of(const struct map *map, uint32_t key)
{
    uint32_t slot = hash(key) % SLOTS;

    while (map->key[slot] != 0 && map->key[slot] != key) {
        slot = (slot + 1) % SLOTS;
    }
    return slot;
}

static inline void add(struct map *map, uint32_t key, uint32_t value)
{
    uint32_t slot = slot_of(map, key);

    map->key[slot] = key;
    map->value[slot] += value;
}

static inline uint32_t get(const struct map *map, uint32_t key)
{
    return map->value[slot_of(map, key)];
}

static inline void swap(uint32_t *a, uint32_t *b)
{
    uint32_t old = *a;

    *a = *b;
    *b = old;
}

static inline int less(const uint32_t *a, const uint32_t *b)
{
    return *a < *b;
}

static void sift(uint32_t *heap, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && less(heap + child, heap + child + 1)) {
            child++;
        }
        if (!less(heap + at, heap + child)) {
            break;
        }
        swap(heap + at, heap + child);
    }
}

static void sort(uint32_t *heap, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) {
        sift(heap, i, count);
    }
    while (count > 1) {
        count--;
        swap(heap, heap + count);
        sift(heap, 0, count);
    }
}

int main(void)
{
    struct map *map = calloc(1, sizeof(*map));
    uint32_t *items = malloc(ITEMS * sizeof(*items)), sum = 0;

    if (map == NULL || items == NULL) {
        return 1;
    }
    for (uint32_t i = 0; i < ROUNDS; i++) {
        add(map, hash(i) % KEYS + 1, i);
        sum += get(map, hash(7 * i) % KEYS + 1);
    }
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i] = hash(i);
    }
    sort(items, ITEMS);
    printf("%u %u\n", sum, items[ITEMS / 2]);
    free(items);
    free(map);
    return 0;
}
