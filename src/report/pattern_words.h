/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report says about each pattern of docs/user/judge.md, as templates with placeholders:
 *
 *     @X @Y   the variable, and the second one, as they are called in full
 *     @x @y   the same without the object that they are a field of
 *     @T @U   the thread of the block, and the other one
 *     @L      the lock that was given up
 *     @R      "from line 40 to line 42": the two steps in the block
 */
#ifndef TMS_REPORT_PATTERN_WORDS_H
#define TMS_REPORT_PATTERN_WORDS_H

#include "tmesis/tmesis.h"

struct tms_pattern_words {
    const char *clause; /* in a headline, after "deposit() is not atomic: " */
    const char *can;    /* the same of a prediction, after "deposit() can be cut: " */
    const char *why;    /* a sentence */
    const char *would;  /* the same of a prediction, after "with another timing, " */
    const char *remark; /* beside the second step of the block */
    const char *fix;    /* a sentence, where no lock was given up */
    bool harmless;      /* usually meant that way: a lock is no fix */
};

const struct tms_pattern_words *tms_pattern_words(enum tms_pattern pattern);

#endif
