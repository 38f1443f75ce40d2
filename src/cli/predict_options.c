/* SPDX-License-Identifier: Apache-2.0 */
/* Options about what might have happened; see predict_options.h. */
#include "cli/predict_options.h"

#include <assert.h>
#include <string.h>

#include "base/array_length.h"
#include "cli/console.h"

/* ---- words ---------------------------------------------------------------------------- */

/* Each list is in the order of its enumeration, so that a word's place is its value. */
static const char *const race_test_words[] = {
#define X(name, text) text,
    TMS_RACE_TESTS(X)
#undef X
};

static const char *const escape_words[] = {
#define X(name, text) text,
    TMS_ESCAPES(X)
#undef X
};

static const char *const blocks_words[] = {
#define X(name, text) text,
    TMS_BLOCKS(X)
#undef X
};

static const struct tms_option_bit predict_bits[] = {
#define X(name, value, text) {text, TMS_PREDICT_##name},
    TMS_PREDICTS(X)
#undef X
        {"none", 0},
    {0},
};

const char *tms_word_race_test(size_t index)
{
    return index < TMS_LENGTH(race_test_words) ? race_test_words[index] : NULL;
}

const char *tms_word_escape(size_t index)
{
    return index < TMS_LENGTH(escape_words) ? escape_words[index] : NULL;
}

const char *tms_word_blocks(size_t index)
{
    return index < TMS_LENGTH(blocks_words) ? blocks_words[index] : NULL;
}

const char *tms_word_predict(size_t index)
{
    return predict_bits[index].word;
}

/* The place of a word that parsing has found in its list. */
static size_t place_of(const char *text, const char *(*word)(size_t index))
{
    size_t place = 0;

    while (strcmp(word(place), text) != 0) {
        place++;
    }
    return place;
}

/* ---- from values to settings ---------------------------------------------------------- */

void tms_predicting_settings(const struct tms_predicting *predicting, struct tms_settings *settings)
{
    settings->predict = tms_option_bits(predicting->predict, predict_bits);
    settings->race_test = (enum tms_race_test)place_of(predicting->race_test, tms_word_race_test);
    settings->escape = (enum tms_escape)place_of(predicting->escape, tms_word_escape);
    settings->blocks = (enum tms_blocks)place_of(predicting->blocks, tms_word_blocks);
    settings->periods = predicting->periods;
    settings->acq_rel = predicting->acq_rel;
}

static bool has_name(const char *list, const char *name, size_t length)
{
    for (const char *at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == length && memcmp(at, name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Those that the list has not yet: a user may say the same ones any number of times. */
static void add_names(char list[TMS_ENGINE_LIST_SIZE], const char *names)
{
    for (const char *at = names; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        size_t length = strcspn(at, ","), used = strlen(list);
        if (!has_name(list, at, length)) {
            assert(used + 1 + length < TMS_ENGINE_LIST_SIZE);
            snprintf(list + used, TMS_ENGINE_LIST_SIZE - used, "%s%.*s", used > 0 ? "," : "",
                     (int)length, at);
        }
    }
}

bool tms_predicting_has(const char *engines, const char *name)
{
    return strcmp(engines, "all") == 0 || has_name(engines, name, strlen(name));
}

void tms_predicting_add(char list[TMS_ENGINE_LIST_SIZE], const char *name)
{
    if (strcmp(list, "all") != 0) {
        add_names(list, name);
    }
}

const char *tms_predicting_engines(const struct tms_predicting *predicting, const char *engines,
                                   char list[TMS_ENGINE_LIST_SIZE])
{
    list[0] = '\0';
    add_names(list, engines);
    if (predicting->potential && strcmp(engines, "all") != 0) {
        add_names(list, TMS_POTENTIAL_ENGINES);
    }
    return list;
}

bool tms_predicting_judges(const char *engines)
{
    return tms_predicting_has(engines, TMS_JUDGE);
}

bool tms_predicting_levels(const struct tms_predicting *predicting,
                           const struct tms_fail_on *fail_on, const char *engines)
{
    if (tms_fail_on_by_level(fail_on) && !tms_predicting_judges(engines)) {
        tms_say("--fail-on=%s needs the engine " TMS_JUDGE ", which is not in --engine=%s",
                predicting->fail_on, engines);
        return false;
    }
    return true;
}
