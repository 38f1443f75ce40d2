/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the runs of a hunt among processes. Runs have indexes 0, 1, … and the seeds S, S + 1, …;
 * shard I of N has the runs whose index is I modulo N. So all shards together do what one process
 * would do.
 */
#ifndef TMS_HUNT_SHARD_H
#define TMS_HUNT_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* The largest seed: JSON readers represent integers exactly up to here. */
#define TMS_SEED_MOST (UINT64_C(1) << 53)

struct tms_shard {
    uint64_t index, count; /* index < count */
};

/*
 * Parses "I/N" with I from 0 to N; N means 0, for users who count from 1. False if it is invalid.
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

/* The seed of a run; wraps around to 0 after the largest. */
static inline uint64_t tms_run_seed(uint64_t seed, uint64_t index)
{
    return (seed + index % TMS_SEED_MOST) % TMS_SEED_MOST;
}

#endif
