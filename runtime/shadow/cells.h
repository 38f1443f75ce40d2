/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A locked cell of shadow memory, unpacked: its words as a list, wherever they are stored. shadow.h
 * has the layout of a word.
 *
 * Words that do not fit the cell (more than three threads that read between two writes, or parts of
 * the 8 bytes that were accessed at different times) spill into a list of nodes. The newest words
 * stay in the cell, where the fast path finds them.
 */
#ifndef TMS_RUNTIME_CELLS_H
#define TMS_RUNTIME_CELLS_H

#include <assert.h>

#include "runtime/core/engine_online.h"
#include "runtime/shadow/shadow.h"

#define NODES      (1u << 26)
#define NODE_WORDS 7
#define SPINS      1000
_Static_assert(NODES - 1 <= LINK_NODE, "the link holds the number of a node");

/* An unpacked cell, which is locked: oldest words first. */
struct tms_rt_unpacked {
    struct tms_rt_cell *cell;
    uint64_t link; /* without the lock bit */
    uint32_t count;
    uint64_t *word; /* `few`, or the thread's `entries` */
    uint64_t few[CELL_WORDS + 1];
};

bool tms_rt_cells_start(void);
void tms_rt_cells_restart(void);

/* Locks the cell and returns its link. tms_rt_cell_unlock, or _pack, unlocks it. */
static inline uint64_t tms_rt_cell_lock(struct tms_rt_cell *cell)
{
    for (unsigned tries = 1;; tries++) {
        uint64_t link = atomic_load_explicit(&cell->link, memory_order_relaxed);
        if ((link & LINK_LOCK) == 0 &&
            atomic_compare_exchange_weak_explicit(&cell->link, &link, link | LINK_LOCK,
                                                  memory_order_acquire, memory_order_relaxed)) {
            return link;
        }
        if (tries % SPINS == 0) {
            tms_rt_yield();
        }
        __builtin_ia32_pause();
    }
}

static inline void tms_rt_cell_unlock(struct tms_rt_cell *cell, uint64_t link)
{
    assert((link & LINK_LOCK) == 0);
    assert((atomic_load_explicit(&cell->link, memory_order_relaxed) & LINK_LOCK) != 0);
    atomic_store_explicit(&cell->link, link, memory_order_release);
}

/* The slow paths of the functions below, for cells with nodes or with more words than fit. */
void tms_rt_unpack_nodes(struct tms_rt_thread *thread, struct tms_rt_unpacked *unpacked);
void tms_rt_add_spilled(struct tms_rt_thread *thread, struct tms_rt_unpacked *unpacked,
                        uint64_t word);
void tms_rt_pack_nodes(struct tms_rt_thread *thread, struct tms_rt_unpacked *unpacked);

/* Appends a word, which is the newest. */
static inline void tms_rt_add_word(struct tms_rt_thread *thread, struct tms_rt_unpacked *unpacked,
                                   uint64_t word)
{
    if (__builtin_expect(unpacked->word == unpacked->few && unpacked->count <= CELL_WORDS, 1)) {
        unpacked->few[unpacked->count++] = word;
    } else {
        tms_rt_add_spilled(thread, unpacked, word);
    }
}

static inline void tms_rt_unpack(struct tms_rt_thread *thread, struct tms_rt_cell *cell,
                                 uint64_t link, struct tms_rt_unpacked *unpacked)
{
    assert((link & LINK_LOCK) == 0);
    unpacked->cell = cell;
    unpacked->link = link;
    unpacked->count = 0;
    unpacked->word = unpacked->few;
    if (__builtin_expect((link & LINK_NODE) != 0, 0)) {
        tms_rt_unpack_nodes(thread, unpacked);
    }
    for (int i = 0; i < CELL_WORDS; i++) {
        uint64_t word = atomic_load_explicit(&cell->word[i], memory_order_relaxed);
        if (word != 0) {
            tms_rt_add_word(thread, unpacked, word);
        }
    }
}

/*
 * Stores the words from `first` on, at most three, in the cell: the newest write, the newest read,
 * and another one where there is room.
 */
static inline void tms_rt_pack_words(const struct tms_rt_unpacked *unpacked, uint32_t first)
{
    uint64_t placed[CELL_WORDS] = {0};

    assert(first <= unpacked->count && unpacked->count - first <= CELL_WORDS);
    for (uint32_t i = unpacked->count; i > first; i--) {
        uint64_t word = unpacked->word[i - 1];
        unsigned wanted = (word & WORD_WRITE) == 0;
        unsigned at = placed[wanted] == 0 ? wanted : placed[2] == 0 ? 2 : 1 - wanted;
        placed[at] = word;
    }
    for (uint32_t i = 0; i < CELL_WORDS; i++) {
        atomic_store_explicit(&unpacked->cell->word[i], placed[i], memory_order_relaxed);
    }
}

/* Puts the words back and unlocks the cell. */
static inline void tms_rt_pack(struct tms_rt_thread *thread, struct tms_rt_unpacked *unpacked)
{
    if (__builtin_expect((unpacked->link & LINK_NODE) != 0 || unpacked->count > CELL_WORDS, 0)) {
        tms_rt_pack_nodes(thread, unpacked);
        return;
    }
    tms_rt_pack_words(unpacked, 0);
    tms_rt_cell_unlock(unpacked->cell, unpacked->link);
}

static inline uint32_t word_slot(uint64_t word)
{
    return (uint32_t)(word >> WORD_SLOT) & WORD_SLOT_MOST;
}

static inline uint64_t word_event(uint64_t word)
{
    return word >> WORD_EVENT & WORD_EVENT_MOST;
}

static inline bool is_own(const struct tms_rt_thread *t, uint64_t word)
{
    return word_slot(word) == t->engine->slot;
}

#endif
