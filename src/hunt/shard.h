/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of a hunt, divided among processes. Runs have indexes 0, 1, … and the seeds S, S + 1, …;
 * shard I of N has the runs whose index leaves the remainder I modulo N. So what all shards do
 * together is what one process would do.
 */
#ifndef TMS_HUNT_SHARD_H
#define TMS_HUNT_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* The largest seed: what JSON readers take for a whole number. */
#define TMS_SEED_MOST (UINT64_C(1) << 53)

struct tms_shard {
    uint64_t index, count; /* index < count */
};

/* From "I/N" with I from 0 to N; N is the same as 0, for those who count from 1. False: it is not.
 */
bool tms_shard_parse(const char *text, struct tms_shard *shard);

/* The index of the run that the shard makes after `done` others. */
static inline uint64_t tms_shard_run(const struct tms_shard *shard, uint64_t done)
{
    return shard->index + done * shard->count;
}

/* How many of the first `runs` indexes are the shard's. */
static inline uint64_t tms_shard_share(const struct tms_shard *shard, uint64_t runs)
{
    return runs > shard->index ? (runs - shard->index - 1) / shard->count + 1 : 0;
}

/* The seed of a run; the numbers start again from 0 after the largest. */
static inline uint64_t tms_run_seed(uint64_t seed, uint64_t index)
{
    return (seed + index % TMS_SEED_MOST) % TMS_SEED_MOST;
}

#endif
