/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables and synchronisation objects of a recording.
 *
 * Accesses have sizes and may overlap in part, the variables of a trace are one thing or another.
 * So memory is cut at all places where some access starts or ends; each piece is a variable, and an
 * access is one event for each piece that it covers. Where all accesses are alike, that is one
 * piece, and it may be long: of an array that all go through from its first element to the last,
 * say. What is known of a piece is kept with the word that it begins in.
 *
 * Memory that is allocated or freed is new: its pieces, and the objects that lie in it, get new
 * names from there on. So this is built in passes over the events: in the first, in any order,
 * tms_places_note, then tms_places_settle. What follows is in the order of the trace: in a second
 * pass, which may be left out, tms_places_use and tms_places_renew, then tms_places_restart; in the
 * last the rest. A word has a use from one renewal to the next. Who uses it is the same in any
 * order of accesses between two renewals, so the second pass needs only the order of those.
 *
 * Representation: pages of 256 bytes with a place for each of their words and a list of the objects
 * in them, where a piece begins or ends; an open-addressed table from the number of a page to it,
 * and a list of the pages in the order of addresses for what is renewed. Events come by the million
 * and mostly hit what was hit before or its neighbour, so a question costs one probe of a table
 * that is small, and all about a word lies together. Memory: up to 4 times that of all pages that
 * were touched.
 */
#ifndef TMS_SPOOL_PLACES_H
#define TMS_SPOOL_PLACES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TMS_WORD       8u
#define TMS_PAGE_WORDS 32u
#define TMS_PAGE_BYTES (TMS_PAGE_WORDS * TMS_WORD)

struct tms_place {
    uint32_t name;    /* 0: none since it was renewed. Of several pieces: the first of `pieces` */
    uint32_t block;   /* that it lies in, 0: none */
    uint32_t renewal; /* which one it was last part of, 0: none */
    uint32_t uses;    /* the first of all, 0: none */
    uint32_t use;     /* the last one up to now, 0: none yet */
    uint32_t reach;   /* bytes from its start to the end of the last piece that begins in it */
    uint8_t cuts;     /* bit n: a piece begins with byte n */
    bool over;        /* the last use ended with a renewal */
    bool alone;       /* in the last pass: the use has but one thread */
};

/* From one renewal of a word to the next, if it is accessed in between. */
struct tms_place_use {
    uint32_t user; /* the only thread, 0: there are several */
    uint32_t next; /* of the same word, 0: none */
};

/* A lock or the like: `what` is a value of enum tms_rt_sync. */
struct tms_place_object {
    struct tms_place place;
    uint32_t next; /* in the page: object + 1; 0: none */
    uint64_t address;
    unsigned what;
};

struct tms_place_page {
    uint64_t number;  /* address / TMS_PAGE_BYTES */
    uint32_t objects; /* the first: object + 1; 0: none */
    struct tms_place words[TMS_PAGE_WORDS];
};

/* Where a page is: in the table, `page` is one more, and 0 in a free slot. */
struct tms_place_ref {
    uint64_t number;
    uint32_t page;
};

/* A block of the heap that was there at some time. */
struct tms_place_block {
    uint64_t start;
    uint32_t site;
};

struct tms_places {
    struct tms_place_page *pages;
    size_t count, capacity;
    uint64_t latest; /* number of the page that was noted last, if there is one */
    size_t latest_page;
    struct tms_place_ref *table; /* at most half full */
    size_t table_size;           /* a power of two */
    struct tms_place_ref *order; /* of the pages, once settled */
    struct tms_place_object *objects;
    size_t object_count, object_capacity;
    uint32_t *pieces; /* names of words that are cut */
    struct tms_place_use *uses;
    uint32_t use_count, use_capacity;
    struct tms_place_block *blocks;
    size_t block_count, block_capacity;
    uint32_t renewals;
};

void tms_places_free(struct tms_places *places);

/*
 * First pass: bytes up to `end` are accessed or renewed together, or an object is used. False:
 * memory is short.
 */
bool tms_places_note(struct tms_places *places, uint64_t address, uint64_t end);
bool tms_places_note_object(struct tms_places *places, uint64_t address, unsigned what);
bool tms_places_settle(struct tms_places *places);

/* Second pass: a thread is the first to use the memory since it was renewed. */
bool tms_places_first_use(struct tms_places *places, struct tms_place *place, uint32_t thread);
void tms_places_restart(struct tms_places *places);

