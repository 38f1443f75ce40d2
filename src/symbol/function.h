/* SPDX-License-Identifier: Apache-2.0 */
/* What debug information says about one function, by its entry: inlined copies included. */
#ifndef TMS_SYMBOL_FUNCTION_H
#define TMS_SYMBOL_FUNCTION_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "symbol/types.h"

/* Is its code so short that it does one thing only? Inlined copies are. */
bool tms_function_is_short(Dwarf_Die *function);

/* Does it return void * and take a size, so that it allocates for others? */
bool tms_function_allocates(struct tms_types *types, Dwarf_Die *function);

/*
 * What an allocator of the standard library allocates memory for: the type, and the name of the
 * program's type in it, which differs where the library puts something of its own around. NULL: the
 * function is no allocator.
 */
const struct tms_type *tms_function_holds(struct tms_types *types, Dwarf_Die *function,
                                          const char **name);

/* The type of a parameter or a variable of the function; NULL: unknown, or not the only one. */
const struct tms_type *tms_function_variable(struct tms_types *types, Dwarf_Die *function,
                                             const char *name, size_t length);

/* What it returns; NULL: unknown, or nothing. */
const struct tms_type *tms_function_returns(struct tms_types *types, Dwarf_Die *function);

/* What a type is called in the name of a block: pointers have a star. NULL: it has no name. */
const char *tms_function_type_name(struct tms_types *types, const struct tms_type *type);

#endif
