/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables and synchronisation objects of a recording.
 *
 * Accesses have sizes and may overlap in part, while variables of a trace are either equal or
 * disjoint. So memory is cut wherever an access starts or ends; each piece is a variable, and an
 * access is one event for each piece that it covers. If all accesses have the same extent, that is
 * one piece, and it may be long, such as an array that all threads traverse from its first element
 * to the last. The state of a piece is kept with the word that it begins in.
 *
 * Memory that is allocated or freed is new: its pieces, and the objects in it, get new names from
 * there on. So the map is built in passes over the events: in the first, in any order,
 * tms_address_map_note, then tms_address_map_settle. The other passes are in the order of the
 * trace: in a second one, which may be left out, tms_address_map_use and tms_address_map_end_uses;
 * then tms_address_map_start, and in the last pass the rest. A word has a use from one renewal
 * (allocation or free) to the next. The threads of a use do not depend on the order of accesses
 * between two renewals, so the second pass needs only the order of those.
 *
 * Representation: pages of 256 bytes with an entry for each of their words and a list of the
 * objects in them, where a piece begins or ends. Regions of 64 KiB index their pages, and an
 * open-addressed table the regions. Events come by the million, and cache misses dominate their
 * cost: so table and regions are small enough to stay cached, the 16 bytes that every access needs
 * are adjacent, and the rest is stored separately. The table of regions is not a base/hashtable.h,
 * whose slots would refer every access to a row. Memory: up to 3 times that of all pages that were
 * touched.
 */
#ifndef TMS_SPOOL_ADDRESS_MAP_H
#define TMS_SPOOL_ADDRESS_MAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"

#define TMS_WORD         8u
#define TMS_PAGE_WORDS   32u
#define TMS_PAGE_BYTES   (TMS_PAGE_WORDS * TMS_WORD)
#define TMS_REGION_PAGES 256u
#define TMS_REGION_BYTES (TMS_REGION_PAGES * TMS_PAGE_BYTES)

#define TMS_USED_BY_SEVERAL UINT32_MAX

struct tms_mapped_word {
    union {
        uint32_t name; /* last pass; 0: none since its renewal. With several pieces: the first index
                          in `pieces` */
        uint32_t user; /* second pass: thread of the last use, or TMS_USED_BY_SEVERAL; 0: none */
    };
    uint32_t use;    /* second pass: the last use but one; last pass: the next; 0: none */
    uint32_t reach;  /* bytes from its start to the end of the last piece that begins in it */
    uint8_t cuts;    /* bit n: a piece begins with byte n */
    bool over;       /* cleared by a renewal: another use begins with the next access */
    bool alone;      /* last pass: the use has only one thread, */
    bool last_alone; /* and so has the last one of all */
};

/* What a word belongs to, in the last pass. */
struct tms_mapped_origin {
    uint32_t block;   /* the heap block that contains it, 0: none */
    uint32_t renewal; /* the last renewal that it was part of, 0: none */
};

/* A use of a word: from one renewal to the next. Only uses that a later one follows are stored. */
struct tms_mapped_use {
    uint32_t next; /* of the same word, 0: none */
    bool alone;    /* only one thread */
};

/* A lock or the like: `what` is a value of enum tms_rt_sync. */
struct tms_mapped_object {
    struct tms_mapped_word word;
    struct tms_mapped_origin origin;
    uint64_t address;
    uint32_t what;
    uint32_t next; /* in the page: object + 1; 0: none */
};

struct tms_mapped_page {
    struct tms_mapped_word words[TMS_PAGE_WORDS];
    struct tms_mapped_origin origins[TMS_PAGE_WORDS];
    uint32_t objects; /* the first: object + 1; 0: none */
};

/* In the table, `pages` is NULL in a free slot. */
struct tms_mapped_region {
    uint64_t number; /* address / TMS_REGION_BYTES */
    uint32_t *pages; /* each is one more, 0: none */
};

/* A block of the heap, live or freed. */
struct tms_mapped_block {
    uint64_t start, size;
    uint32_t site;
};

struct tms_address_map {
    struct tms_mapped_page *pages;
    size_t count, capacity;
    struct tms_mapped_region *table; /* at most half full */
    size_t table_size;               /* a power of two */
    size_t region_count;
    struct tms_mapped_region *order; /* of the regions, once settled */
    struct tms_mapped_object *objects;
    size_t object_count, object_capacity;
    struct tms_hashtable object_index; /* by address and what: object + 1 */
    uint32_t *pieces;                  /* names of words that are cut */
    struct tms_mapped_use *uses;
    size_t use_count, use_capacity;
    struct tms_mapped_block *blocks;
    size_t block_count, block_capacity;
    uint32_t renewals;
};

/* False if out of memory; call tms_address_map_free in both cases. */
bool tms_address_map_open(struct tms_address_map *map);
void tms_address_map_free(struct tms_address_map *map);

/*
 * First pass: bytes up to `end` are accessed or cleared together, or an object is used. False:
 * out of memory.
 */
bool tms_address_map_note(struct tms_address_map *map, uint64_t address, uint64_t end);
bool tms_address_map_note_object(struct tms_address_map *map, uint64_t address, unsigned what);
bool tms_address_map_settle(struct tms_address_map *map);

