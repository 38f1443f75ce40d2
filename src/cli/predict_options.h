/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options about prediction, for all commands that run engines: how engines predict, which
 * predictions are shown, and how they affect the exit status.
 *
 *     struct values { … struct tms_predicting predicting; … };
 *     static const struct tms_option options[] = { … TMS_PREDICTING_OPTIONS(AT(predicting)), {0}};
 */
#ifndef TMS_CLI_PREDICT_OPTIONS_H
#define TMS_CLI_PREDICT_OPTIONS_H

#include "cli/fail_on.h"
#include "cli/options.h"
#include "tmesis/tmesis.h"

struct tms_predicting {
    const char *fail_on; /* fail_on.h; NULL: not given */
    const char *predict;
    const char *race_test;
    const char *escape;
    const char *blocks;
    bool potential;
    bool periods;
    bool acq_rel;
};

/* The engine that judges findings by data. */
#define TMS_JUDGE "judge"

/* The engines of check and run without --engine: verdict, judgement, prediction. */
#define TMS_DEFAULT_ENGINES "frontier," TMS_JUDGE ",sidetrack"

/* What --potential adds to the engines. `atomizer` is not among them: `reduction` says the same
 * with fewer false alarms. */
#define TMS_POTENTIAL_ENGINES "blocks,reduction,goodlock"

/* Rows of an option table; `field` is the offset of a struct tms_predicting. */
#define TMS_PREDICTING_OPTIONS(field)                                                              \
    {.name = "potential",                                                                          \
     .type = TMS_OPTION_FLAG,                                                                      \
     .at = (field) + offsetof(struct tms_predicting, potential),                                   \
     .environment = true,                                                                          \
     .help =                                                                                       \
         "also report what the locks held do not rule out; these may be false alarms. Adds the "   \
         "engines " TMS_POTENTIAL_ENGINES,                                                         \
     .brief = "also report what locks do not rule out"},                                           \
        {.name = "fail-on",                                                                        \
         .type = TMS_OPTION_LIST,                                                                  \
         .at = (field) + offsetof(struct tms_predicting, fail_on),                                 \
         .word = tms_word_fail_on,                                                                 \
         .environment = true,                                                                      \
         .value = "[LEVEL][,EVIDENCE][,race]",                                                     \
         .help =                                                                                   \
             "what the exit status counts as a violation: findings of at least this level (note: " \
             "every block that was cut), and whether predicted and potential findings count "      \
             "besides observed ones; race: data races count too",                                  \
         .brief = "what the exit status counts: note, warning, error; observed, predicted, "       \
                  "potential; race"},                                                              \
        {.name = "predict",                                                                        \
         .type = TMS_OPTION_LIST,                                                                  \
         .at = (field) + offsetof(struct tms_predicting, predict),                                 \
         .initial = "shared,barrier,wait,atomic,pair",                                             \
         .word = tms_word_predict,                                                                 \
         .alone = "none",                                                                          \
         .environment = true,                                                                      \
         .value = "WHAT,…",                                                                        \
         .help = "what sidetrack considers besides plain locks, forks and joins"},                 \
        {.name = "race-test",                                                                      \
         .type = TMS_OPTION_CHOICE,                                                                \
         .at = (field) + offsetof(struct tms_predicting, race_test),                               \
         .initial = "default",                                                                     \
         .word = tms_word_race_test,                                                               \
         .environment = true,                                                                      \
         .value = "NAME",                                                                          \
         .help = "how atomizer and reduction decide whether two threads may race on a variable; "  \
                 "default: each as in its paper"},                                                 \
        {.name = "escape",                                                                         \
         .type = TMS_OPTION_CHOICE,                                                                \
         .at = (field) + offsetof(struct tms_predicting, escape),                                  \
         .initial = "auto",                                                                        \
         .word = tms_word_escape,                                                                  \
         .environment = true,                                                                      \
         .value = "WHEN",                                                                          \
         .help = "when the lockset engines treat a variable as shared. auto: after its escape "    \
                 "event, or without one after the first access by a second thread; events: "       \
                 "after its escape event only; off: always"},                                      \
        {.name = "blocks",                                                                         \
         .type = TMS_OPTION_CHOICE,                                                                \
         .at = (field) + offsetof(struct tms_predicting, blocks),                                  \
         .initial = "2v",                                                                          \
         .word = tms_word_blocks,                                                                  \
         .environment = true,                                                                      \
         .value = "HOW",                                                                           \
         .help = "what the engine blocks compares. 1v: accesses to one variable; 2v: pairs of "    \
                 "blocks over all variables; full: also cycles of more than two blocks"},          \
        {.name = "periods",                                                                        \
         .type = TMS_OPTION_FLAG,                                                                  \
         .at = (field) + offsetof(struct tms_predicting, periods),                                 \
         .initial = "yes",                                                                         \
         .environment = true,                                                                      \
         .help =                                                                                   \
             "let the lockset engines ignore that thread start, thread end and barriers order "    \
             "events"},                                                                            \
    {                                                                                              \
        .name = "acq-rel", .type = TMS_OPTION_FLAG,                                                \
        .at = (field) + offsetof(struct tms_predicting, acq_rel), .initial = "yes",                \
        .environment = true, .help = "don't let reduction move whole critical sections"            \
    }

const char *tms_word_predict(size_t index);
const char *tms_word_race_test(size_t index);
const char *tms_word_escape(size_t index);
const char *tms_word_blocks(size_t index);

/* Puts what these options say of an analysis into its settings. */
void tms_predicting_settings(const struct tms_predicting *predicting,
                             struct tms_settings *settings);

/* Room for the names of all engines. */
#define TMS_ENGINE_LIST_SIZE 512

/* Fills the list: the engines of --engine and, if it was asked for, of --potential, each once. */
const char *tms_predicting_engines(const struct tms_predicting *predicting, const char *engines,
                                   char list[TMS_ENGINE_LIST_SIZE]);

/* One more, unless the list has it. */
void tms_predicting_add(char list[TMS_ENGINE_LIST_SIZE], const char *name);

/* Is it among these engines? */
bool tms_predicting_has(const char *engines, const char *name);

/* Is there one that judges among these engines? */
bool tms_predicting_judges(const char *engines);

/* False after a sentence: --fail-on asks for a level that none of the engines gives. */
bool tms_predicting_levels(const struct tms_predicting *predicting,
                           const struct tms_fail_on *fail_on, const char *engines);

#endif
