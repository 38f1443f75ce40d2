/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of preload/ that the runtime calls in a program that was not compiled for it. */
#ifndef TMS_RUNTIME_PRELOAD_API_H
#define TMS_RUNTIME_PRELOAD_API_H

#include <stdbool.h>
#include <stdint.h>

struct tms_rt_thread;

/*
 * Before an operation: brings the runtime's frames up to date with the thread's stack. New
 * functions are entered, functions that have returned are left.
 */
void tms_rt_sync_stack(struct tms_rt_thread *thread);

/*
 * The number of the current activation of the innermost function, among those of this thread; in
 * the upper half that of its caller. 0: unknown. As of the last tms_rt_sync_stack.
 */
uint64_t tms_rt_activation(void);

/* The thread has ended, and its stack is gone. */
void tms_rt_drop_stack(void);

/* In the child of a fork. */
void tms_rt_preload_restart(void);

/* The real return address at `slot`, where `found` was read. */
uintptr_t tms_rt_real_pc(uintptr_t found, const void *slot);

/* Is it code of a system library, not user code? */
bool tms_rt_is_foreign(uintptr_t address);

/* Does the program contain a runtime already, this one or a sanitizer's? */
bool tms_rt_is_superfluous(void);

#endif
