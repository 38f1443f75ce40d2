/* SPDX-License-Identifier: Apache-2.0 */
/* Arena allocation; see arena.h. */
#include "base/arena.h"

#define ALIGNED     8
#define LEAST_CHUNK 1024
#define MOST_CHUNK  (256 * 1024) /* beyond a single piece that is larger */

struct tms_arena_chunk {
    struct tms_arena_chunk *before;
    size_t size, used; /* bytes, these here included */
};

static size_t next_size(const struct tms_arena_chunk *last, size_t wanted)
{
    size_t size = last == NULL ? LEAST_CHUNK : 2 * last->size;

    size = size > MOST_CHUNK ? MOST_CHUNK : size;
    return wanted > size ? wanted : size;
}

/* Prefaulted with tms_table, as a piece may be read before it is written. */
static bool grow(struct tms_arena *arena, struct tms_memory *memory, size_t bytes)
{
    size_t size = next_size(arena->chunk, sizeof(struct tms_arena_chunk) + bytes);
    struct tms_arena_chunk *chunk = tms_table(memory, size, 1);

    if (chunk == NULL) {
        return false;
    }
    *chunk = (struct tms_arena_chunk){arena->chunk, size, sizeof(*chunk)};
    arena->chunk = chunk;
    return true;
}

/* Bytes to be left out, so that the next piece is aligned. */
static size_t gap(const struct tms_arena_chunk *chunk, size_t alignment)
{
    return -((uintptr_t)chunk + chunk->used) & (alignment - 1);
}

static bool has_room(const struct tms_arena_chunk *chunk, size_t bytes, size_t alignment)
{
    return chunk != NULL && chunk->size - chunk->used >= bytes + gap(chunk, alignment);
}

static void *take(struct tms_arena *arena, struct tms_memory *memory, size_t bytes,
                  size_t alignment)
{
    bytes = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (!has_room(arena->chunk, bytes, alignment) &&
        !grow(arena, memory, bytes + alignment - ALIGNED)) {
        return NULL;
    }
    struct tms_arena_chunk *chunk = arena->chunk;
    chunk->used += gap(chunk, alignment);
    char *piece = (char *)chunk + chunk->used;
    chunk->used += bytes;
    return piece;
}

void *tms_arena_take(struct tms_arena *arena, struct tms_memory *memory, size_t bytes)
{
    return take(arena, memory, bytes, ALIGNED);
}

void *tms_arena_take_line(struct tms_arena *arena, struct tms_memory *memory, size_t bytes)
{
    return take(arena, memory, bytes, TMS_LINE);
}

void tms_arena_clear(struct tms_arena *arena, struct tms_memory *memory)
{
    while (arena->chunk != NULL) {
        struct tms_arena_chunk *chunk = arena->chunk;
        arena->chunk = chunk->before;
        tms_release(memory, chunk, chunk->size, 1);
    }
}
