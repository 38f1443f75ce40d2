/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A short trace in memory, as the differential test makes, checks, shrinks and prints it. The
 * ids in its events belong to a context that the caller keeps.
 */
#ifndef TMS_DIFFERENTIAL_TRACE_H
#define TMS_DIFFERENTIAL_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "tmesis/tmesis.h"

#define TMS_TRACE_MOST 256

struct tms_trace {
    struct tms_event events[TMS_TRACE_MOST];
    size_t count;
    unsigned split; /* enum tms_split: the setting under which it is checked */
};

/* splitmix64: a sequence that depends on the seed alone, on every machine. */
static inline uint64_t tms_random(uint64_t *state)
{
    uint64_t word = *state += 0x9e3779b97f4a7c15u;

    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
}

/* 0 to bound - 1; the bias is negligible for tests. */
static inline unsigned tms_random_below(uint64_t *state, unsigned bound)
{
    return (unsigned)((tms_random(state) >> 32) * bound >> 32);
}

/* Names that random traces are made of. */
struct tms_vocabulary;

/* NULL when memory is short. */
struct tms_vocabulary *tms_vocabulary_new(struct tms_context *context);
void tms_vocabulary_free(struct tms_vocabulary *vocabulary);

/* Makes the trace of a seed: always the same one, and always well-formed. */
void tms_trace_make(const struct tms_vocabulary *vocabulary, uint64_t seed,
                    struct tms_trace *trace);

/* The name of the profile that a seed chooses. */
const char *tms_trace_profile(uint64_t seed);

/* Writes it as STD text. */
void tms_trace_print(const struct tms_trace *trace, const struct tms_context *context, FILE *to);

/* Does the trace still show the fault? Malformed traces don't. */
typedef bool tms_trace_shows(void *user, const struct tms_trace *trace);

/* Deletes events as long as the rest still shows it; no single event can then be spared. */
void tms_trace_shrink(struct tms_trace *trace, tms_trace_shows *shows, void *user);

#endif
