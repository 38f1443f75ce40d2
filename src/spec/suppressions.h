/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that suppress findings, as the analysis asks for them. The public header says what
 * rules and files mean.
 *
 * Representation: an array of rules in their order. Every finding is held against every rule, so
 * that those are known that suppress nothing: findings are few, and looked at once.
 */
#ifndef TMS_SPEC_SUPPRESSIONS_H
#define TMS_SPEC_SUPPRESSIONS_H

#include "tmesis/tmesis.h"

/* Is there a rule of that kind? `suppressions` may be NULL. */
bool tms_suppressions_have(const struct tms_suppressions *suppressions, enum tms_suppression kind);

/* Does a rule say that there is no such lock? Marks all that do as used. */
bool tms_suppressions_lock(struct tms_suppressions *suppressions, const char *name);

#endif
