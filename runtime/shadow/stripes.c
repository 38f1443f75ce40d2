/* SPDX-License-Identifier: Apache-2.0 */
/* Locks for atomic operations, by address: while one is carried out no other is on these bytes. */
#include "runtime/shadow/cells.h"

#define STRIPES 1024
static _Atomic uint32_t stripes[STRIPES];

void tms_rt_stripes_restart(void)
{
    for (int i = 0; i < STRIPES; i++) {
        atomic_store(&stripes[i], 0);
    }
}

static _Atomic uint32_t *stripe_of(uintptr_t address)
{
    return &stripes[(address >> 3) * 0x9e3779b1u >> 7 & (STRIPES - 1)];
}

void tms_rt_atomic_lock(uintptr_t address)
{
    _Atomic uint32_t *stripe = stripe_of(address);

    for (unsigned tries = 1; atomic_exchange_explicit(stripe, 1, memory_order_acquire) != 0;
         tries++) {
        if (tries % SPINS == 0) {
            tms_rt_yield();
        }
        __builtin_ia32_pause();
    }
}

void tms_rt_atomic_unlock(uintptr_t address)
{
    atomic_store_explicit(stripe_of(address), 0, memory_order_release);
}
