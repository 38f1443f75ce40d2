/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of `judge` as records of the spool: identified by addresses, counted in place. The
 * caller holds the judge lock.
 */
#ifndef TMS_RUNTIME_JUDGE_RECORDS_H
#define TMS_RUNTIME_JUDGE_RECORDS_H

#include "judge/judge.h"
#include "runtime/core/thread.h"

/* Numbers of threads in the core; 1 represents all threads that have ended. */
#define TMS_RT_JUDGED_THREAD(index) ((index) + 1)

/* Some of 8 aligned bytes as one number: where they begin, and how many they are. */
static inline uint64_t tms_rt_judged_name(uint64_t address, uint8_t bytes)
{
    return (address + (unsigned)__builtin_ctz(bytes)) << 8 |
           (uint64_t)(8 - __builtin_ctz(bytes) - (__builtin_clz((unsigned)bytes) - 24));
}

/*
 * The number, from 1 on, of the object that the memory belongs to: an allocation site or a
 * variable.
 */
uint32_t tms_rt_judged_object(uint64_t name);

/*
 * The memory is accessed in a section: records the heap block that it is in, once per block.
 * Returns the number of that record, counted from 1, by which the reader names the memory: a later
 * block may have the same address. 0: it is in no heap block.
 */
uint32_t tms_rt_judged_learn(uint64_t name);

/* Evidence was found, for the first time or again. */
void tms_rt_judged_found(const struct tms_judge *core, uint32_t evidence, bool first);

/*
 * Writes the counts of functions and the places where threads wait; `runs` are executions by label.
 */
void tms_rt_judged_finish(const struct tms_judge *core, const uint64_t *runs, size_t count);

void tms_rt_judged_restart(void);

#endif
