/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's mutex, in place of the C library's, which the program may have interposed: a futex
 * lock whose waits end when the process dies (tms_rt_dying).
 */
#ifndef TMS_RUNTIME_RUNTIME_MUTEX_H
#define TMS_RUNTIME_RUNTIME_MUTEX_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#include "runtime/core/rt.h"

/* A futex lock: no system call unless contended; not re-entrant. */
struct tms_rt_mutex {
    _Atomic uint32_t state; /* 0 free, 1 taken, 2 taken with possible waiters */
#ifndef NDEBUG
    _Atomic uintptr_t owner; /* &tms_rt_self of the holder; 0: free, or about to be set */
#endif
};

/* The process is ending in a signal handler: waits for locks are bounded from now on. */
extern bool tms_rt_dying;

#ifndef NDEBUG
static inline bool tms_rt_mutex_is_owned(const struct tms_rt_mutex *mutex)
{
    return atomic_load_explicit(&mutex->state, memory_order_relaxed) != 0 &&
           atomic_load_explicit(&mutex->owner, memory_order_relaxed) == (uintptr_t)&tms_rt_self;
}

/* For assertions: does the caller hold it, or not? Both are true while the process is dying. */
static inline bool tms_rt_mutex_is_mine(const struct tms_rt_mutex *mutex)
{
    return tms_rt_dying || tms_rt_mutex_is_owned(mutex);
}

static inline bool tms_rt_mutex_is_not_mine(const struct tms_rt_mutex *mutex)
{
    return tms_rt_dying || !tms_rt_mutex_is_owned(mutex);
}
#endif

static inline void tms_rt_mutex_note_owner(struct tms_rt_mutex *mutex, bool mine)
{
#ifdef NDEBUG
    (void)mutex;
    (void)mine;
#else
    atomic_store_explicit(&mutex->owner, mine ? (uintptr_t)&tms_rt_self : 0, memory_order_relaxed);
#endif
}

void tms_rt_mutex_wait(struct tms_rt_mutex *mutex);
void tms_rt_mutex_wake(struct tms_rt_mutex *mutex);

static inline void tms_rt_mutex_lock(struct tms_rt_mutex *mutex)
{
    uint32_t free = 0;

    assert(tms_rt_mutex_is_not_mine(mutex));
    if (!atomic_compare_exchange_strong_explicit(&mutex->state, &free, 1, memory_order_acquire,
                                                 memory_order_relaxed)) {
        tms_rt_mutex_wait(mutex);
    }
    tms_rt_mutex_note_owner(mutex, true);
}

static inline void tms_rt_mutex_unlock(struct tms_rt_mutex *mutex)
{
    assert(tms_rt_mutex_is_mine(mutex));
    tms_rt_mutex_note_owner(mutex, false);
    if (atomic_exchange_explicit(&mutex->state, 0, memory_order_release) == 2) {
        tms_rt_mutex_wake(mutex);
    }
}

/* In the child of a fork: the thread that held it does not exist there. */
static inline void tms_rt_mutex_restart(struct tms_rt_mutex *mutex)
{
    tms_rt_mutex_note_owner(mutex, false);
    atomic_store(&mutex->state, 0);
}

/* Tries for about a second; false if it is still taken. */
bool tms_rt_mutex_lock_soon(struct tms_rt_mutex *mutex);

#endif
