/* SPDX-License-Identifier: Apache-2.0 */
/* Divides memory into variables, and tracks its reuse; see address_map.h. */
#include "spool/address_map.h"

#include <stdlib.h>
#include <string.h>

#define REGIONS_LEAST 64

void tms_address_map_free(struct tms_address_map *map)
{
    for (size_t i = 0; i < map->table_size; i++) {
        free(map->table[i].pages);
    }
    free(map->pages);
    free(map->table);
    free(map->order);
    free(map->objects);
    tms_hashtable_clear(&map->object_index, NULL);
    free(map->pieces);
    free(map->uses);
    free(map->blocks);
    *map = (struct tms_address_map){0};
}

/* ---- pages ------------------------------------------------------------------------------- */

static bool grow_table(struct tms_address_map *map)
{
    struct tms_mapped_region *old = map->table;
    size_t old_size = map->table_size;
    size_t size = old_size == 0 ? 2 * REGIONS_LEAST : 2 * old_size;
    struct tms_mapped_region *table = calloc(size, sizeof(*table));

    if (table == NULL) {
        return false;
    }
    map->table = table;
    map->table_size = size;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].pages != NULL) {
            *tms_address_map_region(map, old[i].number) = old[i];
        }
    }
    free(old);
    return true;
}

bool tms_address_map_open(struct tms_address_map *map)
{
    *map = (struct tms_address_map){0};
    return grow_table(map);
}

static struct tms_mapped_region *note_region(struct tms_address_map *map, uint64_t number)
{
    if (2 * (map->region_count + 1) > map->table_size && !grow_table(map)) {
        return NULL;
    }
    struct tms_mapped_region *region = tms_address_map_region(map, number);
    if (region->pages == NULL) {
        region->pages = calloc(TMS_REGION_PAGES, sizeof(*region->pages));
        region->number = number;
        map->region_count += region->pages != NULL;
    }
    return region->pages != NULL ? region : NULL;
}

static struct tms_mapped_page *add_page(struct tms_address_map *map, uint64_t address)
{
    struct tms_mapped_region *region = note_region(map, address / TMS_REGION_BYTES);

    /* Pages are numbered from 1 on. */
    if (region == NULL || map->count >= UINT32_MAX ||
        !TMS_RESERVE(NULL, &map->pages, &map->capacity, map->count + 1, 64)) {
        return NULL;
    }
    struct tms_mapped_page *page = &map->pages[map->count++];
    *page = (struct tms_mapped_page){.objects = 0};
    region->pages[address / TMS_PAGE_BYTES % TMS_REGION_PAGES] = (uint32_t)map->count;
    return page;
}

static inline struct tms_mapped_page *note_page(struct tms_address_map *map, uint64_t address)
{
    struct tms_mapped_page *page = tms_address_map_page(map, address);

    return page != NULL ? page : add_page(map, address);
}

/* ---- the first pass ----------------------------------------------------------------------- */

static inline void cut(struct tms_mapped_page *page, uint64_t address)
{
    page->words[tms_address_map_index(address)].cuts |= (uint8_t)(1u << address % TMS_WORD);
}

