/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first question of every hook, and the answers that are given on the spot. The rest is jumped
 * to, so that a hook that has nothing to say needs no frame on the stack.
 */
#ifndef TMS_RUNTIME_HOOK_H
#define TMS_RUNTIME_HOOK_H

#include "recall.h"

/* Is an access of up to 16 bytes one from which nothing follows? The constants as below. */
static inline __attribute__((always_inline)) bool
tms_rt_says_nothing(const struct tms_rt_thread *thread, uintptr_t address, size_t size,
                    enum tms_rt_access access)
{
    return thread == NULL || (tms_rt_ask(thread, address, size < 8 ? size : 8, access) ==
                                  TMS_RT_NOTHING &&
                              (size <= 8 ||
                               tms_rt_ask(thread, address + 8, 8, access) == TMS_RT_NOTHING));
}

/* An access of up to 8 bytes; `size` and `access` are constants. */
static inline __attribute__((always_inline)) void
tms_rt_hook_small(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *thread = tms_rt_self;
    if (thread == NULL)
        return; /* nobody is here */
    enum tms_rt_news news = tms_rt_ask_cell(thread, address, size, access);
    if (news == TMS_RT_NOTHING)
        return;
    if (news == TMS_RT_AGAIN) {
        if (!tms_rt_goes_on(thread, address, size, access, pc))
            tms_rt_repeat(address, size, access, pc);
    } else if (news == TMS_RT_HINTED) {
        /* If it was in this transaction, the entry says more than it must, and nothing wrong. */
        if (!tms_rt_goes_on(thread, address, size, access, pc))
            tms_rt_visit_chain(address, size, access, pc);
    } else if (news == TMS_RT_CHAINED) {
        tms_rt_visit_chain(address, size, access, pc);
    } else {
        tms_rt_visit(address, size, access, pc);
    }
}

static inline __attribute__((always_inline)) void
tms_rt_hook(const volatile void *at, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    uintptr_t address = (uintptr_t)at;
    if (size <= 8)
        tms_rt_hook_small(address, size, access, pc);
    else if (!tms_rt_says_nothing(tms_rt_self, address, size, access))
        tms_rt_visit(address, size, access, pc);
}

#endif
