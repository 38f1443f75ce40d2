/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: memory that is allocated piece by piece and freed all at once. Allocating a piece costs
 * an addition; chunks grow by doubling, so that a few pieces take little memory and many take few
 * allocations.
 */
#ifndef TMS_BASE_ARENA_H
#define TMS_BASE_ARENA_H

#include "base/memory.h"

struct tms_arena_chunk;

/* All zero at first. */
struct tms_arena {
    struct tms_arena_chunk *chunk; /* the last one; links to those before it */
};

/* Zeroed bytes with an alignment of 8; NULL if out of memory. */
void *tms_arena_take(struct tms_arena *arena, struct tms_memory *memory, size_t bytes);

/* The same at the start of a cache line. */
#define TMS_LINE 64
void *tms_arena_take_line(struct tms_arena *arena, struct tms_memory *memory, size_t bytes);

void tms_arena_clear(struct tms_arena *arena, struct tms_memory *memory);

#endif
