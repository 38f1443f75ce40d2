/* SPDX-License-Identifier: Apache-2.0 */
/* The first question of every hook. */
#ifndef TMS_RUNTIME_HOOK_H
#define TMS_RUNTIME_HOOK_H

#include "shadow.h"

/* What follows from an access of up to 16 bytes; `size` and `access` are constants. */
static inline __attribute__((always_inline)) enum tms_rt_news
tms_rt_ask_first(const struct tms_rt_thread *thread, uintptr_t address, size_t size,
                 enum tms_rt_access access)
{
    if (thread == NULL)
        return TMS_RT_NOTHING; /* nobody is here */
    if (size < 16)
        return tms_rt_ask(thread, address, size, access);
    return tms_rt_ask(thread, address, 8, access) == TMS_RT_NOTHING &&
                   tms_rt_ask(thread, address + 8, 8, access) == TMS_RT_NOTHING
               ? TMS_RT_NOTHING
               : TMS_RT_NEWS;
}

#endif
