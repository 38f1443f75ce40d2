/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow memory: for every 8 bytes of the program a cell of 16 that says who wrote them last and
 * who read them since.
 *
 * A cell is two words, one for the write and one for the read. A word is
 *
 *     63     62     61 … 48   47 … 10   9 8    7 … 0
 *     lock   chain  slot      event     kind   bytes
 *
 * thread slot and event number as in the engine's moments, what kind of access it was, and which
 * of the 8 bytes it touched. 0: nobody. Where that is not enough (several readers, or parts of
 * the 8 bytes touched at different times) the `chain` bit of the first word is set, the low half
 * is the number of a node with a list of such words, and what is left a version, another one
 * after each change. The lock bit, of the first word only, is set while a thread changes the cell.
 *
 * The second word of a cell with a chain has two hints instead, of threads that find words of
 * theirs in it from the time that they may recall (see recall.h): for which bytes, and which thread
 * and time that is, as a number of 23 bits that is never used for another.
 *
 *     63   62   61 … 39   38 … 31   30 … 8    7 … 0
 *     1    0    whose     bytes     whose     bytes
 *
 * Every access comes here first: if the cell says that this thread has done the same in the same
 * stretch (see frontier/frontier.h), nothing follows from doing it again.
 */
#ifndef TMS_RUNTIME_SHADOW_H
#define TMS_RUNTIME_SHADOW_H

#include "runtime/core/thread.h"

/*
 * Free in every layout of the address space: mappings start at the top and grow down, or from a
 * third of it up (a legacy layout), or from a sixth of it down (an unlimited stack).
 */
#define SHADOW_BASE UINT64_C(0x180000000000)
#define SHADOW_MASK UINT64_C(0x3fffffffff8) /* 42 bits: program, libraries and stack stay apart */
#define SHADOW_SIZE (2 * (SHADOW_MASK + 8))

#define WORD_BYTES      0xffu
#define WORD_KIND       8
#define WORD_EVENT      10
#define WORD_EVENT_MOST ((UINT64_C(1) << 38) - 1)
#define WORD_SLOT       48
#define WORD_SLOT_MOST  0x3fffu
#define WORD_CHAIN      (UINT64_C(1) << 62)
#define WORD_LOCK       (UINT64_C(1) << 63)

#define HINTS      (UINT64_C(1) << 63)
#define HINT_SHIFT 31
#define HINT_WHOSE 0x7fffff00u
#define HINT_NONE  UINT32_MAX /* not among these */

struct tms_rt_cell {
    _Atomic uint64_t write, read;
};

static inline struct tms_rt_cell *tms_rt_cell(uintptr_t address)
{
    return (struct tms_rt_cell *)(SHADOW_BASE + ((address & SHADOW_MASK) << 1));
}

/* Maps the shadow; false if that can't be done. */
bool tms_rt_shadow_start(void);

/* An access from which something follows, by the thread that runs: in, tms_rt_access, and out. */
void tms_rt_visit(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc);

/*
 * What follows from an access: something; only that the thread has done it again; nothing. Or the
 * chain of the cell has to be asked: for all of that, or to tell the last two apart. Of an access
 * to several cells the least counts.
 */
enum tms_rt_news { TMS_RT_NEWS, TMS_RT_CHAINED, TMS_RT_HINTED, TMS_RT_AGAIN, TMS_RT_NOTHING };

/* The word is the thread's own, from the time that it may recall, and for these bytes at least. */
static inline bool tms_rt_knows(const struct tms_rt_thread *thread, uint64_t word, uint64_t bytes)
{
    return word - thread->quiet < thread->quiet_span && (~word & bytes) == 0;
}

/* Such a word, seen in this transaction already or in one before (see recall.h). */
static inline enum tms_rt_news tms_rt_since(const struct tms_rt_thread *thread, uint64_t word)
{
    return word >= thread->told ? TMS_RT_NOTHING : TMS_RT_AGAIN;
}

/*
 * What the second word of a cell with a chain says to a read. The hint of a thread is of all words
 * of its own that count, so if there is one, or none of anybody, there is nothing more to find.
 */
static inline enum tms_rt_news tms_rt_ask_hints(const struct tms_rt_thread *thread, uint64_t hints,
                                                uint64_t bytes)
{
    uint64_t own = hints >> thread->hint_shift;

    if ((own & HINT_WHOSE) != thread->hint) {
        bool none = (own & HINT_WHOSE) == 0 && thread->hint != HINT_NONE;
        return none ? TMS_RT_NEWS : TMS_RT_CHAINED;
    }
    if ((~own & bytes) != 0) {
        return TMS_RT_NEWS;
    }
    return thread->running_from == 0 ? TMS_RT_NOTHING : TMS_RT_HINTED;
}

/* The time that the thread may recall begins: it gets another hint. */
void tms_rt_renew_hint(struct tms_rt_thread *thread);

/*
 * What follows from an access that stays within 8 aligned bytes; `size` and `access` are
 * constants.
 */
static inline __attribute__((always_inline)) enum tms_rt_news
tms_rt_ask_cell(const struct tms_rt_thread *thread, uintptr_t address, size_t size,
                enum tms_rt_access access)
{
    const struct tms_rt_cell *cell = tms_rt_cell(address);
    uint64_t bytes = ((UINT64_C(1) << size) - 1) << (address & 7);
    uint64_t write = atomic_load_explicit(&cell->write, memory_order_relaxed);
    uint64_t read = atomic_load_explicit(&cell->read, memory_order_relaxed);

    if (size > 1 && bytes > WORD_BYTES) {
        return TMS_RT_NEWS;
    }
    if (access == TMS_RT_READ && tms_rt_knows(thread, read, bytes)) {
        return tms_rt_since(thread, read);
    }
    if (tms_rt_knows(thread, write, bytes)) {
        if (access == TMS_RT_READ || (read & (bytes | HINTS)) == 0) {
            return tms_rt_since(thread, write);
        }
        return tms_rt_knows(thread, read, 0) ? TMS_RT_AGAIN : TMS_RT_NEWS;
    }
    return access == TMS_RT_READ && (read & HINTS) != 0 ? tms_rt_ask_hints(thread, read, bytes)
                                                        : TMS_RT_NEWS;
}

/* For a read of a cell with a chain. */
enum tms_rt_news tms_rt_ask_chain(const struct tms_rt_thread *thread, uintptr_t address,
                                  size_t size);

static inline enum tms_rt_news tms_rt_ask(const struct tms_rt_thread *thread, uintptr_t address,
                                          size_t size, enum tms_rt_access access)
{
    enum tms_rt_news news = tms_rt_ask_cell(thread, address, size, access);

    return news == TMS_RT_CHAINED || news == TMS_RT_HINTED ? tms_rt_ask_chain(thread, address, size)
                                                           : news;
}

/*
 * The thread does it again: notes that, as far as anybody is to know. False if there is no room,
 * and then it is news.
 */
bool tms_rt_recall(struct tms_rt_thread *thread, uintptr_t address, size_t size,
                   enum tms_rt_access access, uintptr_t pc);

/* The same for a hook: in, and out again; and if there was no room, what tms_rt_visit does. */
void tms_rt_repeat(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc);

/* For a hook that finds a chain, or more than one cell: asks, and does what the answer says. */
void tms_rt_visit_chain(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc);
void tms_rt_visit_wide(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc);

#endif
