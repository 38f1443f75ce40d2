/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a cell, and the nodes of words that do not fit. */
#include "runtime/shadow/cells.h"

#include <assert.h>
#include <string.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"

struct node {
    uint64_t word[NODE_WORDS]; /* 0: free, as are all after it */
    uint32_t next;             /* 0: the last */
    uint32_t unused;
};
_Static_assert(sizeof(struct node) == 64, "a node is a cache line");

static struct {
    struct tms_rt_mutex lock;
    struct node *at;
    uint32_t count, free;
} nodes;

bool tms_rt_cells_start(void)
{
    assert(nodes.at == NULL);
    nodes.at = tms_rt_map(NODES * sizeof(struct node));
    nodes.count = 1;
    return nodes.at != NULL;
}

void tms_rt_cells_restart(void)
{
    nodes.count = 1;
    nodes.free = 0;
    tms_rt_mutex_restart(&nodes.lock);
}

/* ---- nodes -------------------------------------------------------------------------------- */

/* Lists of one node come and go, so a thread keeps a spare one. */
static uint32_t take_node(struct tms_rt_thread *t)
{
    uint32_t number = t->spare_node;

    t->spare_node = 0;
    if (number == 0) {
        tms_rt_mutex_lock(&nodes.lock);
        number = nodes.free;
        if (number != 0) {
            nodes.free = nodes.at[number].next;
        } else if (nodes.count < NODES) {
            number = nodes.count++;
        }
        tms_rt_mutex_unlock(&nodes.lock);
    }
    if (number == 0) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
    } else {
        assert(number < nodes.count);
        nodes.at[number].next = 0;
    }
    return number;
}

static void give_nodes(struct tms_rt_thread *t, uint32_t first)
{
    if (first == 0) {
        return;
    }
    if (t->spare_node == 0 && nodes.at[first].next == 0) {
        t->spare_node = first;
        return;
    }
    assert(first < nodes.count && first != t->spare_node);
    uint32_t last = first;
    while (nodes.at[last].next != 0) {
        last = nodes.at[last].next;
    }
    tms_rt_mutex_lock(&nodes.lock);
    nodes.at[last].next = nodes.free;
    nodes.free = first;
    tms_rt_mutex_unlock(&nodes.lock);
}

/* ---- unpack and pack ---------------------------------------------------------------------- */

static bool make_room(struct tms_rt_thread *t, uint32_t count)
{
    uint32_t capacity = t->entry_capacity == 0 ? 64 : 2 * t->entry_capacity;

    if (count < t->entry_capacity) {
        return true;
    }
    uint64_t *grown = tms_rt_map(capacity * sizeof(uint64_t)); /* old ones stay mapped: rare */
    if (grown == NULL) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return false;
    }
    if (t->entry_capacity > 0) {
        memcpy(grown, t->entries, t->entry_capacity * sizeof(uint64_t));
    }
    assert(count < capacity);
    t->entries = grown;
    t->entry_capacity = capacity;
    return true;
}

void tms_rt_add_spilled(struct tms_rt_thread *t, struct tms_rt_unpacked *unpacked, uint64_t word)
{
    if (!make_room(t, unpacked->count)) {
        return;
    }
    if (unpacked->word == unpacked->few) {
        memcpy(t->entries, unpacked->few, sizeof(unpacked->few));
    }
    unpacked->word = t->entries;
    assert(unpacked->count < t->entry_capacity);
    unpacked->word[unpacked->count++] = word;
}

void tms_rt_unpack_nodes(struct tms_rt_thread *t, struct tms_rt_unpacked *unpacked)
{
    for (uint32_t number = unpacked->link & LINK_NODE; number != 0;
         number = nodes.at[number].next) {
        const struct node *node = &nodes.at[number];
        assert(number < nodes.count && node->word[0] != 0);
        for (int i = 0; i < NODE_WORDS && node->word[i] != 0; i++) {
            tms_rt_add_word(t, unpacked, node->word[i]);
        }
    }
}

/* Writes words into existing nodes, then into new ones; returns the first node, 0: none. */
static uint32_t write_nodes(struct tms_rt_thread *t, uint32_t first, const uint64_t *word,
                            uint32_t count)
{
    uint32_t number = first != 0 ? first : take_node(t);

    assert(count > 0 && first < nodes.count);
    first = number;
    for (uint32_t i = 0; number != 0;) {
        struct node *node = &nodes.at[number];
        int used = 0;
        while (used < NODE_WORDS && i < count) {
            node->word[used++] = word[i++];
        }
        if (used < NODE_WORDS) {
            node->word[used] = 0;
        }
        if (i == count) {
            give_nodes(t, node->next);
            node->next = 0;
            break;
        }
        node->next = node->next != 0 ? node->next : take_node(t);
        number = node->next;
    }
    return first;
}

/* Moves race-only words to the front, to spill first: no filter looks for them. */
static void race_only_first(struct tms_rt_unpacked *unpacked)
{
    uint32_t moved = 0;

    for (uint32_t i = 0; i < unpacked->count; i++) {
        uint64_t word = unpacked->word[i];
        assert(moved <= i);
        if ((word & WORD_RACE_ONLY) != 0) {
            memmove(&unpacked->word[moved + 1], &unpacked->word[moved], (i - moved) * sizeof(word));
            unpacked->word[moved++] = word;
        }
    }
}

#ifndef NDEBUG
/*
 * No two words could be merged, none is empty, and no other word has bytes of a write, except for
 * race-only words.
 */
static void check(const struct tms_rt_unpacked *unpacked)
{
    for (uint32_t i = 0; i < unpacked->count; i++) {
        uint64_t word = unpacked->word[i];
        assert((word & WORD_BYTES) != 0 && word_slot(word) != 0 && word_event(word) != 0);
        for (uint32_t j = i + 1; j < unpacked->count; j++) {
            uint64_t other = unpacked->word[j];
            assert((word & other & WORD_WRITE) == 0 || (word & other & WORD_BYTES) == 0 ||
                   ((word | other) & WORD_RACE_ONLY) != 0);
        }
    }
}
#else
static inline void check(const struct tms_rt_unpacked *unpacked)
{
    (void)unpacked;
}
#endif

void tms_rt_pack_nodes(struct tms_rt_thread *t, struct tms_rt_unpacked *unpacked)
{
    uint32_t count = unpacked->count, node = unpacked->link & LINK_NODE;
    uint32_t spilled = count > CELL_WORDS ? count - CELL_WORDS : 0;

    check(unpacked);
    if (spilled > 0) {
        race_only_first(unpacked);
        node = write_nodes(t, node, unpacked->word, spilled);
    } else {
        give_nodes(t, node);
        node = 0;
    }
    tms_rt_pack_words(unpacked, spilled);
    tms_rt_cell_unlock(unpacked->cell, (unpacked->link & ~LINK_NODE) | node);
}
