/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sub-regions, shared by all that refers to them and free when nothing does, and the reads that
 * refer to them. Both live in arrays that grow by doubling, with lists of the free ones; a free
 * region keeps the memory of its clock for the next.
 */
#include <assert.h>

#include "engines/regiontrack.h"

#define LEAST_REGIONS 64

/* ---- sub-regions ------------------------------------------------------------------------ */

static uint32_t new_region(struct tms_regiontrack *rt)
{
    struct tms_regiontrack_regions *all = &rt->regions;
    uint32_t region = all->free;

    if (region != 0) {
        all->free = all->at[region].references;
    } else if (all->count < UINT32_MAX && TMS_RESERVE(rt->memory, &all->at, &all->capacity,
                                                      all->count + (size_t)2, LEAST_REGIONS)) {
        region = ++all->count;
    } else {
        return 0;
    }
    assert(region > 0 && region <= all->count && all->count < all->capacity);
    all->at[region].references = 1;
    all->most_alive = ++all->alive > all->most_alive ? all->alive : all->most_alive;
    return region;
}

static void release_region(struct tms_regiontrack_regions *all, uint32_t region)
{
    assert(region == 0 || (region <= all->count && all->at[region].references > 0));
    if (region != 0 && --all->at[region].references == 0) {
        all->at[region].references = all->free;
        all->free = region;
        all->alive--;
    }
}

void tms_regiontrack_refer(struct tms_regiontrack *rt, uint32_t *reference, uint32_t region)
{
    assert(region == 0 || rt->regions.at[region].references > 0);
    if (region != 0) {
        rt->regions.at[region].references++; /* first, as it may be the same */
    }
    release_region(&rt->regions, *reference);
    *reference = region;
}

/* The thread's region for what follows: the old one, if there is no other reference to it. */
static uint32_t start_region(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t)
{
    if (t->region == 0 || rt->regions.at[t->region].references > 1) {
        release_region(&rt->regions, t->region);
        t->region = new_region(rt);
    }
    return t->region;
}

/* subRegion() of Algorithm 1, lines 40 to 44, put off until an event is recorded. */
uint32_t tms_regiontrack_region(struct tms_regiontrack *rt, struct tms_regiontrack_thread *t)
{
    if (!t->moved) {
        return t->region;
    }
    uint32_t region = start_region(rt, t);
    if (region == 0 || !tms_vector_copy(rt->memory, &rt->regions.at[region].clock, &t->clock)) {
        tms_host_fail(rt->host, TMS_ERR_MEMORY);
        return 0;
    }
    rt->regions.at[region].slot = t->slot;
    rt->regions.at[region].number = t->number;
    rt->regions.made++;
    t->moved = false;
    return region;
}

/* ---- reads ------------------------------------------------------------------------------ */

static uint32_t free_reads(const struct tms_regiontrack *rt, uint32_t index)
{
    return rt->reduced ? rt->reads.clocks[index].next_free : rt->reads.node[index].next;
}

static bool grow_reads(struct tms_regiontrack *rt)
{
    struct tms_regiontrack_reads *all = &rt->reads;
    size_t wanted = all->count + (size_t)2;

    if (all->count == UINT32_MAX) {
        return false;
    }
    return rt->reduced
               ? TMS_RESERVE(rt->memory, &all->clocks, &all->capacity, wanted, LEAST_REGIONS)
               : TMS_RESERVE(rt->memory, &all->node, &all->capacity, wanted, LEAST_REGIONS);
}

/* A node, or a pair of clocks; 0 on failure. */
static uint32_t new_reads(struct tms_regiontrack *rt)
{
    uint32_t index = rt->reads.free;

    if (index != 0) {
        rt->reads.free = free_reads(rt, index);
    } else if (grow_reads(rt)) {
        index = ++rt->reads.count;
    } else {
        tms_host_fail(rt->host, TMS_ERR_MEMORY);
    }
    return index;
}

/* The node of the thread in the slot, 0 if it did not read. */
static uint32_t find_read(const struct tms_regiontrack *rt, const struct tms_regiontrack_cell *cell,
                          uint32_t slot)
{
    uint32_t index = cell->reads;

    while (index != 0 && region_at(rt, rt->reads.node[index].region)->slot != slot) {
        index = rt->reads.node[index].next;
    }
    return index;
}

