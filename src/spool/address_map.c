/* SPDX-License-Identifier: Apache-2.0 */
/* Words cut into variables, and the contents of reused memory; see address_map.h. */
#include "spool/address_map.h"

#include <stdlib.h>
#include <string.h>

#define REGIONS_LEAST 64

void tms_address_map_free(struct tms_address_map *places)
{
    for (size_t i = 0; i < places->table_size; i++) {
        free(places->table[i].pages);
    }
    free(places->pages);
    free(places->table);
    free(places->order);
    free(places->objects);
    tms_hashtable_clear(&places->object_index, NULL);
    free(places->pieces);
    free(places->uses);
    free(places->blocks);
    *places = (struct tms_address_map){0};
}

/* ---- pages ------------------------------------------------------------------------------- */

static bool grow_table(struct tms_address_map *places)
{
    struct tms_mapped_region *old = places->table;
    size_t old_size = places->table_size;
    size_t size = old_size == 0 ? 2 * REGIONS_LEAST : 2 * old_size;
    struct tms_mapped_region *table = calloc(size, sizeof(*table));

    if (table == NULL) {
        return false;
    }
    places->table = table;
    places->table_size = size;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].pages != NULL) {
            *tms_address_map_region(places, old[i].number) = old[i];
        }
    }
    free(old);
    return true;
}

bool tms_address_map_open(struct tms_address_map *places)
{
    *places = (struct tms_address_map){0};
    return grow_table(places);
}

static struct tms_mapped_region *note_region(struct tms_address_map *places, uint64_t number)
{
    if (2 * (places->region_count + 1) > places->table_size && !grow_table(places)) {
        return NULL;
    }
    struct tms_mapped_region *region = tms_address_map_region(places, number);
    if (region->pages == NULL) {
        region->pages = calloc(TMS_REGION_PAGES, sizeof(*region->pages));
        region->number = number;
        places->region_count += region->pages != NULL;
    }
    return region->pages != NULL ? region : NULL;
}

static struct tms_mapped_page *add_page(struct tms_address_map *places, uint64_t address)
{
    struct tms_mapped_region *region = note_region(places, address / TMS_REGION_BYTES);

    /* Pages are numbered from 1 on. */
    if (region == NULL || places->count >= UINT32_MAX ||
        !TMS_RESERVE(NULL, &places->pages, &places->capacity, places->count + 1, 64)) {
        return NULL;
    }
    struct tms_mapped_page *page = &places->pages[places->count++];
    *page = (struct tms_mapped_page){.objects = 0};
    region->pages[address / TMS_PAGE_BYTES % TMS_REGION_PAGES] = (uint32_t)places->count;
    return page;
}

static inline struct tms_mapped_page *note_page(struct tms_address_map *places, uint64_t address)
{
    struct tms_mapped_page *page = tms_address_map_page(places, address);

    return page != NULL ? page : add_page(places, address);
}

/* ---- the first pass ----------------------------------------------------------------------- */

static inline void cut(struct tms_mapped_page *page, uint64_t address)
{
    page->words[tms_address_map_index(address)].cuts |= (uint8_t)(1u << address % TMS_WORD);
}

bool tms_address_map_note(struct tms_address_map *places, uint64_t address, uint64_t end)
{
    struct tms_mapped_page *page = note_page(places, address);

    if (page != NULL) {
        cut(page, address);
        page = address / TMS_PAGE_BYTES == end / TMS_PAGE_BYTES ? page : note_page(places, end);
    }
    if (page != NULL) {
        cut(page, end);
    }
    return page != NULL;
}

static uint64_t hash_object(uint64_t address, unsigned what)
{
    return tms_mix(what, address);
}

struct tms_mapped_object *tms_address_map_object(const struct tms_address_map *places,
                                                 uint64_t address, unsigned what)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&places->object_index, hash_object(address, what), &walk);

    while (found != 0 && (places->objects[found - 1].address != address ||
                          places->objects[found - 1].what != what)) {
        found = tms_hash_next(&walk);
    }
    return found != 0 ? &places->objects[found - 1] : NULL;
}

static bool add_object(struct tms_address_map *places, uint64_t address, unsigned what)
{
    struct tms_mapped_page *page = note_page(places, address);
    size_t next = places->object_count + 1;

    if (page == NULL || !TMS_RESERVE(NULL, &places->objects, &places->object_capacity, next, 64) ||
        !tms_hashtable_add(&places->object_index, NULL, hash_object(address, what),
                           (uint32_t)next)) {
        return false;
    }
    places->objects[places->object_count] =
        (struct tms_mapped_object){.next = page->objects, .address = address, .what = what};
    page->objects = (uint32_t)++places->object_count;
    return true;
}

