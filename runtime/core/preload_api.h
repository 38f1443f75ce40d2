/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime asks of preload/ in a program that was not compiled for it. */
#ifndef TMS_RUNTIME_PRELOAD_API_H
#define TMS_RUNTIME_PRELOAD_API_H

#include <stdbool.h>
#include <stdint.h>

struct tms_rt_thread;

/*
 * Before an operation: brings the functions that the runtime knows of up to what is on the stack
 * of the thread. Those that are new are entered, those that have returned are left.
 */
void tms_rt_sync_stack(struct tms_rt_thread *thread);

/*
 * Which call of the function that the program is in it is, as a number of the thread; and above it,
 * in the upper half, which one of its caller. 0: not known. As of the last look.
 */
uint64_t tms_rt_activation(void);

/* The thread is over, and its stack with it. */
void tms_rt_drop_stack(void);

/* In the child of a fork. */
void tms_rt_preload_restart(void);

/* The real return address, of which `found` was read at `slot`. */
uintptr_t tms_rt_real_pc(uintptr_t found, const void *slot);

/* Code of the system's libraries: not what the programmer means. */
bool tms_rt_is_foreign(uintptr_t address);

/* The program has a runtime in it, this one or that of a sanitizer. */
bool tms_rt_is_superfluous(void);

#endif
