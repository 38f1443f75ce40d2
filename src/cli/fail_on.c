/* SPDX-License-Identifier: Apache-2.0 */
/* Which findings count for the exit status; see fail_on.h. */
#include "cli/fail_on.h"

#include <string.h>

#include "base/array_length.h"
#include "cli/console.h"

#define ENGINES_MOST 32 /* results of one analysis */

/* ---- words ---------------------------------------------------------------------------- */

enum word_class { LEVEL, EVIDENCE, RACE, WORD_CLASSES };

static const struct {
    const char *text;
    enum word_class class;
    int value;
} words[] = {
#define X(name, text) {text, LEVEL, TMS_LEVEL_##name},
    TMS_LEVELS(X)
#undef X
#define X(name, text) {text, EVIDENCE, TMS_EVIDENCE_##name},
        TMS_EVIDENCE(X)
#undef X
            {"race", RACE, true},
};

const char *tms_word_fail_on(size_t index)
{
    return index < TMS_LENGTH(words) ? words[index].text : NULL;
}

/* The place of a word that parsing has found in the list. */
static size_t place_of(const char *text, size_t length)
{
    size_t place = 0;

    while (strlen(words[place].text) != length || memcmp(words[place].text, text, length) != 0) {
        place++;
    }
    return place;
}

bool tms_fail_on_parse(struct tms_fail_on *fail_on, const char *text, enum tms_level level)
{
    size_t given[WORD_CLASSES] = {0}; /* place of the word + 1 */

    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        size_t length = strcspn(at, ","), place = place_of(at, length);
        size_t *known = &given[words[place].class];
        if (*known != 0 && *known != place + 1) {
            tms_say("--fail-on takes at most one level and one evidence word, not both %s and %s",
                    words[*known - 1].text, words[place].text);
            return false;
        }
        *known = place + 1;
        at += length + (at[length] == ',');
    }
    bool evidence_only = given[EVIDENCE] != 0 && given[LEVEL] == 0;
    *fail_on = (struct tms_fail_on){
        .level = given[LEVEL] != 0 ? (enum tms_level)words[given[LEVEL] - 1].value
                 : evidence_only   ? TMS_LEVEL_NOTE
                                   : level,
        .evidence = given[EVIDENCE] != 0 ? (enum tms_evidence)words[given[EVIDENCE] - 1].value
                                         : TMS_EVIDENCE_OBSERVED,
        .level_given = given[LEVEL] != 0,
    };
    fail_on->races =
        given[RACE] != 0 || (evidence_only && fail_on->evidence > TMS_EVIDENCE_OBSERVED);
    return true;
}

/* ---- engines -------------------------------------------------------------------------- */

/* What an engine's findings are about, by what it answers when it has some. */
enum subject { DEFINITION, JUDGEMENT, RACES };

static enum subject subject_of(const struct tms_result *result)
{
    switch ((enum tms_verdict)result->engine->found) {
    case TMS_VERDICT_AFFECTED:
        return JUDGEMENT;
    case TMS_VERDICT_RACE:
        return RACES;
    default:
        return DEFINITION;
    }
}

/* The evidence that an engine has for what it finds. */
static enum tms_evidence evidence_of(enum tms_verdict found)
{
    switch (found) {
    case TMS_VERDICT_PREDICTED:
        return TMS_EVIDENCE_PREDICTED;
    case TMS_VERDICT_POTENTIAL:
        return TMS_EVIDENCE_POTENTIAL;
    default:
        return TMS_EVIDENCE_OBSERVED;
    }
}

/* Was it judged, and does an exact engine decide by the definition? */
struct present {
    bool judge, exact;
};

static struct present look(const struct tms_result *const *results, size_t count)
{
    struct present present = {0};

    for (size_t i = 0; i < count; i++) {
        present.judge = present.judge || subject_of(results[i]) == JUDGEMENT;
        present.exact = present.exact || results[i]->engine->found == TMS_VERDICT_VIOLATION;
    }
    return present;
}