bool tms_address_map_note_object(struct tms_address_map *places, uint64_t address, unsigned what)
{
    return tms_address_map_object(places, address, what) != NULL ||
           add_object(places, address, what);
}

/* ---- settling ----------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct tms_mapped_region *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static bool sort_regions(struct tms_address_map *places)
{
    size_t count = 0;

    places->order = calloc(places->region_count + 1, sizeof(*places->order));
    if (places->order == NULL) {
        return false;
    }
    for (size_t i = 0; i < places->table_size; i++) {
        if (places->table[i].pages != NULL) {
            places->order[count++] = places->table[i];
        }
    }
    qsort(places->order, count, sizeof(*places->order), by_number);
    return true;
}

/* The last place with a cut up to now, and the address of its word. */
struct mark {
    struct tms_mapped_word *place;
    uint64_t word;
};

/* The last piece that begins in a word goes on to the next cut, however far that is. */
static void measure_page(struct tms_mapped_page *page, uint64_t start, struct mark *last)
{
    for (unsigned i = 0; i < TMS_PAGE_WORDS; i++) {
        struct tms_mapped_word *place = &page->words[i];
        uint64_t word = start + i * TMS_WORD;
        if (place->cuts == 0) {
            continue;
        }
        uint64_t reach = word + (unsigned)__builtin_ctz(place->cuts) - last->word;
        if (last->place != NULL) {
            last->place->reach = reach < UINT32_MAX ? (uint32_t)reach : UINT32_MAX;
        }
        *last = (struct mark){place, word};
    }
}

static void measure(struct tms_address_map *places)
{
    struct mark last = {0};

    for (size_t i = 0; i < places->region_count; i++) {
        const struct tms_mapped_region *region = &places->order[i];
        for (unsigned j = 0; j < TMS_REGION_PAGES; j++) {
            uint64_t start = region->number * TMS_REGION_BYTES + j * TMS_PAGE_BYTES;
            if (region->pages[j] != 0) {
                measure_page(&places->pages[region->pages[j] - 1], start, &last);
            }
        }
    }
    if (last.place != NULL) { /* no piece begins with the last cut, but one may in its word */
        last.place->reach = TMS_WORD;
    }
}

bool tms_address_map_settle(struct tms_address_map *places)
{
    if (!sort_regions(places)) {
        return false;
    }
    measure(places);
    return true;
}

/* ---- uses -------------------------------------------------------------------------------- */

/* The last use has ended and another begins: it becomes the first of a list. */
static bool add_use(struct tms_address_map *places, struct tms_mapped_word *place)
{
    if (places->use_count + 1 >= UINT32_MAX ||
        !TMS_RESERVE(NULL, &places->uses, &places->use_capacity, places->use_count + 2, 1024)) {
        return false;
    }
    places->uses[++places->use_count] =
        (struct tms_mapped_use){.next = place->use, .alone = place->user != TMS_USED_BY_SEVERAL};
    place->use = (uint32_t)places->use_count;
    return true;
}

bool tms_address_map_other_use(struct tms_address_map *places, struct tms_mapped_word *place,
                               uint32_t thread)
{
    bool first = place->over || place->user == 0;

    if (place->over && place->user != 0 && !add_use(places, place)) {
        return false;
    }
    place->user = first || place->user == thread ? thread : TMS_USED_BY_SEVERAL;
    place->over = false;
    return true;
}

/* The uses of a place were put one before the other; now the first is the next. */
static uint32_t in_order(struct tms_mapped_use *uses, uint32_t last)
{
    uint32_t first = 0;

    while (last != 0) {
        uint32_t before = uses[last].next;
        uses[last].next = first;
        first = last;
        last = before;
    }
    return first;
}

static unsigned piece_count(const struct tms_mapped_word *place)
{
    return tms_mapped_bits(place->cuts);
}

static void start_page(struct tms_address_map *places, struct tms_mapped_page *page,
                       uint64_t *pieces)
{
    for (unsigned i = 0; i < TMS_PAGE_WORDS; i++) {
        struct tms_mapped_word *place = &page->words[i];
        bool several = tms_mapped_has_several(place);
        place->last_alone = place->user != TMS_USED_BY_SEVERAL;
        place->over = true;
        place->use = in_order(places->uses, place->use);
        place->name = several ? (uint32_t)*pieces : 0;
        *pieces += several ? piece_count(place) : 0;
    }
}

/* Words that several pieces begin in get room for their names. */
bool tms_address_map_start(struct tms_address_map *places)
{
    uint64_t pieces = 0;

    for (size_t i = 0; i < places->count; i++) {
        start_page(places, &places->pages[i], &pieces);
    }
    places->pieces = pieces <= UINT32_MAX ? calloc(pieces + 1, sizeof(*places->pieces)) : NULL;
    return places->pieces != NULL;
}

