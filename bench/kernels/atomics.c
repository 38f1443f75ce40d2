/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock-free: the threads take pieces of work off an atomic counter, count values in a table of
 * atomic counters, and raise a maximum by compare-and-swap.
 */
#include <stdatomic.h>

#include "kernel.h"

#define PIECE  64u
#define COUNTS 4096u
#define MAXIMA 64u

static _Atomic size_t next_piece;
static _Atomic uint64_t counts[COUNTS], maxima[MAXIMA];

static void raise(_Atomic uint64_t *maximum, uint64_t value)
{
    uint64_t there = atomic_load(maximum);

    while (there < value && !atomic_compare_exchange_weak(maximum, &there, value)) {
    }
}

static void *count(void *argument)
{
    const struct part *part = argument;

    for (;;) {
        size_t piece = atomic_fetch_add(&next_piece, PIECE);
        if (piece >= part->size) {
            return NULL;
        }
        for (size_t i = piece; i < piece + PIECE; i++) {
            uint64_t value = mix(mix(i + 1));
            atomic_fetch_add(&counts[value % COUNTS], value >> 32);
            raise(&maxima[value % MAXIMA], value);
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    run_parts(count, size_argument(argc, argv, 6400000) / PIECE * PIECE);
    for (size_t i = 0; i < COUNTS; i++) {
        sum = mix(sum + atomic_load(&counts[i]));
    }
    for (size_t i = 0; i < MAXIMA; i++) {
        sum = mix(sum + atomic_load(&maxima[i]));
    }
    return print_sum(sum);
}
