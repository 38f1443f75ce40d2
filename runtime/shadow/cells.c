/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a cell, and the chains that hold them when there are more than two. */
#include "runtime/shadow/cells.h"

#include <string.h>

#include "runtime/core/memory.h"

static struct {
    struct tms_rt_mutex lock;
    uint32_t count, free;
} nodes;

struct node *tms_rt_nodes;

bool tms_rt_cells_start(void)
{
    tms_rt_nodes = tms_rt_map(NODES * sizeof(struct node));
    nodes.count = 1;
    return tms_rt_nodes != NULL;
}

void tms_rt_cells_restart(void)
{
    nodes.count = 1;
    nodes.free = 0;
    atomic_store(&nodes.lock.state, 0);
}

/* ---- chains ----------------------------------------------------------------------------- */

/* Chains of one node come and go; a thread keeps the last one for its next. */
static uint32_t take_node(struct tms_rt_thread *t)
{
    if (t->spare_node != 0) {
        uint32_t spare = t->spare_node;
        t->spare_node = 0;
        return spare;
    }
    tms_rt_mutex_lock(&nodes.lock);
    uint32_t number = nodes.free;
    if (number != 0) {
        nodes.free = tms_rt_nodes[number].next;
    } else if (nodes.count < NODES) {
        number = nodes.count++;
    }
    tms_rt_mutex_unlock(&nodes.lock);
    if (number == 0) {
        tms_rt_lose(TMS_SPOOL_LOST_MEMORY);
    } else {
        tms_rt_nodes[number].next = 0;
    }
    return number;
}

static void give_chain(struct tms_rt_thread *t, uint32_t first)
{
    if (first == 0) {
        return;
    }
    if (t->spare_node == 0 && tms_rt_nodes[first].next == 0) {
        t->spare_node = first;
        return;
    }
    uint32_t last = first;
    while (tms_rt_nodes[last].next != 0) {
        last = tms_rt_nodes[last].next;
    }
    tms_rt_mutex_lock(&nodes.lock);
    tms_rt_nodes[last].next = nodes.free;
    nodes.free = first;
    tms_rt_mutex_unlock(&nodes.lock);
}

/* ---- the words of a cell ---------------------------------------------------------------- */

#define VERSION_SHIFT 32
#define VERSION_MASK  ((UINT64_C(1) << 30) - 1)

static inline uint64_t chain_word(uint32_t chain, uint64_t version)
{
    return WORD_CHAIN | (version & VERSION_MASK) << VERSION_SHIFT | chain;
}

bool tms_rt_add_word(struct tms_rt_thread *t, struct laid_out *cell, uint64_t word)
{
    if (cell->count == t->entry_capacity) {
        uint32_t capacity = t->entry_capacity == 0 ? 64 : 2 * t->entry_capacity;
        uint64_t *grown = tms_rt_map(capacity * sizeof(uint64_t)); /* old ones stay mapped: rare */
        if (grown == NULL) {
            tms_rt_lose(TMS_SPOOL_LOST_MEMORY);
            return false;
        }
        if (cell->count > 0) {
            memcpy(grown, t->entries, cell->count * sizeof(uint64_t));
        }
        t->entries = grown;
        t->entry_capacity = capacity;
    }
    cell->word = t->entries;
    cell->word[cell->count++] = word;
    return true;
}

void tms_rt_lay_out(struct tms_rt_thread *t, struct tms_rt_cell *at, uint64_t write,
                    struct laid_out *cell)
{
    uint64_t read = atomic_load_explicit(&at->read, memory_order_relaxed);

    *cell = (struct laid_out){.cell = at, .word = t->entries};
    if (write & WORD_CHAIN) {
        cell->chain = (uint32_t)write;
        cell->version = write >> VERSION_SHIFT & VERSION_MASK;
        for (uint32_t number = cell->chain; number != 0; number = tms_rt_nodes[number].next) {
            const struct node *node = &tms_rt_nodes[number];
            for (int i = 0; i < NODE_WORDS && node->word[i] != 0; i++) {
                tms_rt_add_word(t, cell, node->word[i]);
            }
        }
        return;
    }
    if (write != 0) {
        tms_rt_add_word(t, cell, write);
    }
    if (read != 0) {
        tms_rt_add_word(t, cell, read);
    }
}

/* Writes the words as a chain, over the old one as far as it goes; its first node or 0. */
static uint32_t write_chain(struct tms_rt_thread *t, struct laid_out *cell)
{
    uint32_t number = cell->chain != 0 ? cell->chain : take_node(t);
    uint32_t first = number;

    for (uint32_t i = 0; number != 0;) {
        struct node *node = &tms_rt_nodes[number];
        int used = 0;
        while (used < NODE_WORDS && i < cell->count) {
            node->word[used++] = cell->word[i++];
        }
        if (used < NODE_WORDS) {
            node->word[used] = 0;
        }
        if (i == cell->count) {
            give_chain(t, node->next);
            node->next = 0;
            break;
        }
        node->next = node->next != 0 ? node->next : take_node(t);
        number = node->next;
    }
    return first;
}

/* ---- hints ------------------------------------------------------------------------------ */

/* Threads with a low slot have hints, so many one after the other. */
#define HINT_SLOT_BITS 6
#define HINT_SLOTS     (1u << HINT_SLOT_BITS)
#define HINTS_MOST     ((1u << 17) - 1)
static uint32_t hints_given[HINT_SLOTS]; /* by who is in the slot */

