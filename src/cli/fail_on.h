/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the exit status counts as a violation: --fail-on=[LEVEL][,EVIDENCE][,race] and --strict.
 *
 * Level note asks by the definition: a block was cut, as an exact engine says (or a prediction
 * exists, where --fail-on asks for that). The levels above it ask about data: the findings of
 * `judge` count, from that level on. Where nothing was judged there is only the definition.
 */
#ifndef TMS_CLI_FAIL_ON_H
#define TMS_CLI_FAIL_ON_H

#include <stdbool.h>

#include "tmesis/tmesis.h"

struct tms_fail_on {
    enum tms_level level;       /* the least that counts */
    enum tms_evidence evidence; /* the weakest that counts */
    bool races;                 /* data races count */
    bool level_given;           /* by the user */
};

/* The words of the option: levels, evidence, race. */
const char *tms_word_fail_on(size_t index);

/*
 * From the value of the option, whose words parsing has accepted; NULL: it was not given. A bare
 * evidence word is of level note, and as ever, from predicted on, counts races; without an
 * evidence word it is "observed", without a level word `level`. False after a sentence: there are
 * two levels, or two evidence words.
 */
bool tms_fail_on_parse(struct tms_fail_on *fail_on, const char *words, enum tms_level level);

/* Did the user ask for a level that only a judged finding has? */
static inline bool tms_fail_on_by_level(const struct tms_fail_on *fail_on)
{
    return fail_on->level_given && fail_on->level > TMS_LEVEL_NOTE;
}

/* Does one of the results of an analysis count as a violation? Suppressed and known ones never do.
 */
bool tms_fail_on_fails(const struct tms_fail_on *fail_on, const struct tms_result *const *results,
                       size_t count);

/*
 * Is a verdict incomplete on which the answer depends? It depends on those engines whose findings
 * count, or on all if those of none do.
 */
bool tms_fail_on_doubts(const struct tms_fail_on *fail_on, const struct tms_result *const *results,
                        size_t count);

/* Both for a finished analysis. */
struct tms_fail_on_answer {
    bool fails, doubts;
};
struct tms_fail_on_answer tms_fail_on_ask(const struct tms_fail_on *fail_on,
                                          const struct tms_analysis *analysis);

#endif