/* Second pass, slow path: another thread uses the memory, or the first one since its renewal. */
bool tms_address_map_other_use(struct tms_address_map *map, struct tms_mapped_word *word,
                               uint32_t thread);

/* Second pass: `size` bytes are renewed. */
void tms_address_map_end_uses(struct tms_address_map *map, uint64_t address, uint64_t size);

/* Before the last pass. False: out of memory. */
bool tms_address_map_start(struct tms_address_map *map);

/* Last pass: `size` bytes are renewed, as a block of the heap if `allocated`. */
bool tms_address_map_renew(struct tms_address_map *map, uint64_t address, uint64_t size,
                           bool allocated, uint32_t site);

/* One object was destroyed; a later one at its address is a new object. */
void tms_address_map_renew_object(struct tms_address_map *map, uint64_t address, unsigned what);

/* NULL if it was not noted. */
struct tms_mapped_object *tms_address_map_object(const struct tms_address_map *map,
                                                 uint64_t address, unsigned what);

/* The slot of a region, or the free one where it belongs. */
static inline struct tms_mapped_region *tms_address_map_region(const struct tms_address_map *map,
                                                               uint64_t number)
{
    size_t mask = map->table_size - 1;
    size_t at = (size_t)(tms_hash(number) >> 32) & mask;

    while (map->table[at].pages != NULL && map->table[at].number != number) {
        at = (at + 1) & mask;
    }
    return &map->table[at];
}

/* NULL if nothing in it was noted. */
static inline struct tms_mapped_page *tms_address_map_page(const struct tms_address_map *map,
                                                           uint64_t address)
{
    const struct tms_mapped_region *region =
        tms_address_map_region(map, address / TMS_REGION_BYTES);
    uint32_t page =
        region->pages != NULL ? region->pages[address / TMS_PAGE_BYTES % TMS_REGION_PAGES] : 0;

    return page != 0 ? &map->pages[page - 1] : NULL;
}

static inline unsigned tms_address_map_index(uint64_t address)
{
    return address / TMS_WORD % TMS_PAGE_WORDS;
}

/* Prefetches the entry of memory that will be accessed soon. */
static inline void tms_address_map_expect(const struct tms_address_map *map, uint64_t address)
{
    const struct tms_mapped_page *page = tms_address_map_page(map, address);

    if (page != NULL) {
        __builtin_prefetch(&page->words[tms_address_map_index(address)]);
    }
}

/* The word of memory that was noted. */
static inline struct tms_mapped_word *tms_address_map_word(const struct tms_address_map *map,
                                                           uint64_t address)
{
    struct tms_mapped_page *page = tms_address_map_page(map, address);

    assert(page != NULL);
    return &page->words[tms_address_map_index(address)];
}

/* Second pass, for every access: a thread uses the memory. */
static inline bool tms_address_map_use(struct tms_address_map *map, struct tms_mapped_word *word,
                                       uint32_t thread)
{
    return (word->user == thread && !word->over) || tms_address_map_other_use(map, word, thread);
}

/* Last pass, for every access: does only one thread use the memory until its renewal? */
static inline bool tms_address_map_private(const struct tms_address_map *map,
                                           struct tms_mapped_word *word)
{
    if (word->over) {
        const struct tms_mapped_use *use = word->use != 0 ? &map->uses[word->use] : NULL;
        word->alone = use != NULL ? use->alone : word->last_alone;
        word->use = use != NULL ? use->next : 0;
        word->over = false;
    }
    return word->alone;
}

static inline bool tms_mapped_has_several(const struct tms_mapped_word *word)
{
    return (word->cuts & (word->cuts - 1u)) != 0;
}

/* The number of set bits in a byte; inlined because it is hot. */
static inline unsigned tms_mapped_bits(unsigned byte)
{
    byte -= byte >> 1 & 0x55;
    byte = (byte & 0x33) + (byte >> 2 & 0x33);
    return (byte + (byte >> 4)) & 0x0f;
}

/* The entry for the name of the piece that begins with byte `offset` of a word. */
static inline uint32_t *tms_address_map_name(const struct tms_address_map *map,
                                             struct tms_mapped_word *word, unsigned offset)
{
    unsigned before = (unsigned)word->cuts & ((1u << offset) - 1);

    return tms_mapped_has_several(word) ? &map->pieces[word->name + tms_mapped_bits(before)]
                                        : &word->name;
}

/* The first byte after the piece that begins with byte `offset` of a word, counted from there. */
static inline uint64_t tms_mapped_piece_end(const struct tms_mapped_word *word, unsigned offset)
{
    unsigned later = (unsigned)word->cuts >> (offset + 1);

    return later == 0 ? word->reach : offset + 1 + (unsigned)__builtin_ctz(later);
}

/* The end of the last piece that begins in the word of this address. */
static inline uint64_t tms_mapped_word_end(const struct tms_mapped_word *word, uint64_t address)
{
    return address - address % TMS_WORD + word->reach;
}

/* The next piece of an access that has one at this address. */
static inline uint64_t tms_mapped_next(const struct tms_mapped_word *word, uint64_t address)
{
    unsigned offset = address % TMS_WORD;

    assert((word->cuts >> offset & 1) != 0);
    return address - offset + tms_mapped_piece_end(word, offset);
}

#endif
