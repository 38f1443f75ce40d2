/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol tables of the program (function_names.c). */
#ifndef TMS_RUNTIME_FUNCTION_NAMES_H
#define TMS_RUNTIME_FUNCTION_NAMES_H

#include "runtime/core/thread.h"

/* The name of the function at an address; "" if it has none. */
#define TMS_RT_NAME_MOST 1000u
void tms_rt_find_name(uintptr_t address, char name[TMS_RT_NAME_MOST]);
/* The bounds of the function at an address; false if no symbol table has it. */
bool tms_rt_find_code(uintptr_t address, uintptr_t *start, uintptr_t *end);
/* Adds files that were loaded since the last call, and records them in the spool. */
void tms_rt_note_modules(void);
void tms_rt_names_restart(void);

#endif
