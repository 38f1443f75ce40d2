/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of the heap in recordings without allocations; see heap_names.h. Which one a lock lies in
 * was told when the lock was first used.
 */
#include <stdlib.h>

#include "spool/heap_names.h"
#include "spool/names.h"

void tms_told_blocks_free(struct tms_told_blocks *told)
{
    free(told->blocks);
    *told = (struct tms_told_blocks){0};
}

static int compare(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

/* What is told about one block comes together, in the order of the file. */
static int by_block(const void *a, const void *b)
{
    const struct tms_told_block *x = a, *y = b;
    int order = compare(x->heap->address, y->heap->address);

    order = order != 0 ? order : compare(x->heap->site, y->heap->site);
    return order != 0 ? order : compare(x->number, y->number);
}

static int by_lock(const void *a, const void *b)
{
    const struct tms_told_block *x = a, *y = b;
    int order = compare(x->heap->object, y->heap->object);

    order = order != 0 ? order : compare(x->heap->number, y->heap->number);
    return order != 0 ? order : compare(x->number, y->number);
}

static void number_blocks(struct tms_told_block *blocks, size_t count)
{
    qsort(blocks, count, sizeof(*blocks), by_block);
    for (size_t i = 1; i < count; i++) {
        if (blocks[i].heap->address == blocks[i - 1].heap->address &&
            blocks[i].heap->site == blocks[i - 1].heap->site) {
            blocks[i].number = blocks[i - 1].number;
        }
    }
    qsort(blocks, count, sizeof(*blocks), by_lock);
}

static bool make(struct tms_spool_names *names)
{
    const struct tms_spool_list *list = &names->spool->lists[TMS_SPOOL_HEAP];
    struct tms_told_blocks *told = &names->told;

    if (told->made || list->count == 0) {
        return told->made;
    }
    told->blocks = calloc(list->count, sizeof(*told->blocks));
    if (told->blocks == NULL) {
        names->failed = true;
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        told->blocks[i] =
            (struct tms_told_block){(const void *)list->entries[i].record, (uint32_t)i + 1};
    }
    told->count = list->count;
    told->made = true;
    number_blocks(told->blocks, told->count);
    return true;
}

/* Behind the last that is about the lock and was told up to the event. */
static size_t upper_bound(const struct tms_told_blocks *told, uint64_t lock, uint64_t event)
{
    size_t low = 0, high = told->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tms_spool_heap *heap = told->blocks[middle].heap;
        if (heap->object < lock || (heap->object == lock && heap->number <= event)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct tms_told_block *tms_told_block(struct tms_spool_names *names, uint64_t lock,
                                            uint64_t event)
{
    if (lock == 0 || !make(names)) {
        return NULL;
    }
    size_t behind = upper_bound(&names->told, lock, event);
    const struct tms_told_block *block = behind > 0 ? &names->told.blocks[behind - 1] : NULL;
    return block != NULL && block->heap->object == lock &&
                   lock - block->heap->address < block->heap->size
               ? block
               : NULL;
}

uint32_t tms_told_number(struct tms_spool_names *names, const struct tms_spool_heap *heap)
{
    if (!make(names)) {
        return 0;
    }
    size_t at = upper_bound(&names->told, heap->object, heap->number);
    while (at > 0 && names->told.blocks[at - 1].heap->object == heap->object) {
        if (names->told.blocks[--at].heap == heap) {
            return names->told.blocks[at].number;
        }
    }
    return 0;
}
