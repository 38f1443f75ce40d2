/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by doubling. */
#ifndef TMS_SPOOL_GROW_H
#define TMS_SPOOL_GROW_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Room for one more in an array of `count` elements; `array` is the address of the pointer to its
 * first one, which is for free() in the end. False when memory is short: nothing has changed.
 */
#define TMS_GROW(array, capacity, count)                                                           \
    ((count) < *(capacity) || tms_grow(array, capacity, sizeof(**(array))))
bool tms_grow(void *array, size_t *capacity, size_t size);

#endif
