/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that a function makes on behalf of its caller. */
#ifndef TMS_RUNTIME_MALLOC_INTERCEPT_H
#define TMS_RUNTIME_MALLOC_INTERCEPT_H

#include <stddef.h>
#include <stdint.h>

/* The next allocation of this thread is that of the code at `pc`. */
void tms_rt_allocating(uintptr_t pc);

/*
 * Until it is called with NULL, what this thread allocates comes from here, aligned as from
 * malloc, zero if the memory is, and nothing is given back: for library functions that allocate
 * and are called where the heap may be locked.
 */
void tms_rt_lend(char *memory, size_t size);

#endif
