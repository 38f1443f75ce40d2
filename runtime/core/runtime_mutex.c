/* SPDX-License-Identifier: Apache-2.0 */
/* The slow paths of the runtime's mutex; see runtime_mutex.h. */
#include "runtime/core/runtime_mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "runtime/core/raw_system_call.h"

bool tms_rt_dying;

void tms_rt_mutex_wait(struct tms_rt_mutex *mutex)
{
    for (int i = 0; i < 100; i++) {
        uint32_t free = 0;
        if (atomic_load_explicit(&mutex->state, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&mutex->state, &free, 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
            return;
        }
        __builtin_ia32_pause();
    }
    struct {
        long seconds, nanoseconds;
    } tenth = {0, 100000000};
    int waits = 0;
    while (atomic_exchange_explicit(&mutex->state, 2, memory_order_acquire) != 0) {
        if (tms_rt_dying && waits++ > 5) {
            return; /* without the lock: rather an inconsistent report than none */
        }
        tms_rt_raw(SYS_futex, (long)&mutex->state, FUTEX_WAIT_PRIVATE, 2, (long)&tenth, 0, 0);
    }
}

void tms_rt_mutex_wake(struct tms_rt_mutex *mutex)
{
    tms_rt_raw(SYS_futex, (long)&mutex->state, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

bool tms_rt_mutex_lock_soon(struct tms_rt_mutex *mutex)
{
    for (int i = 0; i < 1000; i++) {
        uint32_t free = 0;
        if (atomic_compare_exchange_strong_explicit(&mutex->state, &free, 1, memory_order_acquire,
                                                    memory_order_relaxed)) {
            tms_rt_mutex_note_owner(mutex, true);
            return true;
        }
        struct {
            long seconds, nanoseconds;
        } pause = {0, 1000000};
        tms_rt_raw(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
    }
    return false;
}
