/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow memory: for every 8 bytes of the program a cell of 32 that records which threads accessed
 * them last, and when. This header has its layout and the fast path; the other files here have the
 * slow paths.
 *
 * A cell has three words and a link. A word is one access, or several of the same kind in one
 * epoch:
 *
 *     63        62   61 … 50   49 … 12   11        10       9       8      7 … 0
 *     race only 0    slot      event     variant   atomic   write   fast   bytes
 *
 * that is, the thread's slot, its event number, the kind of access, and which of the 8 bytes. 0:
 * free. The last plain write is the first word, the last plain read the second, if they are in the
 * cell. `fast` marks words that the fast path may use: plain accesses to memory on which no race
 * was seen. What `variant` means depends on the kind; each meaning has a name of its own below. A
 * word is `race only` if a later atomic write wrote the same bytes but could not replace it: that
 * write carries all that the engine and `judge` need to know of the bytes, but a later access may
 * race with the earlier one and not with the write. No filter takes such a word for a thread's own.
 *
 * The link holds the number of a node with further words (cells.h), the data that `judge` keeps for
 * the cell, and the lock bit, which is set while a thread changes the cell.
 *
 * The filter. A thread's epoch starts when it releases something: from then on other threads can be
 * ordered after what it did before, but not after what it does next. A plain access that the thread
 * has made before in its epoch is redundant, whatever transactions began in between: without data
 * races, synchronisation alone decides (docs/internals/runtime.md has the argument and its limits).
 * A read is redundant after the thread's own write as well; a write only as long as no other thread
 * has read.
 *
 * Atomic accesses are conflicts of their own, so they are filtered by stretches instead: see
 * `floor` in frontier.h.
 */
#ifndef TMS_RUNTIME_SHADOW_H
#define TMS_RUNTIME_SHADOW_H

#include "runtime/core/thread.h"

/*
 * Free in every layout of the address space: mappings grow down from the top, or up from a third of
 * it (legacy layout), or down from a sixth of it (unlimited stack).
 */
#define SHADOW_BASE  UINT64_C(0x180000000000)
#define SHADOW_MASK  UINT64_C(0x3fffffffff8) /* 42 bits: program, libraries and stack stay apart */
#define SHADOW_SHIFT 2                       /* log2 of the shadow bytes per byte */
#define SHADOW_SIZE  ((SHADOW_MASK + 8) << SHADOW_SHIFT)

#define CELL_WORDS 3
struct tms_rt_cell {
    _Atomic uint64_t word[CELL_WORDS];
    _Atomic uint64_t link;
};

#define WORD_BYTES     UINT64_C(0xff)
#define WORD_FAST      (UINT64_C(1) << 8)
#define WORD_WRITE     (UINT64_C(1) << 9)
#define WORD_ATOMIC    (UINT64_C(1) << 10)
#define WORD_VARIANT   (UINT64_C(1) << 11)
#define WORD_RACE_ONLY (UINT64_C(1) << 63)
/* The variants. Plain reads have none. */
#define WORD_ACQUIRES WORD_VARIANT /* an atomic read: it acquired */
#define WORD_RMW      WORD_VARIANT /* an atomic write: it is a read-modify-write */
#define WORD_UPDATES  WORD_VARIANT /* a plain write: updates what it read (is_read_before) */
/* Two words of one thread and epoch that agree in these bits can be merged. */
#define WORD_KIND (WORD_FAST | WORD_WRITE | WORD_ATOMIC | WORD_VARIANT)

#define LINK_LOCK  (UINT64_C(1) << 63)
#define LINK_RACED (UINT64_C(1) << 62) /* a race was seen: nothing here is filtered by epoch */
#define LINK_NODE  UINT64_C(0x3ffffff)
/* The variable that `judge` has for some of the bytes, 0: none. */
#define LINK_JUDGED      26
#define LINK_JUDGED_MOST UINT64_C(0xfffffff)

