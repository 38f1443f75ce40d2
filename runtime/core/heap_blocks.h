/* SPDX-License-Identifier: Apache-2.0 */
/* Allocated blocks of the heap (heap_blocks.c; a stub in preload/). */
#ifndef TMS_RUNTIME_HEAP_BLOCKS_H
#define TMS_RUNTIME_HEAP_BLOCKS_H

#include "runtime/core/thread.h"

struct tms_rt_heap_block {
    uintptr_t start;
    size_t size;
    uint32_t site; /* of the allocation */
};
/* The heap block that holds an address; false if it is in none. */
bool tms_rt_heap_find(uintptr_t address, struct tms_rt_heap_block *found);
/* The same, but true only once as long as the block is allocated. */
bool tms_rt_heap_learn(uintptr_t address, struct tms_rt_heap_block *found);
void tms_rt_heap_restart(void);

#endif
