/* SPDX-License-Identifier: Apache-2.0 */
/* Ids for the program's memory; see variable_ids.h. */
#include "runtime/shadow/variable_ids.h"

#include <assert.h>

#include "runtime/core/engine_online.h"
#include "runtime/core/runtime_memory.h"

struct tms_rt_pages tms_rt_pages;

bool tms_rt_variable_ids_start(void)
{
    struct tms_rt_pages *pages = &tms_rt_pages;

    pages->id = tms_rt_map((SHADOW_MASK >> PAGE_SHIFT) * sizeof(*pages->id) + 8);
    pages->address = tms_rt_map(PAGES_MOST * sizeof(*pages->address));
    pages->time = tms_rt_map(PAGES_MOST * sizeof(*pages->time));
    pages->objects = tms_rt_map(PAGES_MOST);
    pages->count = 1;
    return pages->id != NULL && pages->address != NULL && pages->time != NULL &&
           pages->objects != NULL;
}

uint32_t tms_rt_new_page(uintptr_t address, _Atomic uint32_t *place)
{
    uint32_t id = atomic_fetch_add(&tms_rt_pages.count, 1);
    uint32_t none = 0;

    if (id >= PAGES_MOST) {
        tms_rt_record_loss(TMS_SPOOL_LOST_MEMORY);
        return 0;
    }
    tms_rt_pages.address[id] = address >> PAGE_SHIFT << PAGE_SHIFT;
    if (tms_rt_mode.records) { /* renewals so far have found no page to note their time in */
        atomic_store_explicit(&tms_rt_pages.time[id], tms_rt_now(), memory_order_relaxed);
    }
    return atomic_compare_exchange_strong(place, &none, id) ? id : none;
}

static uint32_t page_of(uintptr_t address)
{
    return atomic_load_explicit(&tms_rt_pages.id[(address & SHADOW_MASK) >> PAGE_SHIFT],
                                memory_order_relaxed);
}

bool tms_rt_was_touched(uintptr_t address)
{
    return page_of(address) != 0;
}

uintptr_t tms_rt_variable_address(uint32_t id)
{
    assert(id / PAGE_WORDS > 0 && id / PAGE_WORDS < PAGES_MOST);
    return tms_rt_pages.address[id / PAGE_WORDS] + id % PAGE_WORDS * 8;
}

uint64_t tms_rt_variable_cleared_at(uint32_t id)
{
    assert(id / PAGE_WORDS < PAGES_MOST);
    return atomic_load_explicit(&tms_rt_pages.time[id / PAGE_WORDS], memory_order_relaxed);
}

void tms_rt_page_has_object(uintptr_t address)
{
    tms_rt_pages.objects[tms_rt_variable_id(address) / PAGE_WORDS] = 1;
}

bool tms_rt_may_hold_objects(uintptr_t address, uintptr_t end)
{
    assert(address < end);
    for (uintptr_t page = address >> PAGE_SHIFT; page <= (end - 1) >> PAGE_SHIFT; page++) {
        if (tms_rt_pages.objects[page_of(page << PAGE_SHIFT)] != 0) {
            return true;
        }
    }
    return false;
}

void tms_rt_note_cleared(uintptr_t address, uintptr_t end)
{
    uint64_t now = tms_rt_now();

    assert(address < end);
    for (uintptr_t page = address >> PAGE_SHIFT; page <= (end - 1) >> PAGE_SHIFT; page++) {
        uint32_t id = page_of(page << PAGE_SHIFT);
        if (id != 0) {
            atomic_store_explicit(&tms_rt_pages.time[id], now, memory_order_relaxed);
        }
    }
}
