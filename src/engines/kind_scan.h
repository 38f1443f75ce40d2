/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the few operations that are no accesses, eight at a time and branch-free, because their
 * positions are unpredictable. Kinds are those of events or of operations, a byte each.
 */
#ifndef TMS_ENGINES_KIND_SCAN_H
#define TMS_ENGINES_KIND_SCAN_H

#include <stddef.h>
#include <stdint.h>

#define TMS_EACH_BYTE UINT64_C(0x0101010101010101)

/* The kinds of eight elements `stride` bytes apart, a byte each, the first in the lowest. */
static inline uint64_t tms_kinds_of_eight(const uint8_t *kind, size_t stride)
{
    uint64_t kinds = 0;

    for (unsigned i = 0; i < 8; i++) {
        kinds |= (uint64_t)kind[i * stride] << 8 * i;
    }
    return kinds;
}

/*
 * The highest bit of each byte that is not this kind. Kinds are small; bytes read past the end of a
 * list may not be, and carry, but only into higher bytes.
 */
static inline uint64_t tms_not_kind(uint64_t kinds, uint8_t kind)
{
    return (kinds ^ TMS_EACH_BYTE * kind) + TMS_EACH_BYTE * 0x7f;
}

/* The same of each that is neither this kind, which is even, nor the next. */
static inline uint64_t tms_neither_kind(uint64_t kinds, uint8_t even)
{
    return tms_not_kind(kinds & TMS_EACH_BYTE * 0xfe, even);
}

/* The highest bits of eight bytes, as one byte. */
static inline uint64_t tms_bits_of_eight(uint64_t bytes)
{
    return (bytes >> 7 & TMS_EACH_BYTE) * UINT64_C(0x0102040810204080) >> 56;
}

#endif
