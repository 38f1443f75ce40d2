/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: places in the program with their call stacks, as numbers. A site is a return address and
 * the site of the call that led there, so the call stack of every event is one number, and a
 * repeated stack takes no further space in the spool.
 *
 * A frame caches its own site at first use; each thread caches the sites it used last; misses go to
 * one global table. That is not a base/hashtable.h: a miss reads the row itself, not a slot and a
 * row.
 */
#include "runtime/core/sites.h"
#include "base/hash_mix.h"
#include "runtime/core/call_stack.h"
#include "runtime/core/functions.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/spool/spool_writer.h"

#include <assert.h>
#include <string.h>

#define SITES_MOST  (1u << 24)
#define TABLE_LEAST 4096u

struct site {
    uintptr_t pc;
    uint32_t parent;
    uint32_t id; /* 0: free */
};

static struct tms_memory memory = TMS_RT_MEMORY;
static struct {
    struct tms_rt_mutex lock;
    struct site *table;
    size_t size;   /* a power of two, at least twice the count */
    uintptr_t *pc; /* by id, mapped as it is used */
    uint32_t count;
} sites;

static uint32_t hash(uint32_t parent, uintptr_t pc)
{
    return (uint32_t)(tms_hash(pc ^ (uint64_t)parent << 32) >> 32);
}

/* The row of a site, or the free one for it. */
static struct site *row(struct site *table, size_t size, uint32_t parent, uintptr_t pc)
{
    size_t at = hash(parent, pc) & (size - 1);

    assert(tms_rt_mutex_is_mine(&sites.lock));
    assert((size & (size - 1)) == 0 && sites.count < size);
    while (table[at].id != 0 && (table[at].pc != pc || table[at].parent != parent)) {
        at = (at + 1) & (size - 1);
    }
    return &table[at];
}

/*
 * Grows on demand instead of being reserved at full size: rows are scattered, so each of a few
 * thousand would take a page of its own.
 */
static bool make_room(void)
{
    if (sites.pc == NULL) {
        sites.pc = tms_rt_map(SITES_MOST * sizeof(*sites.pc));
    }
    if ((sites.count + 1) * (size_t)2 <= sites.size) {
        return sites.pc != NULL;
    }
    size_t size = sites.size == 0 ? TABLE_LEAST : sites.size * 2;
    struct site *table = tms_resize(&memory, NULL, 0, size, sizeof(*table));
    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; i < sites.size; i++) {
        if (sites.table[i].id != 0) {
            *row(table, size, sites.table[i].parent, sites.table[i].pc) = sites.table[i];
        }
    }
    tms_release(&memory, sites.table, sites.size, sizeof(*table));
    sites.table = table;
    sites.size = size;
    return sites.pc != NULL;
}

static uint32_t new_site(struct site *site, uint32_t parent, uintptr_t pc)
{
    struct tms_spool_site *record;

    assert(site->id == 0 && parent <= sites.count);
    if (sites.count + 1 >= SITES_MOST ||
        (record = tms_rt_spool_record(TMS_SPOOL_SITE, sizeof(*record))) == NULL) {
        return 0;
    }
    *site = (struct site){pc, parent, ++sites.count};
    sites.pc[site->id] = pc;
    record->id = site->id;
    record->parent = parent;
    record->pc = pc;
    return site->id;
}

static uint32_t look_up(uint32_t parent, uintptr_t pc)
{
    uint32_t id = 0;

    tms_rt_mutex_lock(&sites.lock);
    if (make_room()) {
        struct site *site = row(sites.table, sites.size, parent, pc);
        id = site->id != 0 ? site->id : new_site(site, parent, pc);
    }
    tms_rt_mutex_unlock(&sites.lock);
    return id;
}

uint32_t tms_rt_remember_site(struct tms_rt_site_entry *entry, uint32_t parent, uintptr_t pc)
{
    *entry = (struct tms_rt_site_entry){pc, parent, look_up(parent, pc)};
    return entry->id;
}

static bool is_inlined(const struct tms_rt_frame *frame)
{
    return (frame->caller & TMS_RT_INLINED) != 0;
}

/*
 * The parent site of a call or an event at `pc`. That need not be in the function of the last
 * frame: functions without hooks may be in between (qsort, std::function). Then that function, with
 * the ones inlined into it, is on the call stack by its address.
 */
static uint32_t site_around(struct tms_rt_thread *t, const struct tms_rt_frame *last, uintptr_t pc,
                            uint32_t parent)
{
    const struct tms_rt_frame *around = last;

    assert(t->frames <= last && last <= t->top);
    while (is_inlined(around)) {
        around--;
    }
    if (around == t->frames || tms_rt_has_code(tms_rt_function_of(t, around->address), pc)) {
        return parent;
    }
    for (; around <= last; around++) {
        parent = tms_rt_next_site(t, parent, around->address);
    }
    return parent;
}

uint32_t tms_rt_find_parent(struct tms_rt_thread *t, uint32_t parent, uintptr_t pc)
{
    return site_around(t, t->top, pc, parent);
}

/*
 * A recursive function is on the call stack once, as it was called from outside. Otherwise there
 * would be one site for each path through the recursion: a tree walk makes a new one for every
 * node.
 */
uint32_t tms_rt_find_frames(struct tms_rt_thread *t)
{
    struct tms_rt_frame *frame = t->top;

    while (frame > t->frames && frame->site == 0) {
        frame--;
    }
    uint32_t parent = frame > t->frames ? frame->site : 0;
    while (frame < t->top) {
        frame++;
        bool recursive = parent != 0 && frame->address == frame[-1].address;
        if (!is_inlined(frame) && !recursive) {
            parent = tms_rt_next_site(t, site_around(t, frame - 1, frame->caller, parent),
                                      frame->caller);
        }
        frame->site = parent;
    }
    return parent;
}

uint32_t tms_rt_child_site(uint32_t parent, uintptr_t pc)
{
    return look_up(parent, pc);
}

uint32_t tms_rt_bare_site(uintptr_t pc)
{
    return look_up(0, pc);
}

uintptr_t tms_rt_site_pc(uint32_t site)
{
    assert(site <= __atomic_load_n(&sites.count, __ATOMIC_RELAXED));
    return site == 0 ? 0 : sites.pc[site];
}

void tms_rt_sites_restart(void)
{
    tms_rt_mutex_restart(&sites.lock);
    sites.table = NULL; /* in the child of a fork the old table stays mapped */
    sites.size = 0;
    sites.count = 0;
}
