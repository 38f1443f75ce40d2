/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The specification of what is atomic, as the lowering uses it. The public header defines rules,
 * patterns and files.
 *
 * Representation: an array of rules in their order. A label is looked up once per analysis (the
 * caller remembers the answer), so matching walks the rules from the last to the first; a few
 * thousand rules (as refinement writes for a large program) times a few thousand labels is fine.
 */
#ifndef TMS_SPEC_SPEC_H
#define TMS_SPEC_SPEC_H

#include "tmesis/tmesis.h"

/* The pattern that matches only blocks without a label. */
#define TMS_SPEC_NO_LABEL "\"\""

enum tms_spec_answer {
    TMS_SPEC_DEFAULT, /* no rule decides; the default applies */
    TMS_SPEC_ATOMIC,
    TMS_SPEC_NOT_ATOMIC,
};

/*
 * Applies the rules to a label, "" for a block without one. Marks every rule whose pattern matches
 * as matched, whether it decides or not.
 */
enum tms_spec_answer tms_spec_ask(struct tms_spec *spec, const char *label);

#endif
