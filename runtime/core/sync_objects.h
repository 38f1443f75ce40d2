/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation objects by address (sync_objects.c); rt.h has their operations. */
#ifndef TMS_RUNTIME_SYNC_OBJECTS_H
#define TMS_RUNTIME_SYNC_OBJECTS_H

#include "runtime/core/thread.h"

uintptr_t tms_rt_object_address(enum tms_rt_sync what, uint32_t id);
/* In memory that the thread is about to clear; clearing is ordered after their use. */
void tms_rt_objects_gone(struct tms_rt_thread *thread, uintptr_t address, size_t size);
void tms_rt_objects_restart(void);
/* The thread ends with locks that it holds: a robust mutex can be taken by others then. */
void tms_rt_drop_locks(struct tms_rt_thread *thread);

#endif
