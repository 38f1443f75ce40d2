/* SPDX-License-Identifier: Apache-2.0 */
/* The mapping of shadow memory, and its huge pages. */
#include <assert.h>
#include <sys/mman.h>

#include "runtime/shadow/atomic_locks.h"
#include "runtime/shadow/cells.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/variable_ids.h"

/*
 * Cells are spread over four times the memory that they describe, so random accesses are bound by
 * TLB misses. Huge pages for the shadow of the heap made bench/kernels/tree.c and hashmap.c faster
 * by about a third, on a busy machine. Stacks have none: each would take 2 MB.
 */
#define LARGE        (UINT64_C(1) << 21 >> SHADOW_SHIFT) /* bytes of the program per huge page */
#define LARGE_BLOCKS 1024u /* the number of mappings of a process is limited */
#define REGION_SHIFT 26    /* size and alignment of malloc's arenas for small blocks */
#define MAPPED_LEAST (UINT64_C(1) << 17) /* blocks that malloc maps individually */

static void use_huge_pages(uintptr_t address, uintptr_t end)
{
    uintptr_t first = (address + LARGE - 1) & ~(LARGE - 1), last = end & ~(LARGE - 1);

    assert(address <= end);
    if (first < last) {
        madvise(tms_rt_cell(first), (last - first) << SHADOW_SHIFT, MADV_HUGEPAGE);
    }
}

/* Is it the first block in its region? */
static bool is_new_region(uintptr_t address)
{
    static _Atomic uint8_t known[(SHADOW_MASK >> REGION_SHIFT) + 1];
    _Atomic uint8_t *region = &known[(address & SHADOW_MASK) >> REGION_SHIFT];

    return atomic_load_explicit(region, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(region, 1, memory_order_relaxed) == 0;
}

void tms_rt_expect_use(uintptr_t address, size_t size)
{
    static _Atomic uint32_t large;

    if (!tms_rt_mode.memory) {
        return;
    }
    if (size >= MAPPED_LEAST) {
        if (size >= LARGE &&
            atomic_fetch_add_explicit(&large, 1, memory_order_relaxed) < LARGE_BLOCKS) {
            use_huge_pages(address, address + size);
        }
    } else if (is_new_region(address)) {
        uintptr_t region = address >> REGION_SHIFT << REGION_SHIFT;
        use_huge_pages(region, region + (UINT64_C(1) << REGION_SHIFT));
    }
}

bool tms_rt_shadow_start(void)
{
    void *wanted = (void *)SHADOW_BASE;
    void *base = mmap(wanted, SHADOW_SIZE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (base != wanted) {
        return false;
    }
    madvise(base, SHADOW_SIZE, MADV_DONTDUMP);
    return tms_rt_variable_ids_start() && tms_rt_cells_start();
}

void tms_rt_shadow_restart(void)
{
    madvise((void *)SHADOW_BASE, SHADOW_SIZE, MADV_DONTNEED);
    tms_rt_cells_restart();
    tms_rt_stripes_restart();
}
