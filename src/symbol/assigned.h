/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Infers the type that a call allocates from its statement (statement.h) and the types of the
 * variables there (function.h).
 */
#ifndef TMS_SYMBOL_ASSIGNED_H
#define TMS_SYMBOL_ASSIGNED_H

#include "symbol/module.h"
#include "symbol/symbols.h"

struct tms_assigned {
    const struct tms_type *type; /* NULL: unknown */
    const char *name;
    bool by_new;
};

/*
 * Infers it for a call of `callee` (NULL: malloc or the like) that returned `size` bytes, in the
 * index-th function around an address of the file, described by `frame`.
 */
void tms_module_assigned(struct tms_module *module, struct tms_symbol_texts *texts,
                         uint64_t address, size_t index, const struct tms_frame *frame,
                         const char *callee, uint64_t size, struct tms_assigned *assigned);

/* The same for an address of the process. */
void tms_symbols_assigned(struct tms_symbols *symbols, uint64_t pc, size_t index,
                          const char *callee, uint64_t size, struct tms_assigned *assigned);

#endif
