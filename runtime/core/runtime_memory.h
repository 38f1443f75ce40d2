/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the runtime: mapped, never from malloc, because the runtime is called from inside
 * malloc. The engine's allocations (base/memory.h) come from here as well.
 */
#ifndef TMS_RUNTIME_RUNTIME_MEMORY_H
#define TMS_RUNTIME_RUNTIME_MEMORY_H

#include <stddef.h>

#include "base/memory.h"

/*
 * In the child of a fork, before anything else: resets the lock of the free lists and empties the
 * lists, because another thread may have been changing them. What was free is lost.
 */
void tms_rt_memory_restart(void);

/* Zeroed pages, which are never unmapped; NULL if there are none. */
void *tms_rt_map(size_t bytes);

/* For base/memory.h: every `struct tms_memory` of the runtime starts as TMS_RT_MEMORY. */
extern const struct tms_allocator tms_rt_allocator;
#define TMS_RT_MEMORY                                                                              \
    {                                                                                              \
        .allocator = &tms_rt_allocator                                                             \
    }

#endif
