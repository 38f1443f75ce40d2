/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting by numbers, byte by byte from the lowest on; see radix_sort.h. */
#include "base/radix_sort.h"

#include <string.h>

#define BYTE_BITS   8
#define BYTE_VALUES 256

static unsigned byte_of(const struct tms_numbered *one, unsigned shift)
{
    return one->number >> shift & (BYTE_VALUES - 1);
}

static void sort_by_byte(const struct tms_numbered *from, struct tms_numbered *to, size_t count,
                         unsigned shift)
{
    size_t next[BYTE_VALUES] = {0}; /* how many there are of each; then, where the next one goes */
    size_t before = 0;

    for (size_t i = 0; i < count; i++) {
        next[byte_of(&from[i], shift)]++;
    }
    for (unsigned value = 0; value < BYTE_VALUES; value++) {
        size_t of_value = next[value];
        next[value] = before;
        before += of_value;
    }
    for (size_t i = 0; i < count; i++) {
        to[next[byte_of(&from[i], shift)]++] = from[i];
    }
}

void tms_numbered_sort(struct tms_numbered *list, struct tms_numbered *spare, size_t count)
{
    struct tms_numbered *from = list, *to = spare;
    uint64_t all = 0;

    for (size_t i = 0; i < count; i++) {
        all |= list[i].number;
    }
    for (unsigned shift = 0; shift < 64 && all >> shift != 0; shift += BYTE_BITS) {
        sort_by_byte(from, to, count, shift);
        struct tms_numbered *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != list) {
        memcpy(list, from, count * sizeof(*list));
    }
}
