/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cell of shadow memory in the hands of the thread that has locked it: its words one by one,
 * wherever they are kept, and back again. shadow.h has what a word says.
 */
#ifndef TMS_RUNTIME_CELLS_H
#define TMS_RUNTIME_CELLS_H

#include "runtime/shadow/shadow.h"

#define NODES      (1u << 26)
#define NODE_WORDS 7
#define SPINS      1000

struct node {
    uint64_t word[NODE_WORDS]; /* 0: free, and so are those behind */
    uint32_t next;             /* 0: the last */
    uint32_t unused;
};
_Static_assert(sizeof(struct node) == 64, "a node is a cache line");

extern struct node *tms_rt_nodes;

/* A cell that is locked, its words laid out. */
struct laid_out {
    struct tms_rt_cell *cell;
    uint64_t *word; /* the thread's scratch */
    uint32_t count;
    uint32_t chain; /* its first node, 0: none */
    uint64_t version;
};

bool tms_rt_cells_start(void);
void tms_rt_cells_restart(void);

/* The cell is locked, its first word was `write`. */
void tms_rt_lay_out(struct tms_rt_thread *thread, struct tms_rt_cell *at, uint64_t write,
                    struct laid_out *cell);
/* One more word; false when there is no memory. */
bool tms_rt_add_word(struct tms_rt_thread *thread, struct laid_out *cell, uint64_t word);
/* Folds the words and unlocks the cell. */
void tms_rt_fold(struct tms_rt_thread *thread, struct laid_out *cell);

/*
 * The same for a cell that has, and will have, no more words than one node: after the event these.
 */
void tms_rt_fold_few(struct tms_rt_thread *thread, struct tms_rt_cell *cell, uint64_t write,
                     const uint64_t *word, uint32_t count, uint64_t event);

/* Locks the cell; its first word. Writing that word unlocks it. */
static inline uint64_t lock_cell(struct tms_rt_cell *cell)
{
    for (unsigned tries = 1;; tries++) {
        uint64_t word = atomic_load_explicit(&cell->write, memory_order_relaxed);
        if ((word & WORD_LOCK) == 0 &&
            atomic_compare_exchange_weak_explicit(&cell->write, &word, word | WORD_LOCK,
                                                  memory_order_acquire, memory_order_relaxed)) {
            return word;
        }
        if (tries % SPINS == 0) {
            tms_rt_yield();
        }
        __builtin_ia32_pause();
    }
}

static inline unsigned word_kind(uint64_t word)
{
    return word >> WORD_KIND & 3;
}

static inline bool is_own(const struct tms_rt_thread *t, uint64_t word)
{
    return (word ^ t->quiet) >> WORD_SLOT == 0;
}

static inline bool own_fresh(const struct tms_rt_thread *t, uint64_t word)
{
    return word - t->floor < t->span;
}

static inline uint64_t make_word(const struct tms_rt_thread *t, uint64_t event,
                                 enum tms_rt_access access, uint64_t bytes)
{
    return t->quiet >> WORD_SLOT << WORD_SLOT | event << WORD_EVENT |
           (uint64_t)access << WORD_KIND | bytes;
}

#endif
