/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Striped locks, by address: they exclude other atomic operations on the same bytes. Inside them,
 * objects that no instruction can access atomically are left to libatomic or, in a program without
 * it, accessed under tms_rt_wide_atomics (tsan_atomics.c).
 */
#include <assert.h>

#include "base/hash_mix.h"
#include "runtime/core/engine_online.h"
#include "runtime/shadow/atomic_locks.h"
#include "runtime/shadow/cells.h"

static _Atomic uint32_t stripes[TMS_RT_STRIPES];
struct tms_rt_mutex tms_rt_wide_atomics;

#ifndef NDEBUG
static _Atomic uintptr_t
    owners[TMS_RT_STRIPES]; /* &tms_rt_self of the holder; 0: free, or about to be set */

bool tms_rt_stripe_is_mine(uint32_t stripe)
{
    return atomic_load_explicit(&owners[stripe], memory_order_relaxed) == (uintptr_t)&tms_rt_self;
}
#endif

static void note_owner(uint32_t stripe, bool mine)
{
#ifdef NDEBUG
    (void)stripe;
    (void)mine;
#else
    atomic_store_explicit(&owners[stripe], mine ? (uintptr_t)&tms_rt_self : 0,
                          memory_order_relaxed);
#endif
}

void tms_rt_stripes_restart(void)
{
    for (int i = 0; i < TMS_RT_STRIPES; i++) {
        note_owner((uint32_t)i, false);
        atomic_store(&stripes[i], 0);
    }
    tms_rt_mutex_restart(&tms_rt_wide_atomics);
}

/* Avoids the bits that the tables of a stripe use (core/thread_clocks.c). */
uint32_t tms_rt_stripe(uintptr_t address)
{
    return tms_hash(address >> 3) >> 48 & (TMS_RT_STRIPES - 1);
}

void tms_rt_stripe_lock(uint32_t stripe)
{
    assert(stripe < TMS_RT_STRIPES && !tms_rt_stripe_is_mine(stripe));
    for (unsigned tries = 1;
         atomic_exchange_explicit(&stripes[stripe], 1, memory_order_acquire) != 0; tries++) {
        if (tries % SPINS == 0) {
            tms_rt_yield();
        }
        __builtin_ia32_pause();
    }
    note_owner(stripe, true);
}

void tms_rt_stripe_unlock(uint32_t stripe)
{
    assert(tms_rt_stripe_is_mine(stripe));
    note_owner(stripe, false);
    atomic_store_explicit(&stripes[stripe], 0, memory_order_release);
}

void tms_rt_atomic_lock(uintptr_t address)
{
    tms_rt_stripe_lock(tms_rt_stripe(address));
}

void tms_rt_atomic_unlock(uintptr_t address)
{
    tms_rt_stripe_unlock(tms_rt_stripe(address));
}
