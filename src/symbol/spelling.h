/* SPDX-License-Identifier: Apache-2.0 */
/* Normalises the names of functions: as people write them, and independent of the compiler. */
#ifndef TMS_SYMBOL_SPELLING_H
#define TMS_SYMBOL_SPELLING_H

#include "symbol/symbol_text.h"

/*
 * A demangled name without compiler additions: removes "[clone .cold]" and ".constprop.0",
 * abbreviates std::string, and writes a lambda as "main::{lambda#1}". NULL if out of memory.
 */
const char *tms_spelling_function(struct tms_symbol_texts *texts, const char *name);

/*
 * The same without arguments, template arguments, return type and unnamed namespaces: "bank::open".
 * It contains no '#'. NULL if out of memory or if nothing is left.
 */
const char *tms_spelling_brief(struct tms_symbol_texts *texts, const char *name);

/*
 * Does the name suggest that the function acquires or releases a lock? One of its words must be
 * lock, unlock, mutex, acquire, release, guard or the like: "nni_mtx_lock", "Account::Lock",
 * "lockTable"; not "block_read".
 */
bool tms_spelling_locks(const char *name);

/*
 * A demangled variable without the function that it is local to, and without unnamed namespaces,
 * which not all compilers record. NULL for NULL and if out of memory.
 */
const char *tms_spelling_variable(struct tms_symbol_texts *texts, const char *name);

#endif
