/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that random traces are made of. Some variables belong to objects, and one only
 * looks as if it did; the first label is that of a function that is not atomic.
 */
#ifndef TMS_DIFFERENTIAL_VOCABULARY_H
#define TMS_DIFFERENTIAL_VOCABULARY_H

#include <stdint.h>

#define TMS_THREADS    16
#define TMS_VARIABLES  19
#define TMS_LOCKS      4
#define TMS_LABELS     4
#define TMS_CONDITIONS 2
#define TMS_BARRIERS   2
#define TMS_OBJECTS    3
#define TMS_CHANNELS   2

struct tms_vocabulary {
    uint32_t threads[TMS_THREADS], variables[TMS_VARIABLES], locks[TMS_LOCKS], labels[TMS_LABELS];
    uint32_t conditions[TMS_CONDITIONS], barriers[TMS_BARRIERS], objects[TMS_OBJECTS];
    uint32_t channels[TMS_CHANNELS];
};

struct tms_trace;

/*
 * A trace of blocks and accesses, in which no cycle closes before most of it is over (late.c).
 */
void tms_trace_make_late(const struct tms_vocabulary *vocabulary, uint64_t random, unsigned threads,
                         unsigned length, struct tms_trace *trace);

#endif
