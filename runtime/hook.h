/* SPDX-License-Identifier: Apache-2.0 */
/* The first question of every hook. */
#ifndef TMS_RUNTIME_HOOK_H
#define TMS_RUNTIME_HOOK_H

#include "shadow.h"

/* Nobody is here, or nothing follows from this access; `size` and `access` are constants. */
static inline __attribute__((always_inline)) bool
tms_rt_nothing_new(const struct tms_rt_thread *thread, uintptr_t address, size_t size,
                   enum tms_rt_access access)
{
    if (thread == NULL)
        return true;
    if (size == 16)
        return tms_rt_ask(thread, address, 8, access) == TMS_RT_NOTHING &&
               tms_rt_ask(thread, address + 8, 8, access) == TMS_RT_NOTHING;
    return tms_rt_ask(thread, address, size, access) == TMS_RT_NOTHING;
}

#endif
