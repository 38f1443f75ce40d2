/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the runtime's own: mapped, never from malloc, whose callers it lives among. The
 * engine's allocations (base/memory.h) are served from here as well.
 */
#ifndef TMS_RUNTIME_RUNTIME_MEMORY_H
#define TMS_RUNTIME_RUNTIME_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* A system call: no cancellation point, no errno, and not the syscall() that is interposed. */
long tms_rt_raw(long number, long a, long b, long c, long d, long e, long f);

/* Zeroed pages, NULL when there are none. They stay until the process ends. */
void *tms_rt_map(size_t bytes);

/* For base/memory.h: every `struct tms_memory` of the runtime starts as TMS_RT_MEMORY. */
extern const struct tms_allocator tms_rt_allocator;
#define TMS_RT_MEMORY                                                                              \
    {                                                                                              \
        .allocator = &tms_rt_allocator                                                             \
    }

/* A futex lock: no system call unless contended; not re-entrant. */
struct tms_rt_mutex {
    _Atomic uint32_t state; /* 0 free, 1 taken, 2 taken with possible waiters */
};

/* The process is about to end in a signal handler: waits are bounded from now on. */
extern bool tms_rt_dying;

void tms_rt_mutex_wait(struct tms_rt_mutex *mutex);
void tms_rt_mutex_wake(struct tms_rt_mutex *mutex);

static inline void tms_rt_mutex_lock(struct tms_rt_mutex *mutex)
{
    uint32_t free = 0;

    if (!atomic_compare_exchange_strong_explicit(&mutex->state, &free, 1, memory_order_acquire,
                                                 memory_order_relaxed)) {
        tms_rt_mutex_wait(mutex);
    }
}

static inline void tms_rt_mutex_unlock(struct tms_rt_mutex *mutex)
{
    if (atomic_exchange_explicit(&mutex->state, 0, memory_order_release) == 2) {
        tms_rt_mutex_wake(mutex);
    }
}

/* Tries for about a second; false if it is still taken. */
bool tms_rt_mutex_lock_soon(struct tms_rt_mutex *mutex);

#endif
