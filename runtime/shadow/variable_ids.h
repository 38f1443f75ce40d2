/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of the program's memory in the engine, one for each 8 bytes: a page number, given out in the
 * order of first use, and the offset in the page.
 */
#ifndef TMS_RUNTIME_VARIABLE_IDS_H
#define TMS_RUNTIME_VARIABLE_IDS_H

#include "runtime/shadow/shadow.h"

#define PAGE_WORDS 512u
#define PAGE_SHIFT 12
#define PAGES_MOST (1u << 23) /* pages of the program that can have ids: 32 GiB */

struct tms_rt_pages {
    _Atomic uint32_t *id;   /* by (address & SHADOW_MASK) >> PAGE_SHIFT */
    uintptr_t *address;     /* by id */
    _Atomic uint64_t *time; /* by id: the last event that cleared something in it */
    uint8_t *objects;       /* by id: contains a synchronisation object */
    _Atomic uint32_t count;
};
extern struct tms_rt_pages tms_rt_pages;

bool tms_rt_variable_ids_start(void);

/* Gives the page an id; 0: there are no more. */
uint32_t tms_rt_new_page(uintptr_t address, _Atomic uint32_t *place);

/* The id of the 8 aligned bytes around an address; 0: there are no more. */
static inline uint32_t tms_rt_variable_id(uintptr_t address)
{
    _Atomic uint32_t *place = &tms_rt_pages.id[(address & SHADOW_MASK) >> PAGE_SHIFT];
    uint32_t page = atomic_load_explicit(place, memory_order_relaxed);

    if (page == 0) {
        page = tms_rt_new_page(address, place);
    }
    return page == 0 ? 0 : page * PAGE_WORDS + (uint32_t)(address >> 3) % PAGE_WORDS;
}

/* Does the page of this address have an id, and so perhaps a history? */
bool tms_rt_was_touched(uintptr_t address);
uintptr_t tms_rt_variable_address(uint32_t id);
/* The latest number at which memory near these 8 bytes was cleared. */
uint64_t tms_rt_variable_cleared_at(uint32_t id);
/* Some of these bytes are new memory. */
void tms_rt_note_cleared(uintptr_t address, uintptr_t end);

/* The page holds a synchronisation object. */
void tms_rt_page_has_object(uintptr_t address);
/* Checks whole pages, so the answer is "maybe". */
bool tms_rt_may_hold_objects(uintptr_t address, uintptr_t end);

#endif
