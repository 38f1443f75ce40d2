/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How functions are spelt: as people write them, and the same whatever the compiler made of them.
 */
#ifndef TMS_SYMBOL_SPELLING_H
#define TMS_SYMBOL_SPELLING_H

#include "symbol/texts.h"

/*
 * A demangled name without what compilers add: "[clone .cold]" and ".constprop.0" go, std::string
 * is not spelt out, and a lambda is "main::{lambda#1}". NULL when memory is short.
 */
const char *tms_spelling_function(struct tms_texts *texts, const char *name);

/*
 * The same without arguments, template arguments, return type and unnamed namespaces: "bank::open".
 * It has no '#'. NULL when memory is short, or nothing is left.
 */
const char *tms_spelling_brief(struct tms_texts *texts, const char *name);

#endif
