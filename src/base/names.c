/* SPDX-License-Identifier: Apache-2.0 */
/* Name tables; names.h has the layout. */
#include "base/names.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "tmesis/tmesis.h"

#define TABLE_LEAST 64
#define TEXTS_LEAST 32
#define CHUNK_LEAST 4096
#define CHUNK_MOST  (1u << 20)
#define LONG_NAME   63u

uint64_t tms_names_hash_long(const char *name, size_t length)
{
    return XXH3_64bits(name, length);
}

static inline uint64_t load_head(const char *name, size_t length)
{
    uint64_t head = 0;

    memcpy(&head, name, length < 8 ? length : 8);
    return head;
}

static inline bool entry_is(const struct tms_names *names, const struct tms_name_entry *entry,
                            const struct tms_name_key *key, const char *name, size_t length)
{
    if (entry->head != key->head || entry->mark != key->mark) {
        return false;
    }
    if (length <= 8) {
        return true;
    }
    const struct tms_text *text = &names->texts[entry->id];
    return text->length == length && memcmp(text->text, name, length) == 0;
}

/* The entry of a name, or the free one where it belongs. */
static inline struct tms_name_entry *probe(const struct tms_names *names,
                                           const struct tms_name_key *key, const char *name,
                                           size_t length)
{
    size_t at = key->hash & names->mask;

    while (names->table[at].id != 0 && !entry_is(names, &names->table[at], key, name, length)) {
        at = (at + 1) & names->mask;
    }
    return &names->table[at];
}

static bool new_chunk(struct tms_names *names, size_t need)
{
    size_t size = names->chunk_size < CHUNK_MOST ? names->chunk_size * 2 : CHUNK_MOST;

    size = size < CHUNK_LEAST ? CHUNK_LEAST : size;
    size = size < need + 2 * sizeof(size_t) ? need + 2 * sizeof(size_t) : size;
    char *chunk = tms_resize(names->memory, NULL, 0, size, 1);
    if (chunk == NULL) {
        return false;
    }
    memcpy(chunk, &names->chunk, sizeof(names->chunk));
    memcpy(chunk + sizeof(char *), &names->chunk_size, sizeof(size_t));
    names->chunk = chunk;
    names->chunk_size = size;
    names->chunk_used = sizeof(char *) + sizeof(size_t);
    return true;
}

static const char *keep_text(struct tms_names *names, const char *name, size_t length)
{
    if (names->chunk_size - names->chunk_used < length + 1 && !new_chunk(names, length + 1)) {
        return NULL;
    }
    char *text = names->chunk + names->chunk_used;
    memcpy(text, name, length);
    text[length] = '\0';
    names->chunk_used += length + 1;
    return text;
}

static uint64_t hash_of(const struct tms_name_entry *entry)
{
    uint32_t length = entry->mark & TMS_LONG_NAME;

    return tms_names_place(entry->head, length <= 8 ? length : entry->mark);
}

/*
 * Rehashes in the order of the old table, which is nearly that of the new one: both are accessed
 * sequentially.
 */
static bool grow_table(struct tms_names *names)
{
    size_t size = names->table == NULL ? TABLE_LEAST : (names->mask + 1) * 2;
    struct tms_name_entry *table = tms_table(names->memory, size, sizeof(*table));

    if (table == NULL) {
        return false;
    }
    for (size_t i = 0; names->table != NULL && i <= names->mask; i++) {
        const struct tms_name_entry *entry = &names->table[i];
        if (entry->id == 0) {
            continue;
        }
        size_t at = hash_of(entry) & (size - 1);
        while (table[at].id != 0) {
            at = (at + 1) & (size - 1);
        }
        table[at] = *entry;
    }
    tms_release(names->memory, names->table, names->table == NULL ? 0 : names->mask + 1,
                sizeof(*table));
    names->table = table;
    names->mask = size - 1;
    return true;
}

/* Room for one more text. */
static bool reserve(struct tms_names *names)
{
    size_t wanted = (size_t)names->count + 2;

    if (wanted <= names->capacity) {
        return true;
    }
    pthread_mutex_lock(&names->moving);
    bool room = TMS_RESERVE(names->memory, &names->texts, &names->capacity, wanted, TEXTS_LEAST);
    pthread_mutex_unlock(&names->moving);
    return room;
}

const char *tms_names_text_concurrent(struct tms_names *names, uint32_t id)
{
    pthread_mutex_lock(&names->moving);
    const char *text = names->texts[id].text;
    pthread_mutex_unlock(&names->moving);
    return text;
}

