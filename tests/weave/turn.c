/* SPDX-License-Identifier: Apache-2.0 */
/* The turns of turn.h. */
#include "turn.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
#error "the turns must not be instrumented"
#endif

static unsigned now = 1;

void turn_take(unsigned turn)
{
    unsigned seen;

    while ((seen = __atomic_load_n(&now, __ATOMIC_ACQUIRE)) != turn) {
        syscall(SYS_futex, &now, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    }
}

void turn_pass(unsigned turn)
{
    __atomic_store_n(&now, turn, __ATOMIC_RELEASE);
    syscall(SYS_futex, &now, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void turn_after_thread(int thread)
{
    const struct timespec moment = {.tv_nsec = 100000};

    while (syscall(SYS_tgkill, getpid(), thread, 0) == 0) {
        syscall(SYS_nanosleep, &moment, NULL);
    }
}
