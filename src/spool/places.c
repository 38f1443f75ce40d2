/* SPDX-License-Identifier: Apache-2.0 */
/* Words cut into variables, and what lies in renewed memory; see places.h. */
#include "spool/places.h"

#include <stdlib.h>
#include <string.h>

#define PAGES_LEAST 256

void tms_places_free(struct tms_places *places)
{
    free(places->pages);
    free(places->table);
    free(places->order);
    free(places->objects);
    free(places->pieces);
    free(places->uses);
    free(places->blocks);
    *places = (struct tms_places){0};
}

/* ---- pages ------------------------------------------------------------------------------- */

static bool grow_table(struct tms_places *places, size_t size)
{
    struct tms_place_ref *table = calloc(size, sizeof(*table));

    if (table == NULL) {
        return false;
    }
    free(places->table);
    places->table = table;
    places->table_size = size;
    for (size_t i = 0; i < places->count; i++) {
        uint64_t number = places->pages[i].number;
        *tms_places_slot(places, number) = (struct tms_place_ref){number, (uint32_t)i + 1};
    }
    return true;
}

/* Room for one more page. */
static bool make_room(struct tms_places *places)
{
    size_t capacity = places->capacity == 0 ? PAGES_LEAST : 2 * places->capacity;

    if (places->count < places->capacity) {
        return true;
    }
    if (capacity > UINT32_MAX / 2) {
        return false;
    }
    struct tms_place_page *grown = realloc(places->pages, capacity * sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    places->pages = grown;
    if (!grow_table(places, 2 * capacity)) {
        return false;
    }
    places->capacity = capacity;
    return true;
}

static struct tms_place_page *note_other_page(struct tms_places *places, uint64_t number)
{
    if (!make_room(places)) {
        return NULL;
    }
    struct tms_place_ref *slot = tms_places_slot(places, number);
    if (slot->page == 0) {
        places->pages[places->count] = (struct tms_place_page){.number = number};
        *slot = (struct tms_place_ref){number, (uint32_t)++places->count};
    }
    places->latest = number;
    places->latest_page = slot->page - 1;
    return &places->pages[slot->page - 1];
}

static inline struct tms_place_page *note_page(struct tms_places *places, uint64_t number)
{
    return places->latest == number && places->count > 0 ? &places->pages[places->latest_page]
                                                         : note_other_page(places, number);
}

/* NULL if nothing in it was noted. */
static struct tms_place_page *find_page(const struct tms_places *places, uint64_t number)
{
    const struct tms_place_ref *slot = places->count > 0 ? tms_places_slot(places, number) : NULL;

    return slot != NULL && slot->page != 0 ? &places->pages[slot->page - 1] : NULL;
}

/* ---- the first pass ----------------------------------------------------------------------- */

static inline bool cut(struct tms_places *places, uint64_t address)
{
    struct tms_place_page *page = note_page(places, address / TMS_PAGE_BYTES);

    if (page != NULL) {
        page->words[address / TMS_WORD % TMS_PAGE_WORDS].cuts |=
            (uint8_t)(1u << address % TMS_WORD);
    }
    return page != NULL;
}

bool tms_places_note(struct tms_places *places, uint64_t address, uint64_t end)
{
    return cut(places, address) && cut(places, end);
}

static struct tms_place *object_in(const struct tms_places *places,
                                   const struct tms_place_page *page, uint64_t address,
                                   unsigned what)
{
    for (uint32_t next = page->objects; next != 0;) {
        struct tms_place_object *object = &places->objects[next - 1];
        if (object->address == address && object->what == what) {
            return &object->place;
        }
        next = object->next;
    }
    return NULL;
}

bool tms_places_note_object(struct tms_places *places, uint64_t address, unsigned what)
{
    struct tms_place_page *page = note_page(places, address / TMS_PAGE_BYTES);

    if (page == NULL || object_in(places, page, address, what) != NULL) {
        return page != NULL;
    }
    if (places->object_count == places->object_capacity) {
        size_t capacity = 2 * places->object_capacity + 64;
        struct tms_place_object *grown = realloc(places->objects, capacity * sizeof(*grown));
        if (grown == NULL || capacity > UINT32_MAX) {
            places->objects = grown != NULL ? grown : places->objects;
            return false;
        }
        places->objects = grown;
        places->object_capacity = capacity;
    }
    places->objects[places->object_count] =
        (struct tms_place_object){.next = page->objects, .address = address, .what = what};
    page->objects = (uint32_t)++places->object_count;
    return true;
}

/* ---- settling ----------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct tms_place_ref *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static bool sort_pages(struct tms_places *places)
{
    places->order = calloc(places->count + 1, sizeof(*places->order));
    if (places->order == NULL) {
        return false;
    }
    for (size_t i = 0; i < places->count; i++) {
        places->order[i] = (struct tms_place_ref){places->pages[i].number, (uint32_t)i};
    }
    qsort(places->order, places->count, sizeof(*places->order), by_number);
    return true;
}

/* The last piece that begins in a word goes on to the next cut, however far that is. */
static void measure(struct tms_places *places)
{
    struct tms_place *last = NULL;
    uint64_t start = 0;

    for (size_t i = 0; i < places->count; i++) {
        struct tms_place_page *page = &places->pages[places->order[i].page];
        for (unsigned j = 0; j < TMS_PAGE_WORDS; j++) {
            struct tms_place *place = &page->words[j];
            if (place->cuts == 0) {
                continue;
            }
            uint64_t word = page->number * TMS_PAGE_BYTES + j * TMS_WORD;
            uint64_t reach = word + (unsigned)__builtin_ctz(place->cuts) - start;
            if (last != NULL) {
                last->reach = reach < UINT32_MAX ? (uint32_t)reach : UINT32_MAX;
            }
            last = place;
            start = word;
        }
    }
}

static unsigned piece_count(const struct tms_place *place)
{
    return (unsigned)__builtin_popcount(place->cuts);
}

/* Words that several pieces begin in get room for their names. */
static bool make_pieces(struct tms_places *places)
{
    uint64_t pieces = 0;

    for (size_t i = 0; i < places->count; i++) {
        for (unsigned j = 0; j < TMS_PAGE_WORDS; j++) {
            struct tms_place *place = &places->pages[i].words[j];
            if (tms_place_has_several(place)) {
                place->name = (uint32_t)pieces;
                pieces += piece_count(place);
            }
        }
    }
    places->pieces = pieces <= UINT32_MAX ? calloc(pieces + 1, sizeof(*places->pieces)) : NULL;
    return places->pieces != NULL;
}

bool tms_places_settle(struct tms_places *places)
{
    if (!sort_pages(places)) {
        return false;
    }
    measure(places);
    return make_pieces(places);
}

/* ---- questions --------------------------------------------------------------------------- */

struct tms_place *tms_places_object(struct tms_places *places, uint64_t address, unsigned what)
{
    const struct tms_place_page *page = find_page(places, address / TMS_PAGE_BYTES);

    return page != NULL ? object_in(places, page, address, what) : NULL;
}

/* ---- uses -------------------------------------------------------------------------------- */

bool tms_places_first_use(struct tms_places *places, struct tms_place *place, uint32_t thread)
{
    if (places->use_count + 1 >= places->use_capacity) {
        uint32_t capacity = 2 * places->use_capacity + 1024;
        struct tms_place_use *grown = capacity > places->use_capacity
                                          ? realloc(places->uses, capacity * sizeof(*grown))
                                          : NULL;
        if (grown == NULL) {
            return false;
        }
        places->uses = grown;
        places->use_capacity = capacity;
    }
    uint32_t use = ++places->use_count;
    places->uses[use] = (struct tms_place_use){.user = thread};
    *(place->use == 0 ? &place->uses : &places->uses[place->use].next) = use;
    place->use = use;
    place->over = false;
    return true;
}

static void restart(struct tms_place *place)
{
    place->block = place->renewal = place->use = 0;
    place->over = false;
}

void tms_places_restart(struct tms_places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        for (unsigned j = 0; j < TMS_PAGE_WORDS; j++) {
            restart(&places->pages[i].words[j]);
        }
    }
    for (size_t i = 0; i < places->object_count; i++) {
        restart(&places->objects[i].place);
    }
    places->renewals = 0;
    places->block_count = 0;
}

