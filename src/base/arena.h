/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is handed out piece by piece and given back all at once. A piece costs an addition;
 * the chunks that pieces are cut from grow by doubling, so that a few pieces take little memory,
 * and many take few allocations.
 */
#ifndef TMS_BASE_ARENA_H
#define TMS_BASE_ARENA_H

#include "base/memory.h"

struct tms_arena_chunk;

/* All zero at first. */
struct tms_arena {
    struct tms_arena_chunk *chunk; /* the last one; it knows those before it */
};

/* So many bytes, all zero, for anything that is aligned to 8; NULL when memory is short. */
void *tms_arena_take(struct tms_arena *arena, struct tms_memory *memory, size_t bytes);

/* The same at the start of a cache line. */
#define TMS_LINE 64
void *tms_arena_take_line(struct tms_arena *arena, struct tms_memory *memory, size_t bytes);

void tms_arena_clear(struct tms_arena *arena, struct tms_memory *memory);

#endif