/* ---- renewal ----------------------------------------------------------------------------- */

static bool add_block(struct tms_address_map *places, uint64_t start, uint64_t size, uint32_t site)
{
    if (!TMS_RESERVE(NULL, &places->blocks, &places->block_capacity, places->block_count + 1, 64)) {
        return false;
    }
    places->blocks[places->block_count++] = (struct tms_mapped_block){start, size, site};
    return true;
}

/* Where in the order the regions with this number or a greater one begin. */
static size_t lower_bound(const struct tms_address_map *places, uint64_t number)
{
    size_t low = 0, high = places->region_count;

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

/* Words that begin in [first, end), and objects that do so in [address, end). */
struct range {
    uint64_t first, address, end;
    uint32_t block;
};

static struct range range_of(uint64_t address, uint64_t size)
{
    return (struct range){address & ~(uint64_t)(TMS_WORD - 1), address, address + size, 0};
}

/* Called for each page that is at least partly in a range, with its start. */
typedef void visitor(struct tms_address_map *places, struct tms_mapped_page *page, uint64_t start,
                     const struct range *range);

static inline void visit(struct tms_address_map *places, const struct range *range, visitor *take)
{
    for (size_t i = lower_bound(places, range->first / TMS_REGION_BYTES);
         i < places->region_count && places->order[i].number * TMS_REGION_BYTES < range->end; i++) {
        const struct tms_mapped_region *region = &places->order[i];
        uint64_t start = region->number * TMS_REGION_BYTES;
        uint64_t at = range->first > start ? (range->first - start) / TMS_PAGE_BYTES : 0;
        for (; at < TMS_REGION_PAGES && start + at * TMS_PAGE_BYTES < range->end; at++) {
            if (region->pages[at] != 0) {
                take(places, &places->pages[region->pages[at] - 1], start + at * TMS_PAGE_BYTES,
                     range);
            }
        }
    }
}

/* The words of a page in the range: the first, and one past the last. */
static inline unsigned first_word(uint64_t start, const struct range *range)
{
    return range->first > start ? (unsigned)((range->first - start) / TMS_WORD) : 0;
}

static inline unsigned end_word(uint64_t start, const struct range *range)
{
    uint64_t words = (range->end - start + TMS_WORD - 1) / TMS_WORD;

    return words < TMS_PAGE_WORDS ? (unsigned)words : TMS_PAGE_WORDS;
}

static void end_uses(struct tms_address_map *places, struct tms_mapped_page *page, uint64_t start,
                     const struct range *range)
{
    (void)places;
    for (unsigned i = first_word(start, range), end = end_word(start, range); i < end; i++) {
        page->words[i].over = true;
    }
}

void tms_address_map_end_uses(struct tms_address_map *places, uint64_t address, uint64_t size)
{
    struct range range = range_of(address, size);

    visit(places, &range, end_uses);
}

static void renew_place(struct tms_address_map *places, struct tms_mapped_word *place,
                        struct tms_mapped_origin *origin, uint32_t block)
{
    *origin = (struct tms_mapped_origin){block, places->renewals};
    place->over = true;
    if (!tms_mapped_has_several(place)) {
        place->name = 0;
    } else {
        memset(&places->pieces[place->name], 0, piece_count(place) * sizeof(*places->pieces));
    }
}

static void renew_page(struct tms_address_map *places, struct tms_mapped_page *page, uint64_t start,
                       const struct range *range)
{
    for (unsigned i = first_word(start, range), end = end_word(start, range); i < end; i++) {
        if (page->words[i].cuts != 0) {
            renew_place(places, &page->words[i], &page->origins[i], range->block);
        }
    }
    for (uint32_t next = page->objects; next != 0;) {
        struct tms_mapped_object *object = &places->objects[next - 1];
        if (object->address >= range->address && object->address < range->end) {
            renew_place(places, &object->place, &object->origin, range->block);
        }
        next = object->next;
    }
}

bool tms_address_map_renew(struct tms_address_map *places, uint64_t address, uint64_t size,
                           bool allocated, uint32_t site)
{
    struct range range = range_of(address, size);

    places->renewals++;
    if (allocated && !add_block(places, address, size, site)) {
        return false;
    }
    range.block = allocated ? (uint32_t)places->block_count : 0;
    visit(places, &range, renew_page);
    return true;
}

void tms_address_map_renew_object(struct tms_address_map *places, uint64_t address, unsigned what)
{
    struct tms_mapped_object *object = tms_address_map_object(places, address, what);

    if (object != NULL) {
        places->renewals++;
        renew_place(places, &object->place, &object->origin, object->origin.block);
    }
}
