/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of heap blocks, by allocation site and size:
 *
 *     heap:new_account:account     a block that new_account allocated for a struct account
 *     heap:read_line               of unknown type
 *     heap                         allocated by an unknown function
 *
 * The number of the block follows, and then the path inside it (tms_allocation_path). Each name is
 * computed once.
 */
#ifndef TMS_SPOOL_HEAP_NAMES_H
#define TMS_SPOOL_HEAP_NAMES_H

#include "base/hashtable.h"
#include "symbol/allocation.h"

struct tms_spool_names;

struct tms_heap_name {
    uint32_t site;
    uint64_t size;
    char *text; /* as above */
    struct tms_allocation allocation;
};

/* All zero at first. */
struct tms_heap_names {
    struct tms_heap_name *names;
    size_t count, capacity;
    struct tms_hashtable index; /* by site and size: 1 + place */
};

void tms_heap_names_free(struct tms_heap_names *heap);

/* NULL if out of memory. Valid until the next call. */
const struct tms_heap_name *tms_heap_name(struct tms_spool_names *names, uint32_t site,
                                          uint64_t size);

/* The blocks that a process recorded, with numbers from 1 on in the order of the file. */
struct tms_recorded_block {
    uint64_t address, size;
    uint64_t object;   /* the address of a lock in it, … */
    uint64_t event;    /* … and since when it is there; 0: the record says nothing about that */
    uint32_t site;     /* of the allocation */
    uint32_t number;   /* the same for blocks at the same address from the same site */
    uint32_t sequence; /* of its record in the file */
    uint64_t reach;    /* in `by_address`: the highest end of the blocks up to this one, … */
    size_t group;      /* … and the first of its group: adjacent ones of one block and size */
};

/* All zero at first. */
struct tms_recorded_blocks {
    struct tms_recorded_block *blocks; /* by the lock that they hold, and since when */
    struct tms_recorded_block *by_address;
    size_t count;
    bool made;
};

void tms_recorded_blocks_free(struct tms_recorded_blocks *recorded);

/* The block around a lock at the time of an event; NULL if the process has not recorded it. */
const struct tms_recorded_block *tms_recorded_block(struct tms_spool_names *names, uint64_t lock,
                                                    uint64_t event);

/*
 * The block around an address that was recorded nearest to a record of the file; NULL: none was, or
 * out of memory. Cost: logarithmic for each group of blocks that were at the address one after the
 * other; a block that contains many locks has a record for each, but is one group.
 */
const struct tms_recorded_block *tms_recorded_block_near(struct tms_spool_names *names,
                                                         uint32_t sequence, uint64_t address);

#endif
