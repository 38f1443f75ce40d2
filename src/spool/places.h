/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables and synchronisation objects of a recording.
 *
 * Accesses have sizes and may overlap in part, the variables of a trace are one thing or another.
 * So every 8-byte word that was accessed is cut at all places where some access to it starts or
 * ends; each piece is a variable, and an access is one event for each piece that it covers. Where
 * all accesses to a word are alike, that is one piece.
 *
 * Memory that is allocated or freed is new: its pieces, and the objects that lie in it, get new
 * names from there on. So this is built in passes over the events: in the first, in any order,
 * tms_places_note, then tms_places_settle. What follows is in the order of the trace: in a second
 * pass, which may be left out, tms_places_use and tms_places_renew, then tms_places_restart; in the
 * last the rest. A word has a use from one renewal to the next. Uses have no names, but begin in
 * the same order in both passes, so they are numbered.
 *
 * Representation: an open-addressed table from key to place, and the places in the order of their
 * keys for what is renewed. A key is eight times the address, plus what it is the address of.
 */
#ifndef TMS_SPOOL_PLACES_H
#define TMS_SPOOL_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In a key, besides the values of enum tms_rt_sync. */
#define TMS_PLACE_MEMORY 7u

struct tms_place {
    uint64_t key;
    uint32_t piece;   /* its first one */
    uint32_t block;   /* that it lies in, 0: none */
    uint32_t renewal; /* which one it was last part of, 0: none */
    uint32_t use;     /* since then, 0: none */
    uint8_t cuts;     /* bit n: between bytes n - 1 and n; 1 to 7 */
};

/* A block of the heap that was there at some time. */
struct tms_place_block {
    uint64_t start;
    uint32_t site;
};

struct tms_places {
    struct tms_place *places; /* in the order of their keys, once settled */
    size_t count, capacity;
    uint32_t *table; /* place + 1; 0: free */
    size_t table_size;
    uint32_t *pieces; /* names: 0 is "has none since it was renewed" */
    uint32_t *users;  /* by use: the only thread, 0: there are several */
    uint32_t use_count, use_capacity;
    struct tms_place_block *blocks;
    size_t block_count, block_capacity;
    uint32_t renewals;
};

void tms_places_free(struct tms_places *places);

/* First pass: `size` bytes are accessed together (memory), or an object is used (size 0). */
bool tms_places_note(struct tms_places *places, uint64_t address, unsigned what, unsigned size);
bool tms_places_settle(struct tms_places *places);

/* Second pass: a thread uses the memory. */
bool tms_places_use(struct tms_places *places, struct tms_place *place, uint32_t thread);
void tms_places_restart(struct tms_places *places);
/* Last pass, for every access: has the memory but one thread in this use of it? */
bool tms_places_private(struct tms_places *places, struct tms_place *place);

/* Second and last pass: so many bytes are new, as a block of the heap if `allocated`. */
bool tms_places_renew(struct tms_places *places, uint64_t address, uint64_t size, bool allocated,
                      uint32_t site);

/* One object alone is gone; another at its address is another one. */
void tms_places_renew_object(struct tms_places *places, uint64_t address, unsigned what);

/* The place of an address, which was noted. */
struct tms_place *tms_places_find(struct tms_places *places, uint64_t address, unsigned what);

/* Where the name of the piece at byte `offset` of a place is kept. */
uint32_t *tms_places_name(struct tms_places *places, const struct tms_place *place,
                          unsigned offset);

/* The first byte behind the piece that byte `offset` of a word is in. */
static inline unsigned tms_place_piece_end(const struct tms_place *place, unsigned offset)
{
    unsigned behind = (unsigned)place->cuts >> (offset + 1);

    return behind == 0 ? 8 : offset + 1 + (unsigned)__builtin_ctz(behind);
}

#endif
