/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids under which the engine knows the program's memory, 8 bytes each: a number for every page
 * that was touched, in the order in which they were, and the place in the page.
 */
#ifndef TMS_RUNTIME_VARIABLE_IDS_H
#define TMS_RUNTIME_VARIABLE_IDS_H

#include "runtime/shadow/shadow.h"

#define PAGE_WORDS 512u
#define PAGE_SHIFT 12
#define PAGES_MOST (1u << 23) /* of the program that have ids: 32 GiB of it */

struct tms_rt_pages {
    _Atomic uint32_t *id;   /* by (address & SHADOW_MASK) >> PAGE_SHIFT */
    uintptr_t *address;     /* by id */
    _Atomic uint64_t *time; /* by id: the last event that cleared something in it */
    uint8_t *objects;       /* by id: contains a synchronisation object */
    _Atomic uint32_t count;
};
extern struct tms_rt_pages tms_rt_pages;

bool tms_rt_variable_ids_start(void);

/* Gives the page an id; 0: no more. */
uint32_t tms_rt_new_page(uintptr_t address, _Atomic uint32_t *place);

/* The id of the 8 bytes around an address. 0: no more ids. */
static inline uint32_t tms_rt_variable_id(uintptr_t address)
{
    _Atomic uint32_t *place = &tms_rt_pages.id[(address & SHADOW_MASK) >> PAGE_SHIFT];
    uint32_t page = atomic_load_explicit(place, memory_order_relaxed);

    if (page == 0) {
        page = tms_rt_new_page(address, place);
    }
    return page == 0 ? 0 : page * PAGE_WORDS + (uint32_t)(address >> 3) % PAGE_WORDS;
}

/* Has anything in the page of this address an id, and so perhaps a history? */
bool tms_rt_was_touched(uintptr_t address);
uintptr_t tms_rt_variable_address(uint32_t id);
/* The latest number at which something near these 8 bytes became new memory. */
uint64_t tms_rt_variable_cleared_at(uint32_t id);
/* Something in these bytes is new memory. */
void tms_rt_note_cleared(uintptr_t address, uintptr_t end);

/* The page holds a synchronisation object. */
void tms_rt_page_has_object(uintptr_t address);
/* Asked about whole pages, so the answer is "maybe". */
bool tms_rt_may_hold_objects(uintptr_t address, uintptr_t end);

#endif
