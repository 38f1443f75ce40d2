/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed, allocated or mapped has nothing to do with what was there before. */
#include <sys/mman.h>

#include "cells.h"
#include "words.h"

#define DROP_BYTES 65536u /* from here on shadow is given back to the system, not cleared */

static void renew_word(struct tms_rt_thread *t, struct tms_rt_cell *at, uint64_t bytes)
{
    uint64_t write = atomic_load_explicit(&at->write, memory_order_relaxed);
    uint64_t read = atomic_load_explicit(&at->read, memory_order_relaxed);

    if ((write | read) == 0) {
        return;
    }
    if (bytes == WORD_BYTES && (write & (WORD_CHAIN | WORD_LOCK)) == 0) {
        atomic_store_explicit(&at->read, 0, memory_order_relaxed);
        atomic_store_explicit(&at->write, 0, memory_order_relaxed);
    } else {
        struct laid_out cell;
        uint32_t kept = 0;
        tms_rt_lay_out(t, at, lock_cell(at), &cell);
        for (uint32_t i = 0; i < cell.count; i++) {
            uint64_t word = cell.word[i] & ~bytes;
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

void tms_rt_renew_by(struct tms_rt_thread *t, uintptr_t address, size_t size)
{
    uintptr_t end = address + size;

    if (!tms_rt_checks || size == 0) {
        return;
    }
    tms_rt_pass(t);
    tms_rt_spool_renewal(t, TMS_EVENT_FREE, address, size, 0);
    tms_rt_words_renewed(address, end);
    if (tms_rt_may_hold_objects(address, end)) {
        tms_rt_objects_gone(address, size);
    }
    if (size < DROP_BYTES) {
        renew_words(t, address, end);
        return;
    }
    /* Whole pages of shadow, each 2048 bytes of the program; chains in them are lost to reuse. */
    uintptr_t first = (address + 2047) & ~UINT64_C(2047);
    uintptr_t last = end & ~UINT64_C(2047);
    renew_words(t, address, first);
    madvise(tms_rt_cell(first), (last - first) * 2, MADV_DONTNEED);
    renew_words(t, last, end);
}

void tms_rt_renew(uintptr_t address, size_t size)
{
    if (tms_rt_self != NULL) {
        tms_rt_renew_by(tms_rt_self, address, size);
    }
}
