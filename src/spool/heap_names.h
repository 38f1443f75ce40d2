/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What blocks of the heap are called, by where they were allocated and how long they are:
 *
 *     heap:new_account:account     a block that new_account allocated for a struct account
 *     heap:read_line               what for is unknown
 *     heap                         so is the function
 *
 * Behind it comes the number of the block, and what is in it (tms_allocation_path). Each is worked
 * out once.
 */
#ifndef TMS_SPOOL_HEAP_NAMES_H
#define TMS_SPOOL_HEAP_NAMES_H

#include "symbol/allocation.h"

struct tms_spool_names;

struct tms_heap_name {
    uint32_t site;
    uint64_t size;
    char *text; /* as above; NULL: the slot is free */
    struct tms_allocation allocation;
};

/* Open-addressed, at most half full. All zero at first. */
struct tms_heap_names {
    struct tms_heap_name *slots;
    size_t slot_count, used;
};

void tms_heap_names_free(struct tms_heap_names *heap);

/* NULL when memory is short. Valid until the next call. */
const struct tms_heap_name *tms_heap_name(struct tms_spool_names *names, uint32_t site,
                                          uint64_t size);

#endif
