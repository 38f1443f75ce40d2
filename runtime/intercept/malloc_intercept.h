/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that a function makes on behalf of its caller. */
#ifndef TMS_RUNTIME_MALLOC_INTERCEPT_H
#define TMS_RUNTIME_MALLOC_INTERCEPT_H

#include <stddef.h>
#include <stdint.h>

/* The code at `pc` counts as the caller of this thread's next allocation. */
void tms_rt_allocating(uintptr_t pc);

/*
 * Until the next call with NULL, this thread allocates from this memory, with the alignment of
 * malloc; nothing is freed, and blocks are zero if the memory is. For library functions that
 * allocate and are called where the heap may be locked.
 */
void tms_rt_lend(char *memory, size_t size);

#endif