static inline struct tms_rt_cell *tms_rt_cell(uintptr_t address)
{
    return (struct tms_rt_cell *)(SHADOW_BASE + ((address & SHADOW_MASK) << SHADOW_SHIFT));
}

/*
 * The bytes of an aligned group of 8 that an access touches, as a mask; bits above the lowest 8: it
 * reaches beyond the group.
 */
static inline uint64_t tms_rt_bytes(uintptr_t address, size_t size)
{
    return ((UINT64_C(1) << size) - 1) << (address & 7);
}

/* Maps the shadow; false if that can't be done. */
bool tms_rt_shadow_start(void);

/* The program has allocated a heap block: maps its shadow on huge pages where that pays. */
void tms_rt_expect_use(uintptr_t address, size_t size);

/* ---- the fast path ------------------------------------------------------------------------ */

/* Is the word the thread's own, of its epoch, and does it have all these bits? */
static inline bool tms_rt_own_word_has(const struct tms_rt_thread *thread, uint64_t word,
                                       uint64_t bits)
{
    return word - thread->epoch < thread->epoch_span && (~word & bits) == 0;
}

/*
 * The fast path: has the thread made this plain access in its epoch? Always false for an access
 * across 8 aligned bytes. `access` is a constant. Reads without the lock: a word of the thread's
 * own was in the cell, and only an access that races with this one can have removed it since.
 */
static inline __attribute__((always_inline)) bool
tms_rt_is_repeated(const struct tms_rt_thread *thread, uintptr_t address, size_t size,
                   enum tms_rt_access access)
{
    const struct tms_rt_cell *cell = tms_rt_cell(address);
    uint64_t bytes = tms_rt_bytes(address, size);
    uint64_t a = atomic_load_explicit(&cell->word[0], memory_order_relaxed);
    uint64_t b = atomic_load_explicit(&cell->word[1], memory_order_relaxed);
    uint64_t c = atomic_load_explicit(&cell->word[2], memory_order_relaxed);

    if (access == TMS_RT_READ) {
        uint64_t bits = bytes | WORD_FAST;
        return tms_rt_own_word_has(thread, a, bits) || tms_rt_own_word_has(thread, b, bits) ||
               tms_rt_own_word_has(thread, c, bits);
    }
    uint64_t bits = bytes | WORD_FAST | WORD_WRITE;
    uint64_t link = atomic_load_explicit(&cell->link, memory_order_relaxed);
    uint64_t others = tms_rt_own_word_has(thread, a, bits)   ? b | c
                      : tms_rt_own_word_has(thread, b, bits) ? a | c
                      : tms_rt_own_word_has(thread, c, bits) ? a | b
                                                             : bytes;
    return ((others & bytes) | (link & LINK_NODE)) == 0;
}

/*
 * The slow path, for an access of the running thread; enters and leaves the runtime. _slow: within
 * 8 aligned bytes; _wide: up to 16 bytes, any alignment.
 */
void tms_rt_access_slow(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc);
void tms_rt_access_wide(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc);

static inline __attribute__((always_inline)) void
tms_rt_hook(const volatile void *at, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    const struct tms_rt_thread *thread = tms_rt_watched;
    uintptr_t address = (uintptr_t)at;

    if (thread == NULL) {
        return;
    }
    if (size > 8 || (size > 1 && (address & 7) > 8 - size)) {
        tms_rt_access_wide(address, size, access, pc);
    } else if (!tms_rt_is_repeated(thread, address, size, access)) {
        tms_rt_access_slow(address, size, access, pc);
    }
}

/*
 * Has the thread made this load in its stretch already, so that it adds nothing? Atomic loads then
 * need no lock. `acquired`: with acquire order.
 */
bool tms_rt_is_repeated_load(const struct tms_rt_thread *thread, uintptr_t address, size_t size,
                             bool acquired);

/* In the child of a fork: clears the shadow. */
void tms_rt_shadow_restart(void);

#endif