bool tms_address_map_note(struct tms_address_map *map, uint64_t address, uint64_t end)
{
    struct tms_mapped_page *page = note_page(map, address);

    if (page != NULL) {
        cut(page, address);
        page = address / TMS_PAGE_BYTES == end / TMS_PAGE_BYTES ? page : note_page(map, end);
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

struct tms_mapped_object *tms_address_map_object(const struct tms_address_map *map,
                                                 uint64_t address, unsigned what)
{
    struct tms_hash_walk walk;
    uint32_t found = tms_hash_first(&map->object_index, hash_object(address, what), &walk);

    while (found != 0 &&
           (map->objects[found - 1].address != address || map->objects[found - 1].what != what)) {
        found = tms_hash_next(&walk);
    }
    return found != 0 ? &map->objects[found - 1] : NULL;
}

static bool add_object(struct tms_address_map *map, uint64_t address, unsigned what)
{
    struct tms_mapped_page *page = note_page(map, address);
    size_t next = map->object_count + 1;

    if (page == NULL || !TMS_RESERVE(NULL, &map->objects, &map->object_capacity, next, 64) ||
        !tms_hashtable_add(&map->object_index, NULL, hash_object(address, what), (uint32_t)next)) {
        return false;
    }
    map->objects[map->object_count] =
        (struct tms_mapped_object){.next = page->objects, .address = address, .what = what};
    page->objects = (uint32_t)++map->object_count;
    return true;
}

bool tms_address_map_note_object(struct tms_address_map *map, uint64_t address, unsigned what)
{
    return tms_address_map_object(map, address, what) != NULL || add_object(map, address, what);
}

/* ---- settling ----------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const struct tms_mapped_region *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static bool sort_regions(struct tms_address_map *map)
{
    size_t count = 0;

    map->order = calloc(map->region_count + 1, sizeof(*map->order));
    if (map->order == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->table_size; i++) {
        if (map->table[i].pages != NULL) {
            map->order[count++] = map->table[i];
        }
    }
    qsort(map->order, count, sizeof(*map->order), by_number);
    return true;
}

/* The last word with a cut so far, and its address. */
struct mark {
    struct tms_mapped_word *word;
    uint64_t address;
};

/* The last piece that begins in a word goes on to the next cut, however far that is. */
static void measure_page(struct tms_mapped_page *page, uint64_t start, struct mark *last)
{
    for (unsigned i = 0; i < TMS_PAGE_WORDS; i++) {
        struct tms_mapped_word *word = &page->words[i];
        uint64_t address = start + i * TMS_WORD;
        if (word->cuts == 0) {
            continue;
        }
        uint64_t reach = address + (unsigned)__builtin_ctz(word->cuts) - last->address;
        if (last->word != NULL) {
            last->word->reach = reach < UINT32_MAX ? (uint32_t)reach : UINT32_MAX;
        }
        *last = (struct mark){word, address};
    }
}

static void measure(struct tms_address_map *map)
{
    struct mark last = {0};

    for (size_t i = 0; i < map->region_count; i++) {
        const struct tms_mapped_region *region = &map->order[i];
        for (unsigned j = 0; j < TMS_REGION_PAGES; j++) {
            uint64_t start = region->number * TMS_REGION_BYTES + j * TMS_PAGE_BYTES;
            if (region->pages[j] != 0) {
                measure_page(&map->pages[region->pages[j] - 1], start, &last);
            }
        }
    }
    if (last.word != NULL) { /* no piece begins with the last cut, but one may in its word */
        last.word->reach = TMS_WORD;
    }
}

bool tms_address_map_settle(struct tms_address_map *map)
{
    if (!sort_regions(map)) {
        return false;
    }
    measure(map);
    return true;
}

/* ---- uses -------------------------------------------------------------------------------- */

/* The last use has ended and another begins: it becomes the first of a list. */
static bool add_use(struct tms_address_map *map, struct tms_mapped_word *word)
{
    if (map->use_count + 1 >= UINT32_MAX ||
        !TMS_RESERVE(NULL, &map->uses, &map->use_capacity, map->use_count + 2, 1024)) {
        return false;
    }
    map->uses[++map->use_count] =
        (struct tms_mapped_use){.next = word->use, .alone = word->user != TMS_USED_BY_SEVERAL};
    word->use = (uint32_t)map->use_count;
    return true;
}

bool tms_address_map_other_use(struct tms_address_map *map, struct tms_mapped_word *word,
                               uint32_t thread)
{
    bool first = word->over || word->user == 0;

    if (word->over && word->user != 0 && !add_use(map, word)) {
        return false;
    }
    word->user = first || word->user == thread ? thread : TMS_USED_BY_SEVERAL;
    word->over = false;
    return true;
}

/* Reverses the list of uses of a word, which was built by prepending. */
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

static unsigned piece_count(const struct tms_mapped_word *word)
{
    return tms_mapped_bits(word->cuts);
}

static void start_page(struct tms_address_map *map, struct tms_mapped_page *page, uint64_t *pieces)
{
    for (unsigned i = 0; i < TMS_PAGE_WORDS; i++) {
        struct tms_mapped_word *word = &page->words[i];
        bool several = tms_mapped_has_several(word);
        word->last_alone = word->user != TMS_USED_BY_SEVERAL;
        word->over = true;
        word->use = in_order(map->uses, word->use);
        word->name = several ? (uint32_t)*pieces : 0;
        *pieces += several ? piece_count(word) : 0;
    }
}

/* Allocates room for the names of words in which several pieces begin. */
bool tms_address_map_start(struct tms_address_map *map)
{
    uint64_t pieces = 0;

    for (size_t i = 0; i < map->count; i++) {
        start_page(map, &map->pages[i], &pieces);
    }
    map->pieces = pieces <= UINT32_MAX ? calloc(pieces + 1, sizeof(*map->pieces)) : NULL;
    return map->pieces != NULL;
}

/* ---- renewal ----------------------------------------------------------------------------- */

static bool add_block(struct tms_address_map *map, uint64_t start, uint64_t size, uint32_t site)
{
    if (!TMS_RESERVE(NULL, &map->blocks, &map->block_capacity, map->block_count + 1, 64)) {
        return false;
    }
    map->blocks[map->block_count++] = (struct tms_mapped_block){start, size, site};
    return true;
}

/* The index in `order` of the first region with this number or a greater one. */
static size_t lower_bound(const struct tms_address_map *map, uint64_t number)
{
    size_t low = 0, high = map->region_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->order[middle].number < number) {
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
typedef void visitor(struct tms_address_map *map, struct tms_mapped_page *page, uint64_t start,
                     const struct range *range);

static inline void visit(struct tms_address_map *map, const struct range *range, visitor *take)
{
    for (size_t i = lower_bound(map, range->first / TMS_REGION_BYTES);
         i < map->region_count && map->order[i].number * TMS_REGION_BYTES < range->end; i++) {
        const struct tms_mapped_region *region = &map->order[i];
        uint64_t start = region->number * TMS_REGION_BYTES;
        uint64_t at = range->first > start ? (range->first - start) / TMS_PAGE_BYTES : 0;
        for (; at < TMS_REGION_PAGES && start + at * TMS_PAGE_BYTES < range->end; at++) {
            if (region->pages[at] != 0) {
                take(map, &map->pages[region->pages[at] - 1], start + at * TMS_PAGE_BYTES, range);
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

static void end_uses(struct tms_address_map *map, struct tms_mapped_page *page, uint64_t start,
                     const struct range *range)
{
    (void)map;
    for (unsigned i = first_word(start, range), end = end_word(start, range); i < end; i++) {
        page->words[i].over = true;
    }
}

void tms_address_map_end_uses(struct tms_address_map *map, uint64_t address, uint64_t size)
{
    struct range range = range_of(address, size);

    visit(map, &range, end_uses);
}

static void renew_word(struct tms_address_map *map, struct tms_mapped_word *word,
                       struct tms_mapped_origin *origin, uint32_t block)
{
    *origin = (struct tms_mapped_origin){block, map->renewals};
    word->over = true;
    if (!tms_mapped_has_several(word)) {
        word->name = 0;
    } else {
        memset(&map->pieces[word->name], 0, piece_count(word) * sizeof(*map->pieces));
    }
}

static void renew_page(struct tms_address_map *map, struct tms_mapped_page *page, uint64_t start,
                       const struct range *range)
{
    for (unsigned i = first_word(start, range), end = end_word(start, range); i < end; i++) {
        if (page->words[i].cuts != 0) {
            renew_word(map, &page->words[i], &page->origins[i], range->block);
        }
    }
    for (uint32_t next = page->objects; next != 0;) {
        struct tms_mapped_object *object = &map->objects[next - 1];
        if (object->address >= range->address && object->address < range->end) {
            renew_word(map, &object->word, &object->origin, range->block);
        }
        next = object->next;
    }
}

bool tms_address_map_renew(struct tms_address_map *map, uint64_t address, uint64_t size,
                           bool allocated, uint32_t site)
{
    struct range range = range_of(address, size);

    map->renewals++;
    if (allocated && !add_block(map, address, size, site)) {
        return false;
    }
    range.block = allocated ? (uint32_t)map->block_count : 0;
    visit(map, &range, renew_page);
    return true;
}

void tms_address_map_renew_object(struct tms_address_map *map, uint64_t address, unsigned what)
{
    struct tms_mapped_object *object = tms_address_map_object(map, address, what);

    if (object != NULL) {
        map->renewals++;
        renew_word(map, &object->word, &object->origin, object->origin.block);
    }
}
