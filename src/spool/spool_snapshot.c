/* SPDX-License-Identifier: Apache-2.0 */
/* A spool that is being written; see spool_snapshot.h. */
#include "spool/spool_snapshot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "protocol/spool_format.h"

#define TRIES 10000 /* then the last reading is used, and the event reader truncates it */

/* A chunk that may still grow, or be divided. */
struct growing {
    uint64_t at;
    uint32_t used, size;
};

struct snapshot {
    const unsigned char *file; /* the live mapping, which the process changes */
    uint64_t file_size;
    uint64_t end; /* of what is in use */
    struct growing *chunks;
    size_t count, capacity;
};

static uint32_t load(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static uint64_t end_of(const struct snapshot *snapshot)
{
    const struct tms_spool_header *header = (const void *)snapshot->file;
    uint64_t end = __atomic_load_n(&header->end, __ATOMIC_ACQUIRE);

    end = end < TMS_SPOOL_HEADER ? TMS_SPOOL_HEADER : end;
    return end < snapshot->file_size ? end : snapshot->file_size;
}

static const struct tms_spool_chunk *chunk_at(const struct snapshot *snapshot, uint64_t at)
{
    return (const void *)(snapshot->file + at);
}

static bool is_full(const struct tms_spool_chunk *chunk)
{
    return load(&chunk->kind) == TMS_SPOOL_EVENTS &&
           load(&chunk->used) + sizeof(struct tms_spool_event) > load(&chunk->size);
}

/* Skips invalid data as tms_spool_open does: up to the next whole chunk. */
static uint64_t length_at(const struct snapshot *snapshot, uint64_t at)
{
    uint64_t left = TMS_SPOOL_CHUNK - (at - TMS_SPOOL_HEADER) % TMS_SPOOL_CHUNK;
    uint64_t size = load(&chunk_at(snapshot, at)->size);

    return size >= sizeof(struct tms_spool_chunk) && size % 8 == 0 && size <= left ? size : left;
}

static bool find_growing(struct snapshot *snapshot)
{
    snapshot->count = 0;
    snapshot->end = end_of(snapshot);
    for (uint64_t at = TMS_SPOOL_HEADER;
         at < snapshot->end && snapshot->end - at >= sizeof(struct tms_spool_chunk);
         at += length_at(snapshot, at)) {
        if (is_full(chunk_at(snapshot, at))) {
            continue;
        }
        if (!TMS_RESERVE(NULL, &snapshot->chunks, &snapshot->capacity, snapshot->count + 1, 64)) {
            return false;
        }
        snapshot->chunks[snapshot->count++] =
            (struct growing){.at = at, .size = load(&chunk_at(snapshot, at)->size)};
    }
    return true;
}

static void read_used(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        snapshot->chunks[i].used = load(&chunk_at(snapshot, snapshot->chunks[i].at)->used);
    }
}

enum change { SAME, GROWN, DIVIDED };

static enum change look_again(const struct snapshot *snapshot)
{
    enum change change = end_of(snapshot) != snapshot->end ? DIVIDED : SAME;

    for (size_t i = 0; i < snapshot->count && change != DIVIDED; i++) {
        const struct tms_spool_chunk *chunk = chunk_at(snapshot, snapshot->chunks[i].at);
        if (load(&chunk->size) != snapshot->chunks[i].size) {
            change = DIVIDED;
        } else if (load(&chunk->used) != snapshot->chunks[i].used) {
            change = GROWN;
        }
    }
    return change;
}

/* Reads until nothing was added between two readings. */
static bool find_moment(struct snapshot *snapshot)
{
    enum change change = DIVIDED;

    for (int tries = 0; tries < TRIES && change != SAME; tries++) {
        if (change == DIVIDED && !find_growing(snapshot)) {
            return false;
        }
        read_used(snapshot);
        change = look_again(snapshot);
    }
    return true;
}

static unsigned char *copy(const struct snapshot *snapshot)
{
    unsigned char *map = mmap(NULL, snapshot->end, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map == MAP_FAILED) {
        return NULL;
    }
    memcpy(map, snapshot->file, snapshot->end);
    ((struct tms_spool_header *)(void *)map)->end = snapshot->end;
    for (size_t i = 0; i < snapshot->count; i++) {
        struct tms_spool_chunk *chunk = (void *)(map + snapshot->chunks[i].at);
        chunk->used = snapshot->chunks[i].used;
        chunk->size = snapshot->chunks[i].size;
    }
    return map;
}

unsigned char *tms_snapshot(int fd, uint64_t file_size, size_t *size)
{
    struct snapshot snapshot = {.file_size = file_size};
    void *file = mmap(NULL, file_size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
    unsigned char *map = NULL;

    if (file == MAP_FAILED) {
        return NULL;
    }
    snapshot.file = file;
    if (find_moment(&snapshot)) {
        map = copy(&snapshot);
    } else {
        errno = ENOMEM;
    }
    *size = snapshot.end;
    free(snapshot.chunks);
    int error = errno;
    munmap(file, file_size);
    errno = error;
    return map;
}
