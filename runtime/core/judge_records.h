/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `judge` found, as records of the spool: named by addresses, counted in place. Under the
 * judge lock.
 */
#ifndef TMS_RUNTIME_JUDGE_RECORDS_H
#define TMS_RUNTIME_JUDGE_RECORDS_H

#include "judge/judge.h"
#include "runtime/core/thread.h"

/* Threads in the core: 1 is one that has ended. */
#define TMS_RT_JUDGED_THREAD(index) ((index) + 1)

/* Some of 8 bytes as one number: where they begin, and how many they are. */
static inline uint64_t tms_rt_judged_name(uint64_t address, uint8_t bytes)
{
    return (address + (unsigned)__builtin_ctz(bytes)) << 8 |
           (uint64_t)(8 - __builtin_ctz(bytes) - (__builtin_clz((unsigned)bytes) - 24));
}

/* What the memory belongs to: an allocation site, a variable. From 1 on. */
uint32_t tms_rt_judged_object(uint64_t name);

/* The memory is accessed in a section: says which block of the heap it is in, once for each block.
 */
void tms_rt_judged_learn(uint64_t name);

/* Evidence is new, or has occurred once more. */
void tms_rt_judged_found(const struct tms_judge *core, uint32_t evidence, bool first);

/* The counts of functions, and where threads wait; `runs` are executions by label. */
void tms_rt_judged_finish(const struct tms_judge *core, const uint64_t *runs, size_t count);

void tms_rt_judged_restart(void);

#endif
