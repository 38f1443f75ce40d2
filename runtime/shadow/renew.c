/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed, allocated or mapped has nothing to do with what was there before. */
#include <sys/mman.h>

#include "runtime/shadow/cells.h"
#include "runtime/shadow/words.h"

#define DROP_BYTES     65536u /* from here on shadow is given back to the system, not cleared */
#define SHADOWED_BYTES UINT64_C(2048) /* of the program, by a page of shadow */

/* The thread comes behind what the word says, whatever ordered the two. */
static inline void come_behind(struct tms_rt_thread *t, uint64_t word)
{
    uint64_t number = word >> WORD_EVENT & WORD_EVENT_MOST;

    t->number = t->number < number ? number : t->number;
}

static void renew_word(struct tms_rt_thread *t, struct tms_rt_cell *at, uint64_t bytes)
{
    uint64_t write = atomic_load_explicit(&at->write, memory_order_relaxed);
    uint64_t read = atomic_load_explicit(&at->read, memory_order_relaxed);

    if ((write | read) == 0) {
        return;
    }
    if (bytes == WORD_BYTES && (write & (WORD_CHAIN | WORD_LOCK)) == 0) {
        come_behind(t, write);
        come_behind(t, read);
        atomic_store_explicit(&at->read, 0, memory_order_relaxed);
        atomic_store_explicit(&at->write, 0, memory_order_relaxed);
    } else {
        struct laid_out cell;
        uint32_t kept = 0;
        tms_rt_lay_out(t, at, lock_cell(at), &cell);
        for (uint32_t i = 0; i < cell.count; i++) {
            uint64_t word = cell.word[i] & ~bytes;
            come_behind(t, cell.word[i]);
            if ((word & WORD_BYTES) != 0) {
                cell.word[kept++] = word;
            }
        }
        cell.count = kept;
        tms_rt_fold(t, &cell);
    }
}

static void renew_words(struct tms_rt_thread *t, uintptr_t address, uintptr_t end)
{
    while (address < end) {
        uintptr_t next = (address | 7) + 1;
        uint64_t bytes = WORD_BYTES << (address & 7) & WORD_BYTES;
        if (next > end) {
            bytes &= (UINT64_C(1) << (end & 7)) - 1;
        }
        renew_word(t, tms_rt_cell(address), bytes);
        address = next;
    }
}

/*
 * Whole pages of shadow, each 2048 bytes of the program, are given back. A recording wants to know
 * what was in them; otherwise nobody looks, and chains in them are lost to reuse.
 */
static void renew_pages(struct tms_rt_thread *t, uintptr_t first, uintptr_t last)
{
    for (uintptr_t at = first; tms_rt_records && at < last; at += SHADOWED_BYTES) {
        if (tms_rt_was_touched(at)) {
            renew_words(t, at, at + SHADOWED_BYTES);
        }
    }
    madvise(tms_rt_cell(first), (last - first) * 2, MADV_DONTNEED);
}

static void renew_cells(struct tms_rt_thread *t, uintptr_t address, uintptr_t end)
{
    uintptr_t first = (address + SHADOWED_BYTES - 1) & ~(SHADOWED_BYTES - 1);
    uintptr_t last = end & ~(SHADOWED_BYTES - 1);

    if (end - address < DROP_BYTES) {
        renew_words(t, address, end);
        return;
    }
    renew_words(t, address, first);
    renew_pages(t, first, last);
    renew_words(t, last, end);
}

void tms_rt_renew_by(struct tms_rt_thread *t, uintptr_t address, size_t size)
{
    uintptr_t end = address + size;

    if (!tms_rt_checks || size == 0) {
        return;
    }
    renew_cells(t, address, end);
    if (tms_rt_may_hold_objects(address, end)) {
        tms_rt_objects_gone(t, address, size);
    }
    tms_rt_pass(t);
    tms_rt_spool_renewal(t, TMS_EVENT_FREE, address, size, 0);
    tms_rt_words_renewed(address, end);
}

void tms_rt_renew(uintptr_t address, size_t size)
{
    if (tms_rt_self != NULL) {
        tms_rt_renew_by(tms_rt_self, address, size);
    }
}
