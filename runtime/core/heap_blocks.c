/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap blocks, so that a report can say "heap block of 48 bytes from account_new()". A table by
 * address. The block around an address is searched for backwards, unless it is the one that was
 * last found nearby; this happens only when a record is written. Not a base/hashtable.h, which
 * removes no single row.
 */
#include <assert.h>

#include "base/hash_mix.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/heap_blocks.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/sites.h"
#include "runtime/shadow/variable_ids.h"
#include "runtime/spool/spool_writer.h"

#define LEAST     4096u
#define ALIGNMENT 16u
#define STARTS    64u
#define REGION    16u                 /* bits of an address within a region */
#define FAR       (UINT64_C(1) << 24) /* addresses further into a block than this do not find it */

struct block {
    uintptr_t address; /* 0: free, 1: was used */
    size_t size;
    uint32_t site;
    uint32_t record; /* of tms_rt_heap_set_record; 0: none */
};

static struct tms_memory memory = TMS_RT_MEMORY;
static struct {
    struct tms_rt_mutex lock;
    struct block *table;
    size_t size, used;
    uintptr_t low, high;      /* the range of all blocks so far */
    uintptr_t starts[STARTS]; /* by region: of the block found there last, 0: none */
} heap;

#define GONE 1

static struct block *find(struct block *table, size_t size, uintptr_t address)
{
    size_t at = tms_hash(address >> 4) >> 24;
    struct block *gone = NULL;

    assert(tms_rt_mutex_is_mine(&heap.lock));
    assert(address > GONE && (size & (size - 1)) == 0);
    for (;; at++) {
        struct block *block = &table[at & (size - 1)];
        if (block->address == address) {
            return block;
        }
        if (block->address == 0) {
            return gone != NULL ? gone : block;
        }
        if (block->address == GONE && gone == NULL) {
            gone = block;
        }
    }
}

/* Keeps half of the table free; a rebuild sweeps out freed blocks. */
static bool make_room(void)
{
    assert(tms_rt_mutex_is_mine(&heap.lock));
    assert(heap.used * 2 <= heap.size);
    if ((heap.used + 1) * 2 <= heap.size) {
        return true;
    }
    size_t live = 0;
    for (size_t i = 0; i < heap.size; i++) {
        live += heap.table[i].address > GONE;
    }
    size_t size = heap.size == 0 ? LEAST : live * 4 > heap.size ? heap.size * 2 : heap.size;
    struct block *table = tms_resize(&memory, NULL, 0, size, sizeof(*table));
    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; i < heap.size; i++) {
        if (heap.table[i].address > GONE) {
            *find(table, size, heap.table[i].address) = heap.table[i];
        }
    }
    assert(live <= heap.used);
    tms_release(&memory, heap.table, heap.size, sizeof(*table));
    heap.table = table;
    heap.size = size;
    heap.used = live;
    return true;
}

void tms_rt_allocated(struct tms_rt_thread *t, uintptr_t address, size_t size, uintptr_t pc)
{
    if (!tms_rt_mode.checks || address == 0) {
        return;
    }
    uint32_t site = tms_rt_site(t, pc);
    tms_rt_expect_use(address, size);
    tms_rt_mutex_lock(&heap.lock);
    if (make_room()) {
        struct block *block = find(heap.table, heap.size, address);
        heap.used += block->address == 0;
        *block = (struct block){.address = address, .size = size, .site = site};
        heap.low = heap.low == 0 || address < heap.low ? address : heap.low;
        heap.high = address + size > heap.high ? address + size : heap.high;
    }
    tms_rt_mutex_unlock(&heap.lock);
    tms_rt_advance_clock(t);
    if (tms_rt_mode.records && size > 0) {
        tms_rt_note_cleared(address, address + size);
        tms_rt_spool_renewal(t, TMS_EVENT_ALLOC, address, size, site);
    }
}

void tms_rt_freed(struct tms_rt_thread *t, uintptr_t address)
{
    size_t size = 0;

    (void)t;
    if (!tms_rt_mode.checks || address == 0) {
        return;
    }
    tms_rt_mutex_lock(&heap.lock);
    if (heap.size > 0) {
        struct block *block = find(heap.table, heap.size, address);
        if (block->address == address) {
            size = block->size;
            block->address = GONE;
        }
    }
    tms_rt_mutex_unlock(&heap.lock);
    tms_rt_clear_history(address, size);
}

/* The block that starts at an address; NULL: none. */
static struct block *block_at(uintptr_t start)
{
    struct block *block = find(heap.table, heap.size, start);

    return block->address == start ? block : NULL;
}

static bool is_around(const struct block *block, uintptr_t address)
{
    return block != NULL && address - block->address < block->size;
}

/* The block around the address; NULL: none. The caller holds the lock. */
static struct block *find_around(uintptr_t address)
{
    uintptr_t at = address / ALIGNMENT * ALIGNMENT;
    uintptr_t *known = &heap.starts[(address >> REGION) % STARTS];

    assert(tms_rt_mutex_is_mine(&heap.lock));
    if (heap.size == 0 || address >= heap.high || at < heap.low) {
        return NULL;
    }
    struct block *block = *known != 0 ? block_at(*known) : NULL;
    if (is_around(block, address)) {
        return block;
    }
    block = NULL;
    for (uintptr_t back = 0; block == NULL && back < FAR && back <= at - heap.low;
         back += ALIGNMENT) {
        block = block_at(at - back);
    }
    if (!is_around(block, address)) {
        return NULL;
    }
    assert(heap.low <= block->address && block->address + block->size <= heap.high);
    *known = block->address;
    return block;
}

bool tms_rt_heap_find(uintptr_t address, struct tms_rt_heap_block *found)
{
    tms_rt_mutex_lock(&heap.lock);
    const struct block *block = find_around(address);
    if (block != NULL) {
        *found =
            (struct tms_rt_heap_block){block->address, block->size, block->site, block->record};
    }
    tms_rt_mutex_unlock(&heap.lock);
    return block != NULL;
}

void tms_rt_heap_set_record(uintptr_t address, uint32_t record)
{
    tms_rt_mutex_lock(&heap.lock);
    struct block *block = find_around(address);
    if (block != NULL) {
        block->record = record;
    }
    tms_rt_mutex_unlock(&heap.lock);
}

void tms_rt_heap_restart(void)
{
    tms_rt_mutex_restart(&heap.lock);
    for (size_t i = 0; i < heap.size; i++) {
        heap.table[i].site = 0; /* both were in the parent's spool */
        heap.table[i].record = 0;
    }
}
