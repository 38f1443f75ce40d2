/* SPDX-License-Identifier: Apache-2.0 */
/* Allocated blocks of the heap (heap_blocks.c; a stub in preload/). */
#ifndef TMS_RUNTIME_HEAP_BLOCKS_H
#define TMS_RUNTIME_HEAP_BLOCKS_H

#include "runtime/core/thread.h"

struct tms_rt_heap_block {
    uintptr_t start;
    size_t size;
    uint32_t site;   /* of the allocation */
    uint32_t record; /* a number that the block keeps while it stays allocated; 0: none was set */
};
/* The heap block that holds an address; false if it is in none. */
bool tms_rt_heap_find(uintptr_t address, struct tms_rt_heap_block *found);
/* Sets the number of the block that holds the address, if there is one. */
void tms_rt_heap_set_record(uintptr_t address, uint32_t record);
void tms_rt_heap_restart(void);

#endif
