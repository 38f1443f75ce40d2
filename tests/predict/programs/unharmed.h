/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs whose behaviour a preloaded library could break. Each scene prints its result, and
 * takes locks on the way, so that every function is on a watched stack.
 */
#ifndef TMS_TESTS_UNHARMED_H
#define TMS_TESTS_UNHARMED_H

#include <pthread.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

static pthread_mutex_t unharmed_lock = PTHREAD_MUTEX_INITIALIZER;

/* An operation on a lock, with a frame of its own. */
__attribute__((noinline)) static void touch(void)
{
    pthread_mutex_lock(&unharmed_lock);
    pthread_mutex_unlock(&unharmed_lock);
    __asm__ volatile(""); /* prevents a tail call */
}

#define say(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

#ifdef __cplusplus
}
#endif
#endif
