/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function of the program allocated a block of the heap, and what for: the type of the
 * objects in it, if that is certain. Both are parts of names that stay the same from run to run,
 * with any compiler and optimisation, so nothing here depends on addresses or line numbers.
 *
 * The function is the innermost one that is neither a system function nor an allocation wrapper: a
 * function that returns void * and takes a size, such as xmalloc. The type is, in this order,
 *
 *   - what an allocator or std::make_unique on the way is an instance for;
 *   - the one named in a new expression;
 *   - what the pointer leads to that the result is assigned to, or that the function returns;
 *   - the one named in sizeof.
 *
 * A type counts only if it fits the size of the block.
 */
#ifndef TMS_SYMBOL_ALLOCATION_H
#define TMS_SYMBOL_ALLOCATION_H

#include "symbol/symbols.h"
#include "symbol/types.h"

struct tms_allocation {
    const char *function;        /* "bank::open", without arguments; NULL: unknown */
    const char *type_name;       /* NULL: unknown */
    const struct tms_type *type; /* the same */
    uint64_t skip;               /* bytes before the first object: how many `new` made */
    bool several;                /* it is an array */
};

/* The block of `size` bytes that was allocated by a call with this stack, innermost pc first. */
struct tms_allocation tms_symbols_allocation(struct tms_symbols *symbols, const uint64_t *pcs,
                                             size_t count, uint64_t size);

/* What is at an offset of the block, as tms_type_path writes it. */
size_t tms_allocation_path(const struct tms_allocation *allocation, uint64_t offset, uint64_t bytes,
                           char path[TMS_PATH_SIZE]);

#endif
