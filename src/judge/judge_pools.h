/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pools of a judge. Elements are numbered from 1, and freed elements are reused. An array moves
 * when it grows, so elements are referred to by number.
 */
#ifndef TMS_JUDGE_JUDGE_POOLS_H
#define TMS_JUDGE_JUDGE_POOLS_H

#include <assert.h>

#include "base/hash_mix.h"
#include "judge/judge.h"
#include "judge/judge_invariants.h"

/*
 * tms_judge_take_NAME: the number of a zeroed element, 0 if out of memory; tms_judge_give_NAME:
 * frees it. The free list is linked by `link`. A file need not use both: clang would warn.
 */
#define TMS_JUDGE_DEFINE_POOL(name, pool, link)                                                    \
    __attribute__((unused)) static inline uint32_t tms_judge_take_##name(struct tms_judge *judge)  \
    {                                                                                              \
        uint32_t number = judge->pool.free;                                                        \
        if (number != 0) {                                                                         \
            judge->pool.free = judge->pool.at[number].link;                                        \
        } else if (!TMS_RESERVE(judge->memory, &judge->pool.at, &judge->pool.capacity,             \
                                judge->pool.count + 2, 64)) {                                      \
            judge->failed = true;                                                                  \
            return 0;                                                                              \
        } else {                                                                                   \
            number = (uint32_t)++judge->pool.count;                                                \
        }                                                                                          \
        memset(&judge->pool.at[number], 0, sizeof(judge->pool.at[number]));                        \
        return number;                                                                             \
    }                                                                                              \
    __attribute__((unused)) static inline void tms_judge_give_##name(struct tms_judge *judge,      \
                                                                     uint32_t number)              \
    {                                                                                              \
        assert(number > 0 && number <= judge->pool.count && number != judge->pool.free);           \
        judge->pool.at[number].link = judge->pool.free;                                            \
        judge->pool.free = number;                                                                 \
    }

#endif
