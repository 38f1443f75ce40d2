/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options about engines, for all commands that run a list of them: which ones, what they
 * determine, and how much of their findings is listed.
 *
 *     struct values { … struct tms_engine_options checking; … };
 *     static const struct tms_option options[] = {
 *         … TMS_ENGINE_OPTIONS(AT(checking), "…", "…", "…", "…"), {0}};
 */
#ifndef TMS_CLI_ENGINE_OPTIONS_H
#define TMS_CLI_ENGINE_OPTIONS_H

#include "cli/options.h"
#include "cli/predict_options.h"
#include "tmesis/tmesis.h"

struct tms_engine_options {
    const char *engines;
    uint64_t max_violations;
    bool engine_given; /* the user named the engines */
    bool blame;
    bool all;
    bool stats;
};

/*
 * Rows of an option table; `field` is the offset of a struct tms_engine_options. The texts say what
 * differs between a trace and a running program: the help of --engine, its brief text (NULL: none),
 * and the help of --no-blame and --all.
 */
#define TMS_ENGINE_OPTIONS(field, engine_help, engine_brief, blame_help, all_help)                 \
    {.name = "engine",                                                                             \
     .type = TMS_OPTION_LIST,                                                                      \
     .at = (field) + offsetof(struct tms_engine_options, engines),                                 \
     .given = (field) + offsetof(struct tms_engine_options, engine_given),                         \
     .initial = TMS_DEFAULT_ENGINES,                                                               \
     .word = tms_word_engine,                                                                      \
     .alone = "all",                                                                               \
     .environment = true,                                                                          \
     .value = "NAME,…",                                                                            \
     .help = (engine_help),                                                                        \
     .brief = (engine_brief)},                                                                     \
        {.name = "blame",                                                                          \
         .type = TMS_OPTION_FLAG,                                                                  \
         .at = (field) + offsetof(struct tms_engine_options, blame),                               \
         .initial = "yes",                                                                         \
         .environment = true,                                                                      \
         .help = (blame_help)},                                                                    \
        {.name = "all",                                                                            \
         .type = TMS_OPTION_FLAG,                                                                  \
         .at = (field) + offsetof(struct tms_engine_options, all),                                 \
         .environment = true,                                                                      \
         .help = (all_help)},                                                                      \
        {.name = "max-violations",                                                                 \
         .type = TMS_OPTION_COUNT,                                                                 \
         .at = (field) + offsetof(struct tms_engine_options, max_violations),                      \
         .initial = "0",                                                                           \
         .environment = true,                                                                      \
         .value = "N",                                                                             \
         .help = "list at most N findings per engine; 0: all of them"},                            \
    {                                                                                              \
        .name = "stats", .type = TMS_OPTION_FLAG,                                                  \
        .at = (field) + offsetof(struct tms_engine_options, stats), .environment = true,           \
        .help = "show the engines' time, memory and counters"                                      \
    }

const char *tms_word_engine(size_t index); /* "all", and the engines */

/*
 * Puts what these options say of an analysis into its settings, except the list of engines, to
 * which other options may add.
 */
void tms_engine_settings(const struct tms_engine_options *options, struct tms_settings *settings);

/* The same for the settings of a report. */
void tms_engine_report_settings(const struct tms_engine_options *options,
                                const struct tms_predicting *predicting,
                                struct tms_report_settings *settings);

#endif
