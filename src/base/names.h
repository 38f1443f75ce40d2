/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names to small ids and back.
 *
 * Representation: the texts lie one after another in chunks that never move, so a pointer to
 * a name stays good. An open-addressed table of 16-byte entries finds the id: an entry holds
 * the first eight bytes of the name (zero-padded), 32 bits of its hash and length, and the
 * id; names of up to eight bytes, nearly all in practice, are decided without touching the
 * text. Ids count 1, 2, 3 …; 0 is no name.
 *
 * Workload: one lookup per event of a text trace, from a handful to tens of millions of names.
 */
#ifndef TMS_BASE_NAMES_H
#define TMS_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct tms_name_entry {
    uint64_t head; /* first eight bytes, zero-padded, in memory order */
    uint32_t mark; /* upper 26 bits of the hash; lower 6: length, 63 for longer names */
    uint32_t id;   /* 0: free */
};

struct tms_text {
    const char *text; /* ends with a zero byte */
    uint32_t length;
};

struct tms_names {
    struct tms_memory *memory;
    struct tms_name_entry *table;
    size_t mask; /* table size - 1 */
    struct tms_text *texts; /* by id; [0] is the empty name */
    uint32_t count;         /* ids given out */
    size_t capacity;        /* of texts */
    char *chunk;            /* where the next text goes; the first word links the chunks */
    size_t chunk_used, chunk_size;
};

int tms_names_init(struct tms_names *names, struct tms_memory *memory);
void tms_names_clear(struct tms_names *names);

/* The id of a name, made if new: > 0, or a negative code. `length` is 1 to 2^31 - 1. */
int64_t tms_names_intern(struct tms_names *names, const char *name, size_t length);

/*
 * The same, for readers: at least 8 bytes must be readable at `name`, whatever its length, so
 * the head is one load.
 */
int64_t tms_names_intern_padded(struct tms_names *names, const char *name, size_t length);

/* The id of a name that is there, else 0. */
uint32_t tms_names_find(const struct tms_names *names, const char *name, size_t length);

static inline const char *tms_names_text(const struct tms_names *names, uint32_t id)
{
    return id <= names->count ? names->texts[id].text : "";
}

#endif
