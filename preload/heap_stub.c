/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap of a program whose accesses are not watched: memory matters only when it is freed with a
 * lock in it, because another lock may be placed there. Replaces runtime/core/heap_blocks.c.
 */
#include <malloc.h>

#include "runtime/core/heap_blocks.h"
#include "runtime/core/sync_objects.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/variable_ids.h"

void tms_rt_allocated(struct tms_rt_thread *t, uintptr_t address, size_t size, uintptr_t pc)
{
}

void tms_rt_freed(struct tms_rt_thread *t, uintptr_t address)
{
    size_t size = tms_rt_mode.checks ? malloc_usable_size((void *)address) : 0;

    if (size > 0 && tms_rt_may_hold_objects(address, address + size)) {
        tms_rt_objects_gone(t, address, size);
    }
}

bool tms_rt_heap_find(uintptr_t address, struct tms_rt_heap_block *found)
{
    return false;
}

void tms_rt_heap_set_record(uintptr_t address, uint32_t record)
{
}

void tms_rt_heap_restart(void)
{
}
