/* SPDX-License-Identifier: Apache-2.0 */
/* The turns of turn.h. */
#include "turn.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
#error "the turns must not be instrumented"
#endif

static unsigned now = 1;

/* Not syscall(), which the runtime interposes: it would take a wait for a turn for a rendezvous. */
static long call_system(long number, const void *a, long b, long c)
{
    register long none asm("r10") = 0;
    long result;

    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(none)
                 : "rcx", "r11", "memory");
    return result;
}

void turn_take(unsigned turn)
{
    unsigned seen;

    while ((seen = __atomic_load_n(&now, __ATOMIC_ACQUIRE)) != turn) {
        call_system(SYS_futex, &now, FUTEX_WAIT_PRIVATE, seen);
    }
}

void turn_pass(unsigned turn)
{
    __atomic_store_n(&now, turn, __ATOMIC_RELEASE);
    call_system(SYS_futex, &now, FUTEX_WAKE_PRIVATE, INT_MAX);
}

void turn_after_thread(int thread)
{
    const struct timespec moment = {.tv_nsec = 100000};

    while (call_system(SYS_tgkill, (const void *)(intptr_t)getpid(), thread, 0) == 0) {
        call_system(SYS_nanosleep, &moment, 0, 0);
    }
}
