/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long transactions with many locks: each step of a thread writes all of its own memory and then
 * takes one lock after another, thousands of times each, so that a transaction has many thousand
 * accesses and as many edges to the other thread's.
 */
#include "kernel.h"

#define LOCKS 2048
#define STEPS 4
#define WORDS 100000

static pthread_mutex_t m[LOCKS];
static long total[LOCKS], words, locks;

static void sweep(long *v)
{
    for (long i = 0; i < words; i++) {
        v[i]++;
    }
}

static void step(long *v)
{
    sweep(v);
    for (long i = 0; i < locks; i++) {
        pthread_mutex_lock(&m[i % LOCKS]);
        total[i % LOCKS]++;
        pthread_mutex_unlock(&m[i % LOCKS]);
    }
}

static void *work(void *argument)
{
    struct part *part = argument;
    long *v = need((size_t)words, sizeof(*v));

    for (int i = 0; i < STEPS; i++) {
        step(v);
    }
    part->sum = (uint64_t)v[words - 1];
    free(v);
    return NULL;
}

int main(int argc, char **argv)
{
    locks = (long)size_argument(argc, argv, 200000);
    words = locks < 2 * WORDS ? locks / 2 + 1 : WORDS;
    for (size_t i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&m[i], NULL);
    }
    uint64_t sum = run_parts(work, 0);
    for (size_t i = 0; i < LOCKS; i++) {
        sum = mix(sum + (uint64_t)total[i]);
    }
    return print_sum(sum);
}