bool tms_regiontrack_has_read(const struct tms_regiontrack *rt,
                              const struct tms_regiontrack_cell *cell, uint32_t slot)
{
    return !rt->reduced && find_read(rt, cell, slot) != 0;
}

static void add_node(struct tms_regiontrack *rt, struct tms_regiontrack_cell *cell, uint32_t region)
{
    uint32_t index = find_read(rt, cell, region_at(rt, region)->slot);

    if (index == 0) {
        index = new_reads(rt);
        if (index == 0) {
            return;
        }
        rt->reads.node[index] = (struct tms_regiontrack_read_node){0, cell->reads};
        cell->reads = index;
    }
    tms_regiontrack_refer(rt, &rt->reads.node[index].region, region);
}

/* joined := joined ⊔ V, check := check ⊔ V[0/u], as in AeroDrome, section 4.3. */
static bool join_clocks(struct tms_regiontrack *rt, struct tms_regiontrack_read_clocks *clocks,
                        const struct tms_regiontrack_region *read)
{
    uint64_t own = tms_vector_get(&clocks->check, read->slot);

    if (!rt->order) { /* without clocks, the transaction is all there is to say */
        return tms_vector_set(rt->memory, &clocks->joined, read->slot, read->number);
    }
    return tms_vector_join(rt->memory, &clocks->joined, &read->clock) &&
           tms_vector_join(rt->memory, &clocks->check, &read->clock) &&
           tms_vector_set(rt->memory, &clocks->check, read->slot, own);
}

static void add_clocks(struct tms_regiontrack *rt, struct tms_regiontrack_cell *cell,
                       uint32_t region)
{
    if (cell->reads == 0) {
        cell->reads = new_reads(rt);
    }
    if (cell->reads != 0 &&
        !join_clocks(rt, &rt->reads.clocks[cell->reads], region_at(rt, region))) {
        tms_host_fail(rt->host, TMS_ERR_MEMORY);
    }
}

void tms_regiontrack_add_read(struct tms_regiontrack *rt, struct tms_regiontrack_cell *cell,
                              uint32_t region)
{
    if (rt->reduced) {
        add_clocks(rt, cell, region);
    } else {
        add_node(rt, cell, region);
    }
}

static void drop_clocks(struct tms_regiontrack *rt, uint32_t index)
{
    struct tms_regiontrack_read_clocks *clocks = &rt->reads.clocks[index];

    assert(index > 0 && index <= rt->reads.count);
    forget_clock(&clocks->joined);
    forget_clock(&clocks->check);
    clocks->next_free = rt->reads.free;
    rt->reads.free = index;
}

static void drop_nodes(struct tms_regiontrack *rt, uint32_t index)
{
    while (index != 0) {
        struct tms_regiontrack_read_node *node = &rt->reads.node[index];
        assert(index <= rt->reads.count && node->region != 0);
        uint32_t next = node->next;
        tms_regiontrack_refer(rt, &node->region, 0);
        node->next = rt->reads.free;
        rt->reads.free = index;
        index = next;
    }
}

void tms_regiontrack_drop_reads(struct tms_regiontrack *rt, struct tms_regiontrack_cell *cell)
{
    if (cell->reads != 0 && rt->reduced) {
        drop_clocks(rt, cell->reads);
    } else {
        drop_nodes(rt, cell->reads);
    }
    cell->reads = 0;
}

void tms_regiontrack_clear_regions(struct tms_regiontrack *rt)
{
    struct tms_regiontrack_reads *reads = &rt->reads;

    for (size_t i = 0; i < rt->regions.capacity; i++) {
        tms_vector_clear(rt->memory, &rt->regions.at[i].clock);
    }
    tms_release(rt->memory, rt->regions.at, rt->regions.capacity, sizeof(*rt->regions.at));
    for (size_t i = 0; reads->clocks != NULL && i < reads->capacity; i++) {
        tms_vector_clear(rt->memory, &reads->clocks[i].joined);
        tms_vector_clear(rt->memory, &reads->clocks[i].check);
    }
    tms_release(rt->memory, reads->clocks, reads->capacity, sizeof(*reads->clocks));
    tms_release(rt->memory, reads->node, reads->capacity, sizeof(*reads->node));
}
