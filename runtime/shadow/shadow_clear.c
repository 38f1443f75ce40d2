/* SPDX-License-Identifier: Apache-2.0 */
/* Clears the history of memory that is freed, allocated or mapped. */
#include <assert.h>
#include <sys/mman.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/judge_online.h"
#include "runtime/core/sync_objects.h"
#include "runtime/core/thread_clocks.h"
#include "runtime/shadow/cells.h"
#include "runtime/shadow/shadow_clear.h"
#include "runtime/shadow/variable_ids.h"
#include "runtime/spool/spool_writer.h"

#define DROP_BYTES     65536u /* from this size on shadow is released, not cleared */
#define SHADOWED_BYTES (UINT64_C(4096) >> SHADOW_SHIFT) /* of the program, per page of shadow */

/* Numbers the thread's next event after that of the word, whatever ordered the two. */
static inline void number_after(struct tms_rt_thread *t, uint64_t word)
{
    t->number = t->number < word_event(word) ? word_event(word) : t->number;
}

static bool is_empty(const struct tms_rt_cell *cell)
{
    return (atomic_load_explicit(&cell->word[0], memory_order_relaxed) |
            atomic_load_explicit(&cell->word[1], memory_order_relaxed) |
            atomic_load_explicit(&cell->word[2], memory_order_relaxed) |
            atomic_load_explicit(&cell->link, memory_order_relaxed)) == 0;
}

static void clear_cell(struct tms_rt_thread *t, uintptr_t address, uint64_t bytes)
{
    struct tms_rt_cell *at = tms_rt_cell(address);
    struct tms_rt_unpacked cell;
    uint32_t kept = 0;

    assert(bytes != 0 && (bytes & ~WORD_BYTES) == 0);
    if (is_empty(at)) {
        return;
    }
    tms_rt_unpack(t, at, tms_rt_cell_lock(at), &cell);
    for (uint32_t i = 0; i < cell.count; i++) {
        uint64_t word = cell.word[i] & ~bytes;
        number_after(t, cell.word[i]);
        if ((word & WORD_BYTES) != 0) {
            cell.word[kept++] = word;
        }
    }
    cell.count = kept;
    tms_rt_judge_clear_bytes(&cell, address, bytes);
    cell.link &= kept == 0 ? LINK_NODE : UINT64_MAX;
    tms_rt_pack(t, &cell);
}

static void clear_words(struct tms_rt_thread *t, uintptr_t address, uintptr_t end)
{
    while (address < end) {
        uintptr_t next = (address | 7) + 1;
        uint64_t bytes = WORD_BYTES << (address & 7) & WORD_BYTES;
        if (next > end) {
            bytes &= (UINT64_C(1) << (end & 7)) - 1;
        }
        clear_cell(t, address, bytes);
        address = next;
    }
}

/*
 * Releases whole pages of shadow to the system. A recording needs their contents; otherwise they
 * are not read, and the nodes they refer to leak.
 */
static void clear_pages(struct tms_rt_thread *t, uintptr_t first, uintptr_t last)
{
    assert(first <= last && first % SHADOWED_BYTES == 0 && last % SHADOWED_BYTES == 0);
    for (uintptr_t at = first; tms_rt_mode.records && at < last; at += SHADOWED_BYTES) {
        if (tms_rt_was_touched(at)) {
            clear_words(t, at, at + SHADOWED_BYTES);
        }
    }
    madvise(tms_rt_cell(first), (last - first) << SHADOW_SHIFT, MADV_DONTNEED);
}

static void clear_cells(struct tms_rt_thread *t, uintptr_t address, uintptr_t end)
{
    uintptr_t first = (address + SHADOWED_BYTES - 1) & ~(SHADOWED_BYTES - 1);
    uintptr_t last = end & ~(SHADOWED_BYTES - 1);

    if (end - address < DROP_BYTES) {
        clear_words(t, address, end);
        return;
    }
    clear_words(t, address, first);
    clear_pages(t, first, last);
    clear_words(t, last, end);
}

void tms_rt_clear_history_by(struct tms_rt_thread *t, uintptr_t address, size_t size)
{
    uintptr_t end = address + size;

    if (!tms_rt_mode.checks || size == 0) {
        return;
    }
    clear_cells(t, address, end);
    if (tms_rt_may_hold_objects(address, end)) {
        tms_rt_objects_gone(t, address, size);
        tms_rt_clocks_gone(address, end);
    }
    tms_rt_advance_clock(t);
    tms_rt_spool_renewal(t, TMS_EVENT_FREE, address, size, 0);
    tms_rt_note_cleared(address, end);
}

void tms_rt_clear_history(uintptr_t address, size_t size)
{
    if (tms_rt_self != NULL) {
        tms_rt_clear_history_by(tms_rt_self, address, size);
    }
}
