/* SPDX-License-Identifier: Apache-2.0 */
/* Words cut into variables, and what lies in renewed memory; see places.h. */
#include "spool/places.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define WORD 8u

static uint64_t key_of(uint64_t address, unsigned what)
{
    return address * WORD + what;
}

/* The words of a cache line stay together: what is used together is looked up together. */
static size_t hash(uint64_t key, size_t size)
{
    uint64_t word = key / (WORD * WORD), line = word / WORD;

    return (size_t)((line * UINT64_C(0x9e3779b97f4a7c15) >> 20) * WORD + word % WORD) & (size - 1);
}

void tms_places_free(struct tms_places *places)
{
    free(places->places);
    free(places->table);
    free(places->pieces);
    free(places->users);
    free(places->blocks);
    *places = (struct tms_places){0};
}

/* ---- the table -------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct tms_places *places, uint64_t key)
{
    size_t at = hash(key, places->table_size);

    while (places->table[at] != 0 && places->places[places->table[at] - 1].key != key) {
        at = (at + 1) & (places->table_size - 1);
    }
    return &places->table[at];
}

static void fill_table(struct tms_places *places)
{
    memset(places->table, 0, places->table_size * sizeof(*places->table));
    for (size_t i = 0; i < places->count; i++) {
        *slot_of(places, places->places[i].key) = (uint32_t)i + 1;
    }
}

/* Room for one more place: the table is at most half full. */
static bool make_room(struct tms_places *places)
{
    size_t capacity = places->capacity == 0 ? 1024 : 2 * places->capacity;

    if (places->count < places->capacity) {
        return true;
    }
    if (capacity > UINT32_MAX / 2) {
        return false;
    }
    struct tms_place *grown = realloc(places->places, capacity * sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    places->places = grown;
    uint32_t *table = realloc(places->table, 2 * capacity * sizeof(*table));
    if (table == NULL) {
        return false;
    }
    places->table = table;
    places->table_size = 2 * capacity;
    places->capacity = capacity;
    fill_table(places);
    return true;
}

static struct tms_place *note(struct tms_places *places, uint64_t key)
{
    if (!make_room(places)) {
        return NULL;
    }
    uint32_t *slot = slot_of(places, key);
    if (*slot == 0) {
        places->places[places->count] = (struct tms_place){.key = key};
        *slot = (uint32_t)++places->count;
    }
    return &places->places[*slot - 1];
}

bool tms_places_note(struct tms_places *places, uint64_t address, unsigned what, unsigned size)
{
    if (what != TMS_PLACE_MEMORY) {
        return note(places, key_of(address, what)) != NULL;
    }
    for (uint64_t end = address + size, at = address; at < end;) {
        uint64_t word = at & ~(uint64_t)(WORD - 1);
        uint64_t stop = end < word + WORD ? end : word + WORD;
        struct tms_place *place = note(places, key_of(word, what));
        if (place == NULL) {
            return false;
        }
        /* The ends of the word, bits 0 and 8, are no cuts. */
        place->cuts |= (uint8_t)((1u << (at - word) | 1u << (stop - word)) & 0xfe);
        at = stop;
    }
    return true;
}

static int by_key(const void *a, const void *b)
{
    const struct tms_place *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

bool tms_places_settle(struct tms_places *places)
{
    uint64_t pieces = 0;

    if (places->count == 0) {
        return true;
    }
    qsort(places->places, places->count, sizeof(*places->places), by_key);
    fill_table(places);
    for (size_t i = 0; i < places->count; i++) {
        places->places[i].piece = (uint32_t)pieces;
        pieces += 1 + (unsigned)__builtin_popcount(places->places[i].cuts);
    }
    places->pieces = pieces <= UINT32_MAX ? calloc((size_t)pieces, sizeof(*places->pieces)) : NULL;
    return places->pieces != NULL;
}

/* ---- questions -------------------------------------------------------------------------- */

struct tms_place *tms_places_find(struct tms_places *places, uint64_t address, unsigned what)
{
    uint64_t start = what == TMS_PLACE_MEMORY ? address & ~(uint64_t)(WORD - 1) : address;
    uint32_t slot = *slot_of(places, key_of(start, what));

    assert(slot != 0);
    return &places->places[slot - 1];
}

uint32_t *tms_places_name(struct tms_places *places, const struct tms_place *place, unsigned offset)
{
    unsigned before = (unsigned)place->cuts & ((2u << offset) - 1);

    return &places->pieces[place->piece + (unsigned)__builtin_popcount(before)];
}

/* ---- uses ------------------------------------------------------------------------------- */

bool tms_places_use(struct tms_places *places, struct tms_place *place, uint32_t thread)
{
    if (place->use != 0) {
        uint32_t *user = &places->users[place->use];
        *user = *user == thread ? thread : 0;
        return true;
    }
    if (places->use_count + 1 >= places->use_capacity) {
        uint32_t capacity = 2 * places->use_capacity + 1024;
        uint32_t *grown = capacity > places->use_capacity
                              ? realloc(places->users, capacity * sizeof(*grown))
                              : NULL;
        if (grown == NULL) {
            return false;
        }
        places->users = grown;
        places->use_capacity = capacity;
    }
    place->use = ++places->use_count;
    places->users[place->use] = thread;
    return true;
}

void tms_places_restart(struct tms_places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        struct tms_place *place = &places->places[i];
        place->block = place->renewal = place->use = 0;
    }
    places->renewals = places->use_count = 0;
    places->block_count = 0;
}

bool tms_places_private(struct tms_places *places, struct tms_place *place)
{
    if (place->use == 0) {
        place->use = ++places->use_count;
    }
    assert(place->use < places->use_capacity);
    return places->users[place->use] != 0;
}

/* ---- renewal ---------------------------------------------------------------------------- */

static bool add_block(struct tms_places *places, uint64_t start, uint32_t site)
{
    if (places->block_count == places->block_capacity) {
        size_t capacity = places->block_capacity == 0 ? 256 : 2 * places->block_capacity;
        struct tms_place_block *grown = realloc(places->blocks, capacity * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        places->blocks = grown;
        places->block_capacity = capacity;
    }
    places->blocks[places->block_count++] = (struct tms_place_block){start, site};
    return true;
}

/* The first place with this key or a greater one. */
static size_t lower_bound(const struct tms_places *places, uint64_t key)
{
    size_t low = 0, high = places->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places->places[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void renew_place(struct tms_places *places, struct tms_place *place, uint32_t block)
{
    unsigned count = 1 + (unsigned)__builtin_popcount(place->cuts);

    place->block = block;
    place->renewal = places->renewals;
    place->use = 0;
    memset(&places->pieces[place->piece], 0, count * sizeof(*places->pieces));
}

bool tms_places_renew(struct tms_places *places, uint64_t address, uint64_t size, bool allocated,
                      uint32_t site)
{
    uint64_t first = key_of(address & ~(uint64_t)(WORD - 1), 0);
    uint64_t end = address + size;

    places->renewals++;
    if (allocated && !add_block(places, address, site)) {
        return false;
    }
    uint32_t block = allocated ? (uint32_t)places->block_count : 0;
    for (size_t i = lower_bound(places, first);
         i < places->count && places->places[i].key / WORD < end; i++) {
        struct tms_place *place = &places->places[i];
        bool word = place->key % WORD == TMS_PLACE_MEMORY;
        if (word || place->key / WORD >= address) {
            renew_place(places, place, block);
        }
    }
    return true;
}

void tms_places_renew_object(struct tms_places *places, uint64_t address, unsigned what)
{
    size_t at = lower_bound(places, key_of(address, what));

    if (at < places->count && places->places[at].key == key_of(address, what)) {
        places->renewals++;
        renew_place(places, &places->places[at], places->places[at].block);
    }
}
