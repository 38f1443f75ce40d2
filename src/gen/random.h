/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna, 2018),
 * seeded by splitmix64. Integers only, because the last bit of a floating-point result may
 * differ between machines, and one bit would make another trace.
 */
#ifndef TMS_GEN_RANDOM_H
#define TMS_GEN_RANDOM_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define TMS_MILLION 1000000u

__extension__ typedef unsigned __int128 tms_wide;

/* whole * share / of, where the product may not fit in 64 bits but the result does. */
static inline uint64_t tms_part(uint64_t whole, uint64_t share, uint64_t of)
{
    return (uint64_t)((tms_wide)whole * share / of);
}

struct tms_random {
    uint64_t state[4];
};

static inline void tms_random_seed(struct tms_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        random->state[i] = z ^ (z >> 31);
    }
}

static inline uint64_t tms_rotate(uint64_t word, int bits)
{
    return (word << bits) | (word >> (64 - bits));
}

static inline uint64_t tms_random_next(struct tms_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = tms_rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = tms_rotate(s[3], 45);
    return result;
}

/*
 * A number from 0 to limit - 1; limit is 1 to 2^32. The bias is at most limit / 2^32, which is not
 * noticeable in a trace.
 */
static inline uint64_t tms_random_below(struct tms_random *random, uint64_t limit)
{
    assert(limit > 0 && limit <= (uint64_t)1 << 32);
    return ((tms_random_next(random) >> 32) * limit) >> 32;
}

/* True with a probability in millionths. */
static inline bool tms_chance(struct tms_random *random, uint32_t millionths)
{
    return tms_random_below(random, TMS_MILLION) < millionths;
}

#endif
