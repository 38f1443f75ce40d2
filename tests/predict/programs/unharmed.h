/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For programs that do what a library in their process could spoil. Each scene says what came out,
 * and takes locks on the way, so that there is something to be looked at in every function.
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
    __asm__ volatile(""); /* no jump in the place of the last call */
}

#define say(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

#ifdef __cplusplus
}
#endif
#endif