/* Second and last pass: so many bytes are new, as a block of the heap if `allocated`. */
bool tms_places_renew(struct tms_places *places, uint64_t address, uint64_t size, bool allocated,
                      uint32_t site);

/* One object alone is gone; another at its address is another one. */
void tms_places_renew_object(struct tms_places *places, uint64_t address, unsigned what);

/* The place of an object, NULL if it was not noted. */
struct tms_place *tms_places_object(struct tms_places *places, uint64_t address, unsigned what);

static inline size_t tms_places_hash(const struct tms_places *places, uint64_t number)
{
    return (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (places->table_size - 1);
}

/*
 * Memory that will be asked for: first where its page is, some time later the place itself. Most
 * of the time goes into waiting for these.
 */
static inline void tms_places_expect(const struct tms_places *places, uint64_t address)
{
    __builtin_prefetch(&places->table[tms_places_hash(places, address / TMS_PAGE_BYTES)]);
}

static inline void tms_places_expect_soon(const struct tms_places *places, uint64_t address)
{
    const struct tms_place_ref *slot =
        &places->table[tms_places_hash(places, address / TMS_PAGE_BYTES)];

    if (slot->page != 0) {
        __builtin_prefetch(
            &places->pages[slot->page - 1].words[address / TMS_WORD % TMS_PAGE_WORDS]);
    }
}

/* The slot of a page, or the free one where it belongs. */
static inline struct tms_place_ref *tms_places_slot(const struct tms_places *places,
                                                    uint64_t number)
{
    size_t mask = places->table_size - 1;
    size_t at = tms_places_hash(places, number);

    while (places->table[at].page != 0 && places->table[at].number != number) {
        at = (at + 1) & mask;
    }
    return &places->table[at];
}

/* The place of memory that was noted. */
static inline struct tms_place *tms_places_word(const struct tms_places *places, uint64_t address)
{
    const struct tms_place_ref *slot = tms_places_slot(places, address / TMS_PAGE_BYTES);

    assert(slot->page != 0);
    return &places->pages[slot->page - 1].words[address / TMS_WORD % TMS_PAGE_WORDS];
}

static inline bool tms_place_is_new(const struct tms_place *place)
{
    return place->over || place->use == 0;
}

/* Second pass, for every access: a thread uses the memory. */
static inline bool tms_places_use(struct tms_places *places, struct tms_place *place,
                                  uint32_t thread)
{
    if (tms_place_is_new(place)) {
        return tms_places_first_use(places, place, thread);
    }
    if (places->uses[place->use].user != thread) {
        places->uses[place->use].user = 0;
    }
    return true;
}

/* Last pass, for every access: has the memory but one thread in this use of it? */
static inline bool tms_places_private(const struct tms_places *places, struct tms_place *place)
{
    if (tms_place_is_new(place)) {
        place->use = place->use == 0 ? place->uses : places->uses[place->use].next;
        assert(place->use != 0 && place->use <= places->use_count);
        place->over = false;
        place->alone = places->uses[place->use].user != 0;
    }
    return place->alone;
}

static inline bool tms_place_has_several(const struct tms_place *place)
{
    return (place->cuts & (place->cuts - 1u)) != 0;
}

/* Where the name of the piece that begins with byte `offset` of a place is kept. */
static inline uint32_t *tms_places_name(const struct tms_places *places, struct tms_place *place,
                                        unsigned offset)
{
    unsigned before = (unsigned)place->cuts & ((1u << offset) - 1);

    return tms_place_has_several(place)
               ? &places->pieces[place->name + (unsigned)__builtin_popcount(before)]
               : &place->name;
}

/* The first byte behind the piece that begins with byte `offset` of a word, from there on. */
static inline uint64_t tms_place_piece_end(const struct tms_place *place, unsigned offset)
{
    unsigned behind = (unsigned)place->cuts >> (offset + 1);

    return behind == 0 ? place->reach : offset + 1 + (unsigned)__builtin_ctz(behind);
}

/* The next piece of an access that has one at this address. */
static inline uint64_t tms_place_next(const struct tms_place *place, uint64_t address)
{
    unsigned offset = address % TMS_WORD;

    assert((place->cuts >> offset & 1) != 0);
    return address - offset + tms_place_piece_end(place, offset);
}

#endif
