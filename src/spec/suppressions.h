/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that suppress findings, as the analysis uses them. The public header defines rules and
 * files.
 *
 * Representation: an array of rules in their order. Every finding is matched with every rule, to
 * find unused rules; findings are few and matched once.
 */
#ifndef TMS_SPEC_SUPPRESSIONS_H
#define TMS_SPEC_SUPPRESSIONS_H

#include "tmesis/tmesis.h"

/* Is there a rule of that kind? `suppressions` may be NULL. */
bool tms_suppressions_have(const struct tms_suppressions *suppressions, enum tms_suppression kind);

/* Does a rule match the lock, so that it is ignored? Marks all rules that do as used. */
bool tms_suppressions_lock(struct tms_suppressions *suppressions, const char *name);

#endif
