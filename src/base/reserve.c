/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by doubling; see memory.h. The same whoever provides the memory. */
#include <string.h>

#include "base/memory.h"

size_t tms_capacity(size_t capacity, size_t wanted, size_t least)
{
    if (capacity < least) {
        capacity = least;
    }
    while (capacity < wanted) {
        capacity *= 2;
    }
    return capacity;
}

bool tms_reserve(struct tms_memory *memory, void *array, size_t *capacity, size_t wanted,
                 size_t least, size_t size)
{
    void *block; /* copied as bytes: the caller's pointer has a type of its own */
    size_t grown = tms_capacity(*capacity, wanted, least);

    memcpy(&block, array, sizeof(block));
    block = tms_resize(memory, block, *capacity, grown, size);
    if (block == NULL) {
        return false;
    }
    memcpy(array, &block, sizeof(block));
    *capacity = grown;
    return true;
}
