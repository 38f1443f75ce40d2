/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first question of every hook, and the answers that are given on the spot. The rest is jumped
 * to, so that a hook that has nothing to say needs no frame on the stack.
 */
#ifndef TMS_RUNTIME_HOOK_H
#define TMS_RUNTIME_HOOK_H

#include "runtime/shadow/recall.h"

/*
 * What was hinted at may be of this transaction. Then an entry for it says more than it must, and
 * nothing wrong; as long as the list is short that is cheaper than to ask the chain.
 */
#define TMS_RT_HINTED_MOST 32u

/* Is an access of up to 16 bytes one from which nothing follows? The constants as below. */
static inline __attribute__((always_inline)) bool
tms_rt_says_nothing(const struct tms_rt_thread *thread, uintptr_t address, size_t size,
                    enum tms_rt_access access)
{
    return thread == NULL ||
           (tms_rt_ask(thread, address, size < 8 ? size : 8, access) == TMS_RT_NOTHING &&
            (size <= 8 || tms_rt_ask(thread, address + 8, 8, access) == TMS_RT_NOTHING));
}

/* The first answer, of one cell or of the two of 16 aligned bytes; `size` and `access` constants.
 */
static inline __attribute__((always_inline)) enum tms_rt_news
tms_rt_ask_first(const struct tms_rt_thread *thread, uintptr_t address, size_t size,
                 enum tms_rt_access access)
{
    if (size <= 8) {
        return tms_rt_ask_cell(thread, address, size, access);
    }
    enum tms_rt_news one = tms_rt_ask_cell(thread, address, 8, access);
    enum tms_rt_news other = tms_rt_ask_cell(thread, address + 8, 8, access);
    return one < other ? one : other;
}

static inline __attribute__((always_inline)) void
tms_rt_hook(const volatile void *at, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    struct tms_rt_thread *thread = tms_rt_self;
    uintptr_t address = (uintptr_t)at;
    if (thread == NULL) {
        return; /* nobody is here */
    }
    enum tms_rt_news news = tms_rt_ask_first(thread, address, size, access);
    if (news == TMS_RT_NOTHING ||
        (news >= TMS_RT_HINTED && tms_rt_goes_on(thread, address, size, access, pc))) {
        return;
    }
    if (size > 8 || (size > 1 && (address & 7) > 8 - size)) {
        tms_rt_visit_wide(address, size, access, pc);
    } else if (news == TMS_RT_AGAIN ||
               (news == TMS_RT_HINTED && thread->recalled_count < TMS_RT_HINTED_MOST)) {
        tms_rt_repeat(address, size, access, pc);
    } else if (news != TMS_RT_NEWS) {
        tms_rt_visit_chain(address, size, access, pc);
    } else {
        tms_rt_visit(address, size, access, pc);
    }
}

#endif
