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
 * Every access comes here first: if the cell says that this thread has done the same in the same
 * stretch (see engine/frontier.h), nothing follows from doing it again.
 */
#ifndef TMS_RUNTIME_SHADOW_H
#define TMS_RUNTIME_SHADOW_H

#include "thread.h"

#define SHADOW_BASE UINT64_C(0x100000000000)
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

struct tms_rt_cell {
    _Atomic uint64_t write, read;
};

static inline struct tms_rt_cell *tms_rt_cell(uintptr_t address)
{
    return (struct tms_rt_cell *)(SHADOW_BASE + ((address & SHADOW_MASK) << 1));
}

/* Maps the shadow; false if that can't be done. */
bool tms_rt_shadow_start(void);

/* The id under which the engine knows the 8 bytes at an address, and back. 0: no more ids. */
uint32_t tms_rt_word_id(uintptr_t address);
uintptr_t tms_rt_word_address(uint32_t id);
/* The latest number at which something near these 8 bytes became new memory. */
uint64_t tms_rt_word_renewed(uint32_t id);

/*
 * An access that tms_rt_seen did not know, by the thread that runs: in, what tms_rt_access does,
 * and out again.
 */
void tms_rt_visit(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc);

/* The same for a cell with a chain, whose first word is `write`. */
bool tms_rt_read_in_chain(const struct tms_rt_thread *thread, struct tms_rt_cell *cell,
                          uint64_t write, uint64_t bytes);

/*
 * Has the thread done this already, with nothing in between that matters? Only for accesses
 * that stay within 8 aligned bytes; `size` and `access` are constants.
 */
static inline bool tms_rt_seen(const struct tms_rt_thread *thread, uintptr_t address, size_t size,
                               enum tms_rt_access access)
{
    struct tms_rt_cell *cell = tms_rt_cell(address);
    uint64_t bytes = ((UINT64_C(1) << size) - 1) << (address & 7);
    uint64_t write = atomic_load_explicit(&cell->write, memory_order_relaxed);
    uint64_t read = atomic_load_explicit(&cell->read, memory_order_relaxed);
    if (bytes > WORD_BYTES) {
        return false;
    }
    bool wrote = (write >> WORD_EVENT) - thread->floor < thread->span && (~write & bytes) == 0;

    if (access != TMS_RT_READ) {
        return wrote && (read & bytes) == 0;
    }
    if (wrote || ((read >> WORD_EVENT) - thread->floor < thread->span && (~read & bytes) == 0)) {
        return true;
    }
    return (write & WORD_CHAIN) != 0 && tms_rt_read_in_chain(thread, cell, write, bytes);
}

#endif
