/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interns names: text to small id and back.
 *
 * Representation: the texts are stored one after another in chunks that never move, so a pointer to
 * a name stays valid. An open-addressed table of 16-byte entries finds the id: an entry holds the
 * first eight bytes of the name (zero-padded), 32 bits of its hash and length, and the id; names of
 * up to eight bytes, nearly all in practice, are compared without touching the text. Ids count 1,
 * 2, 3 …; 0 is no name. Names that are known to be new need not be in the table: they are entered
 * when a lookup misses.
 *
 * Workload: one lookup per event of a text trace, from a handful to tens of millions of names.
 */
#ifndef TMS_BASE_NAMES_H
#define TMS_BASE_NAMES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash_mix.h"
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
    size_t mask;            /* table size - 1 */
    struct tms_text *texts; /* by id; [0] is the empty name */
    uint32_t count;         /* ids given out */
    uint32_t indexed;       /* ids 1 to `indexed` are in the table */
    size_t capacity;        /* of texts */
    char *chunk;            /* where the next text goes; the first word links the chunks */
    size_t chunk_used, chunk_size;
    pthread_mutex_t moving; /* held while `texts` moves, and by lookups from another thread */
};

int tms_names_init(struct tms_names *names, struct tms_memory *memory);
void tms_names_clear(struct tms_names *names);

/* The id of a name, made if new: > 0, or a negative code. `length` is 1 to 2^31 - 1. */
int64_t tms_names_intern(struct tms_names *names, const char *name, size_t length);

/* The same for a name that is new. */
int64_t tms_names_add(struct tms_names *names, const char *name, size_t length);

/*
 * The same in three steps, for readers that look up many names at once: make the keys, prefetch the
 * entries, then intern. At least 8 bytes must be readable at `name`, whatever its length, so the
 * head is one load.
 */
struct tms_name_key {
    uint64_t head;
    uint64_t hash;
    uint32_t mark;
};

#define TMS_LONG_NAME 63u

/* The hash of a name of more than 8 bytes. */
uint64_t tms_names_hash_long(const char *name, size_t length);

/*
 * The position of a name in the table. It is computed from the contents of its entry, so growing
 * the table does not touch the texts; 32 bits of a long name are enough to spread millions.
 */
static inline uint64_t tms_names_place(uint64_t head, uint32_t more)
{
    return tms_hash(head + more);
}

static inline struct tms_name_key tms_names_key_of(uint64_t head, const char *name, size_t length)
{
    struct tms_name_key key = {.head = head};

    if (length <= 8) {
        key.hash = tms_names_place(head, (uint32_t)length);
        key.mark = ((uint32_t)(key.hash >> 38) << 6) | (uint32_t)length;
    } else {
        key.mark = ((uint32_t)(tms_names_hash_long(name, length) >> 38) << 6) |
                   (length < TMS_LONG_NAME ? (uint32_t)length : TMS_LONG_NAME);
        key.hash = tms_names_place(head, key.mark);
    }
    return key;
}

static inline struct tms_name_key tms_names_key_padded(const char *name, size_t length)
{
    unsigned unused = length < 8 ? 64 - 8 * (unsigned)length : 0;
    uint64_t head;

    memcpy(&head, name, sizeof(head));
    return tms_names_key_of(head << unused >> unused, name, length);
}

static inline void tms_names_prefetch(const struct tms_names *names, const struct tms_name_key *key)
{
    __builtin_prefetch(&names->table[key->hash & names->mask]);
}

/* Continues the search after the first entry, which is another name's or free. */
int64_t tms_names_intern_further(struct tms_names *names, const struct tms_name_key *key,
                                 const char *name, size_t length);

static inline int64_t tms_names_intern_key(struct tms_names *names, const struct tms_name_key *key,
                                           const char *name, size_t length)
{
    const struct tms_name_entry *entry = &names->table[key->hash & names->mask];

    if (__builtin_expect(entry->head == key->head && entry->mark == key->mark && length <= 8, 1)) {
        return entry->id;
    }
    return tms_names_intern_further(names, key, name, length);
}

static inline int64_t tms_names_intern_padded(struct tms_names *names, const char *name,
                                              size_t length)
{
    struct tms_name_key key = tms_names_key_padded(name, length);

    return tms_names_intern_key(names, &key, name, length);
}

/* The id of an existing name, else 0. */
uint32_t tms_names_find(struct tms_names *names, const char *name, size_t length);

/*
 * The text of an id, while another thread may be adding names. The id must have been passed to this
 * thread with synchronisation.
 */
const char *tms_names_text_concurrent(struct tms_names *names, uint32_t id);

static inline const char *tms_names_text(const struct tms_names *names, uint32_t id)
{
    return id <= names->count ? names->texts[id].text : "";
}

#endif
