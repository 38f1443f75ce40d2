/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation objects by address (sync_objects.c); rt.h has their operations. */
#ifndef TMS_RUNTIME_SYNC_OBJECTS_H
#define TMS_RUNTIME_SYNC_OBJECTS_H

#include "runtime/core/thread.h"

uintptr_t tms_rt_object_address(enum tms_rt_sync what, uint32_t id);
/*
 * Removes the objects in memory that the thread is about to clear, which is ordered after their
 * use.
 */
void tms_rt_objects_gone(struct tms_rt_thread *thread, uintptr_t address, size_t size);
void tms_rt_objects_restart(void);
/* The thread ends while it holds locks: others can take those that are robust mutexes. */
void tms_rt_drop_locks(struct tms_rt_thread *thread);

#endif
