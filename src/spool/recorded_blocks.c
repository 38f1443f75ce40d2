/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap blocks that a process recorded one by one, where it does not record all allocations; see
 * heap_names.h. The block of a finding was recorded just before it, that of a lock at its first
 * use or, of predictions, with the lock, that of memory accessed in a section at the first such
 * access.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "spool/heap_names.h"
#include "spool/spool_names.h"

void tms_recorded_blocks_free(struct tms_recorded_blocks *recorded)
{
    free(recorded->blocks);
    free(recorded->by_address);
    *recorded = (struct tms_recorded_blocks){0};
}

static int compare(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

static int by_sequence(const void *a, const void *b)
{
    const struct tms_recorded_block *x = a, *y = b;

    return compare(x->sequence, y->sequence);
}

/* Groups the records of one block, in the order of the file. */
static int by_block(const void *a, const void *b)
{
    const struct tms_recorded_block *x = a, *y = b;
    int order = compare(x->address, y->address);

    order = order != 0 ? order : compare(x->site, y->site);
    return order != 0 ? order : compare(x->sequence, y->sequence);
}

static int by_lock(const void *a, const void *b)
{
    const struct tms_recorded_block *x = a, *y = b;
    int order = compare(x->object, y->object);

    order = order != 0 ? order : compare(x->event, y->event);
    return order != 0 ? order : compare(x->sequence, y->sequence);
}

static uint64_t end_of(const struct tms_recorded_block *block)
{
    return block->size < UINT64_MAX - block->address ? block->address + block->size : UINT64_MAX;
}

/* Sets the number, the reach and the group of each block, and sorts them by address. */
static void number_blocks(struct tms_recorded_block *blocks, size_t count)
{
    qsort(blocks, count, sizeof(*blocks), by_sequence);
    for (size_t i = 0; i < count; i++) {
        blocks[i].number = (uint32_t)i + 1;
    }
    qsort(blocks, count, sizeof(*blocks), by_block);
    blocks[0].reach = end_of(&blocks[0]);
    for (size_t i = 1; i < count; i++) {
        uint64_t end = end_of(&blocks[i]);
        blocks[i].reach = end > blocks[i - 1].reach ? end : blocks[i - 1].reach;
        bool same =
            blocks[i].address == blocks[i - 1].address && blocks[i].site == blocks[i - 1].site;
        blocks[i].number = same ? blocks[i - 1].number : blocks[i].number;
        blocks[i].group = same && blocks[i].size == blocks[i - 1].size ? blocks[i - 1].group : i;
    }
}

static void add_heap_blocks(struct tms_recorded_blocks *recorded, const struct tms_spool_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tms_spool_heap *heap = (const void *)list->entries[i].record;
        recorded->by_address[recorded->count++] =
            (struct tms_recorded_block){.address = heap->address,
                                        .size = heap->size,
                                        .object = heap->object,
                                        .event = heap->number,
                                        .site = heap->site,
                                        .sequence = list->entries[i].sequence};
    }
}

/* Blocks that contain locks of predictions: their other members get the same number. */
static void add_lock_blocks(struct tms_recorded_blocks *recorded, const struct tms_spool_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tms_spool_lock *lock = (const void *)list->entries[i].record;
        if (lock->heap_size > 0) {
            recorded->by_address[recorded->count++] =
                (struct tms_recorded_block){.address = lock->heap_address,
                                            .size = lock->heap_size,
                                            .site = lock->heap_site,
                                            .sequence = list->entries[i].sequence};
        }
    }
}

static bool make(struct tms_spool_names *names)
{
    const struct tms_spool_list *heap = &names->spool->lists[TMS_SPOOL_HEAP];
    const struct tms_spool_list *locks = &names->spool->lists[TMS_SPOOL_LOCK];
    struct tms_recorded_blocks *recorded = &names->recorded;

    if (recorded->made || heap->count + locks->count == 0) {
        return recorded->made;
    }
    recorded->blocks = calloc(heap->count + locks->count, sizeof(*recorded->blocks));
    recorded->by_address = calloc(heap->count + locks->count, sizeof(*recorded->by_address));
    if (recorded->blocks == NULL || recorded->by_address == NULL) {
        names->failed = true;
        return false;
    }
    add_heap_blocks(recorded, heap);
    add_lock_blocks(recorded, locks);
    if (recorded->count > 0) {
        number_blocks(recorded->by_address, recorded->count);
    }
    memcpy(recorded->blocks, recorded->by_address, recorded->count * sizeof(*recorded->blocks));
    qsort(recorded->blocks, recorded->count, sizeof(*recorded->blocks), by_lock);
    recorded->made = true;
    return true;
}

/* One past the last block of the lock that was recorded up to the event. */
static size_t upper_bound(const struct tms_recorded_blocks *recorded, uint64_t lock, uint64_t event)
{
    size_t low = 0, high = recorded->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tms_recorded_block *block = &recorded->blocks[middle];
        if (block->object < lock || (block->object == lock && block->event <= event)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct tms_recorded_block *tms_recorded_block(struct tms_spool_names *names, uint64_t lock,
                                                    uint64_t event)
{
    if (lock == 0 || !make(names)) {
        return NULL;
    }
    size_t after = upper_bound(&names->recorded, lock, event);
    const struct tms_recorded_block *block = after > 0 ? &names->recorded.blocks[after - 1] : NULL;
    return block != NULL && block->object == lock && lock - block->address < block->size ? block
                                                                                         : NULL;
}

/* After the last that starts at the address or before it. */
static size_t starts_up_to(const struct tms_recorded_blocks *recorded, uint64_t address)
{
    size_t low = 0, high = recorded->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (recorded->by_address[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t distance(uint32_t x, uint32_t y)
{
    return x < y ? y - x : x - y;
}

static bool is_nearer(const struct tms_recorded_block *block,
                      const struct tms_recorded_block *nearest, uint32_t sequence)
{
    return nearest == NULL ||
           distance(block->sequence, sequence) < distance(nearest->sequence, sequence);
}

/* The block that is nearest to a record, of a group from `first` to before `end`, not empty. */
static const struct tms_recorded_block *nearest_of(const struct tms_recorded_block *blocks,
                                                   size_t first, size_t end, uint32_t sequence)
{
    size_t low = first, high = end;

    assert(first < end);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (blocks[middle].sequence < sequence) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool before =
        low == end || (low > first && is_nearer(&blocks[low - 1], &blocks[low], sequence));
    return &blocks[before ? low - 1 : low];
}

const struct tms_recorded_block *tms_recorded_block_near(struct tms_spool_names *names,
                                                         uint32_t sequence, uint64_t address)
{
    const struct tms_recorded_block *nearest = NULL;

    if (!make(names)) {
        return NULL;
    }
    const struct tms_recorded_block *blocks = names->recorded.by_address;
    size_t end = starts_up_to(&names->recorded, address);
    while (end > 0 && blocks[end - 1].reach > address) {
        const struct tms_recorded_block *last = &blocks[end - 1];
        if (address - last->address < last->size) {
            const struct tms_recorded_block *block = nearest_of(blocks, last->group, end, sequence);
            nearest = is_nearer(block, nearest, sequence) ? block : nearest;
        }
        end = last->group;
    }
    return nearest;
}
