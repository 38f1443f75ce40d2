/* SPDX-License-Identifier: Apache-2.0 */
/* Sites: a location in the program together with its call stack, as a number (sites.c). */
#ifndef TMS_RUNTIME_SITES_H
#define TMS_RUNTIME_SITES_H

#include "runtime/core/functions.h"
#include "runtime/core/thread.h"

void tms_rt_sites_restart(void);

/* The site of the top frame, computed from the outermost frame without a site inwards. */
uint32_t tms_rt_find_frames(struct tms_rt_thread *thread);
static inline uint32_t tms_rt_frame_site(struct tms_rt_thread *thread)
{
    /* The first entry is a sentinel and has no site. */
    return thread->top->site != 0 || thread->top == thread->frames ? thread->top->site
                                                                   : tms_rt_find_frames(thread);
}
/* Looks up a site that is not in the thread's cache, and caches it. */
uint32_t tms_rt_remember_site(struct tms_rt_site_entry *entry, uint32_t parent, uintptr_t pc);
static inline uint32_t tms_rt_next_site(struct tms_rt_thread *thread, uint32_t parent, uintptr_t pc)
{
    size_t at = (pc ^ pc >> 9) + parent * UINT64_C(9);
    struct tms_rt_site_entry *entry = &thread->sites[at % TMS_RT_SITE_CACHE];

    return entry->pc == pc && entry->parent == parent && entry->id != 0
               ? entry->id
               : tms_rt_remember_site(entry, parent, pc);
}
/* The parent site of an event that is not in the code of the function on top. */
uint32_t tms_rt_find_parent(struct tms_rt_thread *thread, uint32_t parent, uintptr_t pc);
/* The site of an event at pc: the call stack and pc. */
static inline uint32_t tms_rt_site(struct tms_rt_thread *thread, uintptr_t pc)
{
    const struct tms_rt_function *function =
        thread->called.function[tms_rt_call_hash(thread->top->address)];
    uint32_t parent = tms_rt_frame_site(thread);

    if (function->address != thread->top->address || !tms_rt_has_code(function, pc)) {
        parent = tms_rt_find_parent(thread, parent, pc);
    }
    return tms_rt_next_site(thread, parent, pc);
}
/* The same without a thread. */
uint32_t tms_rt_child_site(uint32_t parent, uintptr_t pc);
uintptr_t tms_rt_site_pc(uint32_t site);
/* The site of pc without a call stack. */
uint32_t tms_rt_bare_site(uintptr_t pc);

#endif
