/* SPDX-License-Identifier: Apache-2.0 */
/* Locks for atomic operations, by address: while one is carried out no other is on these bytes. */
#include "runtime/shadow/cells.h"

static _Atomic uint32_t stripes[TMS_RT_STRIPES];

void tms_rt_stripes_restart(void)
{
    for (int i = 0; i < TMS_RT_STRIPES; i++) {
        atomic_store(&stripes[i], 0);
    }
}

uint32_t tms_rt_stripe(uintptr_t address)
{
    return (uint32_t)(address >> 3) * 0x9e3779b1u >> 7 & (TMS_RT_STRIPES - 1);
}

void tms_rt_stripe_lock(uint32_t stripe)
{
    for (unsigned tries = 1;
         atomic_exchange_explicit(&stripes[stripe], 1, memory_order_acquire) != 0; tries++) {
        if (tries % SPINS == 0) {
            tms_rt_yield();
        }
        __builtin_ia32_pause();
    }
}

void tms_rt_stripe_unlock(uint32_t stripe)
{
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
