/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things sorted by a number that each of them has: one walk over all of them for each byte of the
 * largest number, and no comparisons. Those with the same number stay in the order they had, so
 * that what was sorted by one number can be sorted by another that counts more.
 */
#ifndef TMS_BASE_RADIX_SORT_H
#define TMS_BASE_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

struct tms_numbered {
    uint64_t number;
    size_t at; /* which one it is */
};

/* `spare` has room for as many. */
void tms_numbered_sort(struct tms_numbered *list, struct tms_numbered *spare, size_t count);

#endif
