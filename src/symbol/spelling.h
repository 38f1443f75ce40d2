/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How functions are spelt: as people write them, and the same whatever the compiler made of them.
 */
#ifndef TMS_SYMBOL_SPELLING_H
#define TMS_SYMBOL_SPELLING_H

#include "symbol/symbol_text.h"

/*
 * A demangled name without what compilers add: "[clone .cold]" and ".constprop.0" go, std::string
 * is not spelt out, and a lambda is "main::{lambda#1}". NULL when memory is short.
 */
const char *tms_spelling_function(struct tms_symbol_texts *texts, const char *name);

/*
 * The same without arguments, template arguments, return type and unnamed namespaces: "bank::open".
 * It has no '#'. NULL when memory is short, or nothing is left.
 */
const char *tms_spelling_brief(struct tms_symbol_texts *texts, const char *name);

/*
 * Has a function a name by which it takes or releases a lock? One of its words is lock, unlock,
 * mutex, acquire, release, guard or the like: "nni_mtx_lock", "Account::Lock", "lockTable"; not
 * "block_read".
 */
bool tms_spelling_locks(const char *name);

/*
 * A demangled variable without the function that it is local to, and without unnamed namespaces,
 * which not all compilers tell. NULL for NULL and when memory is short.
 */
const char *tms_spelling_variable(struct tms_symbol_texts *texts, const char *name);

#endif
