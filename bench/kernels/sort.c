/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quicksort of one half of an array by each thread, which the first merges: recursion, small
 * functions that are called often, memory that changes hands once.
 */
#include "kernel.h"

static uint32_t *numbers;

static void swap(uint32_t *one, uint32_t *other)
{
    uint32_t kept = *one;

    *one = *other;
    *other = kept;
}

static void insertion_sort(uint32_t *first, uint32_t *last)
{
    for (uint32_t *at = first + 1; at < last; at++) {
        uint32_t number = *at;
        uint32_t *hole = at;
        for (; hole > first && hole[-1] > number; hole--) {
            *hole = hole[-1];
        }
        *hole = number;
    }
}

/* The middle one of three goes to the front. */
static uint32_t choose_pivot(uint32_t *first, uint32_t *last)
{
    uint32_t *middle = first + (last - first) / 2;

    if (*middle < *first) {
        swap(middle, first);
    }
    if (last[-1] < *first) {
        swap(&last[-1], first);
    }
    if (last[-1] < *middle) {
        swap(&last[-1], middle);
    }
    swap(first, middle);
    return *first;
}

static void quicksort(uint32_t *first, uint32_t *last)
{
    while (last - first > 12) {
        uint32_t pivot = choose_pivot(first, last);
        uint32_t *low = first, *high = last;
        for (;;) {
            do {
                low++;
            } while (low < last && *low < pivot);
            do {
                high--;
            } while (*high > pivot);
            if (low >= high) {
                break;
            }
            swap(low, high);
        }
        swap(first, high);
        quicksort(high + 1, last);
        last = high;
    }
    insertion_sort(first, last);
}

static void *sort_half(void *argument)
{
    const struct part *part = argument;
    size_t half = part->size / 2;
    size_t first = part->index == 0 ? 0 : half;
    size_t last = part->index == 0 ? half : part->size;

    quicksort(numbers + first, numbers + last);
    return NULL;
}

static uint64_t merge(const uint32_t *one, const uint32_t *other, size_t size, uint32_t *merged)
{
    const uint32_t *one_end = other, *other_end = one + size;
    uint64_t sum = 0;

    for (size_t i = 0; i < size; i++) {
        merged[i] = other == other_end || (one < one_end && *one <= *other) ? *one++ : *other++;
        sum = mix(sum + merged[i]);
    }
    return sum;
}

int main(int argc, char **argv)
{
    size_t size = size_argument(argc, argv, 1500000);
    uint64_t state = 1;

    numbers = need(size, sizeof(*numbers));
    for (size_t i = 0; i < size; i++) {
        numbers[i] = (uint32_t)next_random(&state);
    }
    run_parts(sort_half, size);
    return print_sum(merge(numbers, numbers + size / 2, size, need(size, sizeof(*numbers))));
}