int64_t tms_names_add(struct tms_names *names, const char *name, size_t length)
{
    assert(length > 0 && length <= INT32_MAX);
    if (names->count >= INT32_MAX - 1) {
        return TMS_ERR_LIMIT;
    }
    const char *text = reserve(names) ? keep_text(names, name, length) : NULL;
    if (text == NULL) {
        return TMS_ERR_MEMORY;
    }
    names->texts[++names->count] = (struct tms_text){text, (uint32_t)length};
    return names->count;
}

/* Puts all names into the table. It is at most half full, so that a probe is short. */
static bool index_rest(struct tms_names *names)
{
    while (names->indexed < names->count) {
        const struct tms_text *text = &names->texts[names->indexed + 1];
        if (((size_t)names->indexed + 1) * 2 > names->mask && !grow_table(names)) {
            return false;
        }
        struct tms_name_key key =
            tms_names_key_of(load_head(text->text, text->length), text->text, text->length);
        struct tms_name_entry *entry = probe(names, &key, text->text, text->length);
        names->indexed++;
        if (entry->id == 0) {
            *entry = (struct tms_name_entry){key.head, key.mark, names->indexed};
        }
    }
    return true;
}

/* Adds a name that is not in the table. */
static int64_t add(struct tms_names *names, const struct tms_name_key *key, const char *name,
                   size_t length)
{
    if (names->indexed < names->count) {
        if (!index_rest(names)) {
            return TMS_ERR_MEMORY;
        }
        uint32_t id = probe(names, key, name, length)->id;
        if (id != 0) {
            return id;
        }
    }
    if (((size_t)names->count + 1) * 2 > names->mask && !grow_table(names)) {
        return TMS_ERR_MEMORY;
    }
    int64_t id = tms_names_add(names, name, length);
    if (id > 0) {
        *probe(names, key, name, length) =
            (struct tms_name_entry){key->head, key->mark, (uint32_t)id};
        names->indexed = names->count;
    }
    return id;
}

int64_t tms_names_intern_further(struct tms_names *names, const struct tms_name_key *key,
                                 const char *name, size_t length)
{
    const struct tms_name_entry *entry = probe(names, key, name, length);

    assert(length > 0 && length <= INT32_MAX);
    return __builtin_expect(entry->id != 0, 1) ? entry->id : add(names, key, name, length);
}

int64_t tms_names_intern(struct tms_names *names, const char *name, size_t length)
{
    struct tms_name_key key = tms_names_key_of(load_head(name, length), name, length);

    return tms_names_intern_further(names, &key, name, length);
}

uint32_t tms_names_find(struct tms_names *names, const char *name, size_t length)
{
    struct tms_name_key key = tms_names_key_of(load_head(name, length), name, length);
    uint32_t id = probe(names, &key, name, length)->id;

    if (id == 0 && names->indexed < names->count) {
        index_rest(names);
        id = probe(names, &key, name, length)->id;
    }
    /* After running out of memory, some names are not in the table. */
    for (uint32_t i = names->indexed + 1; id == 0 && i <= names->count; i++) {
        const struct tms_text *text = &names->texts[i];
        id = text->length == length && memcmp(text->text, name, length) == 0 ? i : 0;
    }
    return id;
}

int tms_names_init(struct tms_names *names, struct tms_memory *memory)
{
    *names = (struct tms_names){.memory = memory};
    pthread_mutex_init(&names->moving, NULL);
    if (!reserve(names) || !grow_table(names)) {
        tms_names_clear(names);
        return TMS_ERR_MEMORY;
    }
    names->texts[0] = (struct tms_text){"", 0};
    return TMS_OK;
}

void tms_names_clear(struct tms_names *names)
{
    if (names->memory == NULL) {
        return;
    }
    while (names->chunk != NULL) {
        char *before;
        size_t size_before;
        memcpy(&before, names->chunk, sizeof(before));
        memcpy(&size_before, names->chunk + sizeof(char *), sizeof(size_before));
        tms_release(names->memory, names->chunk, names->chunk_size, 1);
        names->chunk = before;
        names->chunk_size = size_before;
    }
    tms_release(names->memory, names->texts, names->capacity, sizeof(*names->texts));
    tms_release(names->memory, names->table, names->table == NULL ? 0 : names->mask + 1,
                sizeof(*names->table));
    *names = (struct tms_names){0};
}
