/* SPDX-License-Identifier: Apache-2.0 */
#include "spool/grow.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 64

bool tms_grow(void *array, size_t *capacity, size_t size)
{
    size_t wanted = *capacity == 0 ? LEAST : 2 * *capacity;
    void *block; /* copied as bytes: the caller's pointer has a type of its own */

    memcpy(&block, array, sizeof(block));
    block = realloc(block, wanted * size);
    if (block == NULL) {
        return false;
    }
    memcpy(array, &block, sizeof(block));
    *capacity = wanted;
    return true;
}