/* ---- renewal ----------------------------------------------------------------------------- */

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

/* Where in the order the pages with this number or a greater one begin. */
static size_t lower_bound(const struct tms_places *places, uint64_t number)
{
    size_t low = 0, high = places->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places->order[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void renew_place(struct tms_places *places, struct tms_place *place, uint32_t block)
{
    place->block = block;
    place->renewal = places->renewals;
    place->over = true;
    if (!tms_place_has_several(place)) {
        place->name = 0;
    } else {
        memset(&places->pieces[place->name], 0, piece_count(place) * sizeof(*places->pieces));
    }
}

/* Words that begin in [first, end), and objects that do so in [address, end). */
struct range {
    uint64_t first, address, end;
    uint32_t block;
};

static void renew_page(struct tms_places *places, struct tms_place_page *page,
                       const struct range *range)
{
    uint64_t start = page->number * TMS_PAGE_BYTES;
    uint64_t first = range->first > start ? (range->first - start) / TMS_WORD : 0;

    for (uint64_t i = first; i < TMS_PAGE_WORDS && start + i * TMS_WORD < range->end; i++) {
        if (page->words[i].cuts != 0) {
            renew_place(places, &page->words[i], range->block);
        }
    }
    for (uint32_t next = page->objects; next != 0;) {
        struct tms_place_object *object = &places->objects[next - 1];
        if (object->address >= range->address && object->address < range->end) {
            renew_place(places, &object->place, range->block);
        }
        next = object->next;
    }
}

bool tms_places_renew(struct tms_places *places, uint64_t address, uint64_t size, bool allocated,
                      uint32_t site)
{
    struct range range = {address & ~(uint64_t)(TMS_WORD - 1), address, address + size, 0};

    places->renewals++;
    if (allocated && !add_block(places, address, site)) {
        return false;
    }
    range.block = allocated ? (uint32_t)places->block_count : 0;
    for (size_t i = lower_bound(places, range.first / TMS_PAGE_BYTES);
         i < places->count && places->order[i].number * TMS_PAGE_BYTES < range.end; i++) {
        renew_page(places, &places->pages[places->order[i].page], &range);
    }
    return true;
}

void tms_places_renew_object(struct tms_places *places, uint64_t address, unsigned what)
{
    struct tms_place *place = tms_places_object(places, address, what);

    if (place != NULL) {
        places->renewals++;
        renew_place(places, place, place->block);
    }
}
