/* SPDX-License-Identifier: Apache-2.0 */
/* Clearing the shadow of reused memory (shadow_clear.c). */
#ifndef TMS_RUNTIME_SHADOW_CLEAR_H
#define TMS_RUNTIME_SHADOW_CLEAR_H

#include "runtime/core/thread.h"

/* Like tms_rt_clear_history, for a thread that may no longer be watched. */
void tms_rt_clear_history_by(struct tms_rt_thread *thread, uintptr_t address, size_t size);

#endif
