/* SPDX-License-Identifier: Apache-2.0 */
/* The thread registry (thread_registry.c); rt.h has the life cycle of a thread. */
#ifndef TMS_RUNTIME_THREAD_REGISTRY_H
#define TMS_RUNTIME_THREAD_REGISTRY_H

#include "runtime/core/thread.h"

struct tms_rt_thread *tms_rt_registry_start(void);
void tms_rt_registry_restart(struct tms_rt_thread *only);
/* Adds up what the threads have counted so far. */
void tms_rt_registry_count(struct tms_spool_header *header);
/* Calls a function for every live thread. */
void tms_rt_registry_each(void (*function)(struct tms_rt_thread *thread));
/* The stack of a thread, and the function that the thread began with. */
struct tms_rt_stack {
    uintptr_t low, high, entry;
};
/* The one that the address is on; false: it is on none. Cost: a walk over all threads. */
bool tms_rt_find_stack(uintptr_t address, struct tms_rt_stack *stack);
/* Has the first thread been the only one so far? */
bool tms_rt_is_alone(void);
/* Records that there was at least one block, however the process ends. */
void tms_rt_block_seen(void);

#endif
