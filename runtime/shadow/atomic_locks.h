/* SPDX-License-Identifier: Apache-2.0 */
/* Striped locks under which atomic operations run (atomic_locks.c). */
#ifndef TMS_RUNTIME_ATOMIC_LOCKS_H
#define TMS_RUNTIME_ATOMIC_LOCKS_H

#include "runtime/core/runtime_mutex.h"
#include "runtime/core/thread.h"

#define TMS_RT_STRIPES 1024
uint32_t tms_rt_stripe(uintptr_t address);
void tms_rt_stripe_lock(uint32_t stripe);
void tms_rt_stripe_unlock(uint32_t stripe);
#ifndef NDEBUG
bool tms_rt_stripe_is_mine(uint32_t stripe); /* for assertions: does the caller hold it? */
#endif

/* For atomic operations on objects that are too large for any instruction. */
extern struct tms_rt_mutex tms_rt_wide_atomics;

/* In the child of a fork. */
void tms_rt_stripes_restart(void);

#endif
