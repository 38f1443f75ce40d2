/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash of a few numbers, word by word: good enough to tell them apart by 64 bits, and much
 * shorter than a hash of bytes.
 */
#ifndef TMS_BASE_HASH_MIX_H
#define TMS_BASE_HASH_MIX_H

#include <stdint.h>

static inline uint64_t tms_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

#endif
