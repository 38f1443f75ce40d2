/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extracts what findings are identified by from names: the function of a block and the object of a
 * variable (docs/user/judge.md, "Objects and ids"). Texts end with a zero byte and are no longer
 * than the names that they come from.
 */
#ifndef TMS_SPEC_IDENTITY_H
#define TMS_SPEC_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "heap:f:T#2.x" to "heap:f:T", "table[3].count" to "table", "@05.test/Main.n" to "test/Main.n". */
size_t tms_object_text(const char *name, char *text);

/* The same with its fields: "table[3].count" to "table.count". */
size_t tms_member_text(const char *name, char *text);

/* "f<int>(int) [clone .isra.0]" to "f(int)". */
size_t tms_function_text(const char *label, char *text);

/* Is the variable data, rather than a semaphore or the like? */
bool tms_is_data(const char *name);

/* Is the function called main? */
bool tms_is_main(const char *label);

/* The hash that ids are made of; `other` may be NULL. */
uint64_t tms_judged_hash(const char *function, const char *object, const char *other);

#endif