void tms_rt_renew_hint(struct tms_rt_thread *t)
{
    uint32_t slot = t->engine->slot;
    uint32_t hint = HINT_NONE;

    if (!tms_rt_each && !tms_rt_full && slot < HINT_SLOTS && hints_given[slot] < HINTS_MOST) {
        hint = (++hints_given[slot] << HINT_SLOT_BITS | slot) << 8;
    }
    t->hint_shift = slot % 2 * HINT_SHIFT;
    __atomic_store_n(&t->hint, hint, __ATOMIC_RELEASE);
}

/* The second word of a cell with a chain, and of it with one more word that is in the chain. */
static inline uint64_t add_hint(struct tms_rt_thread *t, uint64_t hints, uint64_t word)
{
    uint32_t slot = word >> WORD_SLOT & WORD_SLOT_MOST;
    const struct tms_rt_thread *u = is_own(t, word) ? t : tms_rt_of_slot(slot);
    unsigned shift = slot % 2 * HINT_SHIFT;

    if (u == NULL) {
        return hints;
    }
    /* In this order: who goes on to another time says so before he has another hint. */
    uint64_t hint = __atomic_load_n(&u->hint, __ATOMIC_ACQUIRE);
    if (hint == HINT_NONE || word < __atomic_load_n(&u->quiet, __ATOMIC_ACQUIRE)) {
        return hints;
    }
    if ((hints >> shift & HINT_WHOSE) != hint) {
        hints &= ~((HINT_WHOSE | (uint64_t)WORD_BYTES) << shift);
    }
    return HINTS | hints | (hint | (word & WORD_BYTES)) << shift;
}

/* The later words, which are the newer ones, come before others. */
static uint64_t hints_of(struct tms_rt_thread *t, const struct laid_out *cell)
{
    uint64_t hints = HINTS;

    for (uint32_t i = 0; i < cell->count; i++) {
        hints = add_hint(t, hints, cell->word[i]);
    }
    return hints;
}

/* ---- back again ------------------------------------------------------------------------- */

void tms_rt_fold(struct tms_rt_thread *t, struct laid_out *cell)
{
    uint64_t write = 0, read = 0;
    uint32_t writes = 0, reads = 0;

    for (uint32_t i = 0; i < cell->count; i++) {
        bool is_read = word_kind(cell->word[i]) == TMS_RT_READ;
        reads += is_read;
        writes += !is_read;
        *(is_read ? &read : &write) = cell->word[i];
    }
    if (writes > 1 || reads > 1) {
        uint32_t chain = write_chain(t, cell);
        write = chain == 0 ? 0 : chain_word(chain, cell->version + 1);
        read = chain == 0 ? 0 : hints_of(t, cell);
    } else {
        give_chain(t, cell->chain);
    }
    atomic_store_explicit(&cell->cell->read, read, memory_order_relaxed);
    atomic_store_explicit(&cell->cell->write, write, memory_order_release);
}

void tms_rt_fold_few(struct tms_rt_thread *t, struct tms_rt_cell *at, uint64_t first,
                     const uint64_t *word, uint32_t count, uint64_t event)
{
    uint32_t chain = (first & WORD_CHAIN) != 0 ? (uint32_t)first : 0;
    uint64_t write = 0, read = 0, hints = HINTS;
    uint32_t writes = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool is_read = word_kind(word[i]) == TMS_RT_READ;
        writes += !is_read;
        *(is_read ? &read : &write) = word[i];
    }
    if (writes <= 1 && count - writes <= 1) {
        give_chain(t, chain);
    } else {
        uint64_t version = chain != 0 ? first >> VERSION_SHIFT : event;
        chain = chain != 0 ? chain : take_node(t);
        struct node *node = &tms_rt_nodes[chain];
        for (uint32_t i = 0; i < count; i++) {
            node->word[i] = word[i];
            hints = add_hint(t, hints, word[i]);
        }
        if (count < NODE_WORDS) {
            node->word[count] = 0;
        }
        write = chain == 0 ? 0 : chain_word(chain, version + 1);
        read = chain == 0 ? 0 : hints;
    }
    atomic_store_explicit(&at->read, read, memory_order_relaxed);
    atomic_store_explicit(&at->write, write, memory_order_release);
}

/*
 * Looks without the lock: if the first word is the same before and after, the chain was the
 * cell's all the time, and what was found in it holds.
 */
enum tms_rt_news tms_rt_ask_chain(const struct tms_rt_thread *t, uintptr_t address, size_t size)
{
    const struct tms_rt_cell *cell = tms_rt_cell(address);
    uint64_t write = atomic_load_explicit(&cell->write, memory_order_relaxed);
    uint64_t bytes = ((UINT64_C(1) << size) - 1) << (address & 7);

    if ((write & (WORD_LOCK | WORD_CHAIN)) != WORD_CHAIN) {
        return TMS_RT_NEWS; /* changed meanwhile */
    }
    for (uint32_t number = (uint32_t)write; number != 0 && number < NODES;) {
        const struct node *node = &tms_rt_nodes[number];
        for (int i = 0; i < NODE_WORDS; i++) {
            uint64_t word = __atomic_load_n(&node->word[i], __ATOMIC_RELAXED);
            if (tms_rt_knows(t, word, bytes)) {
                atomic_thread_fence(memory_order_acquire);
                return atomic_load_explicit(&cell->write, memory_order_relaxed) == write
                           ? tms_rt_since(t, word)
                           : TMS_RT_NEWS;
            }
            if (word == 0) {
                return TMS_RT_NEWS;
            }
        }
        number = __atomic_load_n(&node->next, __ATOMIC_RELAXED);
    }
    return TMS_RT_NEWS;
}
