/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of the pools of a judge: numbered from 1 on, used again if they were given back. An
 * array moves when it grows, so elements are known by their numbers.
 */
#ifndef TMS_JUDGE_JUDGE_POOLS_H
#define TMS_JUDGE_JUDGE_POOLS_H

#include <assert.h>

#include "base/hash_mix.h"
#include "judge/judge.h"
#include "judge/judge_invariants.h"

/*
 * tms_judge_take_NAME: the number of a zeroed element, 0 when memory is short;
 * tms_judge_give_NAME: gives it back. Free elements are linked by `link`.
 */
#define TMS_JUDGE_DEFINE_POOL(name, pool, link)                                                    \
    static inline uint32_t tms_judge_take_##name(struct tms_judge *judge)                          \
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
    static inline void tms_judge_give_##name(struct tms_judge *judge, uint32_t number)             \
    {                                                                                              \
        assert(number > 0 && number <= judge->pool.count && number != judge->pool.free);           \
        judge->pool.at[number].link = judge->pool.free;                                            \
        judge->pool.free = number;                                                                 \
    }

#endif
