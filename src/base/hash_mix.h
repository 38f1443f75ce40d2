/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash of numbers, word by word: one multiplication and one shift for each. Distinguishes keys
 * of a few words by 64 bits, and is much shorter than a hash of bytes. Both halves of the result
 * are well mixed.
 */
#ifndef TMS_BASE_HASH_MIX_H
#define TMS_BASE_HASH_MIX_H

#include <stdint.h>

#define TMS_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* 2^64 divided by the golden ratio, odd */

/* The hash of one more word, after those that gave `hash`. */
static inline uint64_t tms_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * TMS_HASH_FACTOR;
    return hash ^ hash >> 29;
}

/* The hash of one word. */
static inline uint64_t tms_hash(uint64_t word)
{
    return tms_mix(0, word);
}

#endif