/* Can findings of that engine count at all, with that evidence? */
static bool counts(const struct tms_fail_on *fail_on, const struct present *present,
                   const struct tms_result *result, enum tms_evidence evidence)
{
    bool by_data = fail_on->level > TMS_LEVEL_NOTE && present->judge;

    switch (subject_of(result)) {
    case RACES:
        return fail_on->races;
    case JUDGEMENT:
        return by_data || !present->exact;
    default:
        return !by_data && evidence <= fail_on->evidence;
    }
}

/* ---- findings ------------------------------------------------------------------------- */

static bool judged_fails(const struct tms_fail_on *fail_on, const struct tms_result *result)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        if (finding->evidence <= fail_on->evidence && finding->judgement != NULL &&
            finding->judgement->level >= fail_on->level) {
            return true;
        }
    }
    return false;
}

/* Findings beyond the list are neither suppressed nor known. */
static bool some_left(const struct tms_fail_on *fail_on, const struct present *present,
                      const struct tms_result *result)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        if (counts(fail_on, present, result, result->findings[i].evidence)) {
            return true;
        }
    }
    return result->unlisted > 0;
}

static bool has_found(const struct tms_result *result)
{
    static const bool found[] = {
        [TMS_VERDICT_VIOLATION] = true,   [TMS_VERDICT_PREDICTED] = true,
        [TMS_VERDICT_POTENTIAL] = true,   [TMS_VERDICT_RACE] = true,
        [TMS_VERDICT_UNAFFECTED] = false,
    };

    return found[result->verdict];
}

static bool fails(const struct tms_fail_on *fail_on, const struct present *present,
                  const struct tms_result *result)
{
    uint64_t left_out = result->suppressed + result->known;

    if (!counts(fail_on, present, result, evidence_of(result->verdict))) {
        return false;
    }
    if (subject_of(result) == JUDGEMENT) {
        return judged_fails(fail_on, result);
    }
    return has_found(result) && (left_out == 0 || some_left(fail_on, present, result));
}

bool tms_fail_on_fails(const struct tms_fail_on *fail_on, const struct tms_result *const *results,
                       size_t count)
{
    struct present present = look(results, count);

    for (size_t i = 0; i < count; i++) {
        if (fails(fail_on, &present, results[i])) {
            return true;
        }
    }
    return false;
}

static bool may_count(const struct tms_fail_on *fail_on, const struct present *present,
                      const struct tms_result *result)
{
    return counts(fail_on, present, result, evidence_of((enum tms_verdict)result->engine->found));
}

/*
 * What was found need not be what counts: a judged finding may be of another level, and any may be
 * suppressed or in the baseline. Then it matters that not everything was seen.
 */
static bool is_doubtful(const struct tms_result *result)
{
    bool open = result->suppressed + result->known > 0 || subject_of(result) == JUDGEMENT;

    return result->verdict == TMS_VERDICT_INCOMPLETE || (open && !result->complete);
}

bool tms_fail_on_doubts(const struct tms_fail_on *fail_on, const struct tms_result *const *results,
                        size_t count)
{
    struct present present = look(results, count);
    bool counting = false;

    for (size_t i = 0; i < count; i++) {
        counting = counting || may_count(fail_on, &present, results[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (is_doubtful(results[i]) && (!counting || may_count(fail_on, &present, results[i]))) {
            return true;
        }
    }
    return false;
}

struct tms_fail_on_answer tms_fail_on_ask(const struct tms_fail_on *fail_on,
                                          const struct tms_analysis *analysis)
{
    const struct tms_result *results[ENGINES_MOST], *result;
    size_t count = 0;

    while (count < ENGINES_MOST && (result = tms_analysis_result(analysis, count)) != NULL) {
        results[count++] = result;
    }
    return (struct tms_fail_on_answer){tms_fail_on_fails(fail_on, results, count),
                                       tms_fail_on_doubts(fail_on, results, count)};
}
