/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function with one critical section, called repeatedly from a loop: each call has its frame at
 * the same address, and none can be cut; nor is the loop's own code part of one. The same with 64
 * threads, in a callback of the C library, and with a jump out of it.
 */
#include <setjmp.h>
#include <stdlib.h>

#include "unharmed.h"

#define THREADS 64
#define ROUNDS  200

static long total;
static __thread jmp_buf out;

__attribute__((noinline)) static void add(long amount)
{
    pthread_mutex_lock(&unharmed_lock);
    total += amount;
    pthread_mutex_unlock(&unharmed_lock);
}

__attribute__((noinline)) static void add_and_jump(long amount)
{
    add(amount);
    longjmp(out, 1);
}

static int compare(const void *a, const void *b)
{
    add(0);
    return *(const int *)a - *(const int *)b;
}

static void *worker(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        add(1);
        pthread_mutex_lock(&unharmed_lock); /* no longer in add */
        total++;
        pthread_mutex_unlock(&unharmed_lock);
        if (setjmp(out) == 0) {
            add_and_jump(1);
        }
    }
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof(numbers[0]), compare);
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, worker, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    say("%ld", total);
    return 0;
}
