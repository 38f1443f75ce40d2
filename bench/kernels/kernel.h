/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the kernels: a deterministic random generator, two threads, and the line that every
 * kernel prints. It shows the result, which must not depend on the order in which the threads ran.
 */
#ifndef TMS_BENCH_KERNEL_H
#define TMS_BENCH_KERNEL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 2

/* One of the threads of a kernel. */
struct part {
    unsigned index; /* from 0 on */
    size_t size;    /* of the whole work */
    uint64_t sum;   /* its result */
};

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Spreads the bits of a number. */
static inline uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return number ^ number >> 29;
}

static inline size_t size_argument(int argc, char **argv, size_t otherwise)
{
    return argc > 1 ? strtoull(argv[1], NULL, 10) : otherwise;
}

/* Memory, or the end. */
static inline void *need(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL) {
        fputs("kernel: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

/* Runs the threads and adds up their results. */
static inline uint64_t run_parts(void *(*work)(void *), size_t size)
{
    pthread_t threads[THREADS];
    struct part parts[THREADS];
    uint64_t sum = 0;

    for (unsigned i = 0; i < THREADS; i++) {
        parts[i].index = i;
        parts[i].size = size;
        parts[i].sum = 0;
        if (pthread_create(&threads[i], NULL, work, &parts[i]) != 0) {
            fputs("kernel: no thread\n", stderr);
            exit(1);
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += parts[i].sum;
    }
    return sum;
}

static inline int print_sum(uint64_t sum)
{
    return printf("%016llx\n", (unsigned long long)sum) < 0;
}

#endif
