/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about one function, or an inlined copy, by its entry in the debug information. */
#ifndef TMS_SYMBOL_FUNCTION_H
#define TMS_SYMBOL_FUNCTION_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "symbol/types.h"

/* Is its code so short that it does only one thing? Inlined copies count as short. */
bool tms_function_is_short(Dwarf_Die *function);

/* Does it return void * and take a size, like an allocation wrapper? */
bool tms_function_allocates(struct tms_types *types, Dwarf_Die *function);

/*
 * The type that an allocator of the standard library allocates, and the name of the program's type
 * in it, which differs if the library wraps it. NULL: the function is not an allocator.
 */
const struct tms_type *tms_function_holds(struct tms_types *types, Dwarf_Die *function,
                                          const char **name);

/* The type of a parameter or a variable of the function; NULL: unknown, or not the only one. */
const struct tms_type *tms_function_variable(struct tms_types *types, Dwarf_Die *function,
                                             const char *name, size_t length);

/* The return type; NULL: unknown, or void. */
const struct tms_type *tms_function_returns(struct tms_types *types, Dwarf_Die *function);

/* The name of a type as used in the name of a block: pointers have a star. NULL: it has no name. */
const char *tms_function_type_name(struct tms_types *types, const struct tms_type *type);

#endif
