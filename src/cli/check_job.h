/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trace on its way through an analysis, for all commands that check traces: the options that
 * say how it is read, the reading with its progress line, and the exit status of the result.
 *
 *     struct values { … struct tms_reading reading; … };
 *     static const struct tms_option options[] = { … TMS_READING_OPTIONS(AT(reading)), {0}};
 */
#ifndef TMS_CLI_CHECK_JOB_H
#define TMS_CLI_CHECK_JOB_H

#include "cli/console.h"
#include "cli/options.h"
#include "cli/predict_options.h"
#include "tmesis/tmesis.h"

struct tms_reading {
    const char *split;
    const char *format;
    bool lenient;
};

/* The row of --split; `field` is the offset of a text. */
#define TMS_SPLIT_OPTION(field)                                                                    \
    {                                                                                              \
        .name = "split", .type = TMS_OPTION_LIST, .at = (field), .initial = "wait,barrier",        \
        .word = tms_word_split, .alone = "none", .environment = true, .value = "WHAT,…",           \
        .help = "which events split a block into two atomic parts"                                 \
    }

/* Rows of an option table; `field` is the offset of a struct tms_reading. */
#define TMS_READING_OPTIONS(field)                                                                 \
    TMS_SPLIT_OPTION((field) + offsetof(struct tms_reading, split)),                               \
        {.name = "lenient",                                                                        \
         .type = TMS_OPTION_FLAG,                                                                  \
         .at = (field) + offsetof(struct tms_reading, lenient),                                    \
         .environment = true,                                                                      \
         .help =                                                                                   \
             "skip events that can't be read or are not well-formed, with a warning; without a "   \
             "violation the verdict is then incomplete"},                                          \
    {                                                                                              \
        .name = "format", .type = TMS_OPTION_CHOICE,                                               \
        .at = (field) + offsetof(struct tms_reading, format), .word = tms_word_format,             \
        .environment = true, .value = "NAME",                                                      \
        .help = "the format of the traces; default: detected from their content"                   \
    }

const char *tms_word_split(size_t index);

/* Puts the value of --split into settings. */
void tms_split_settings(const char *split, struct tms_settings *settings);

/* Puts what these options say of an analysis into its settings. */
void tms_reading_settings(const struct tms_reading *reading, struct tms_settings *settings);

/*
 * Every trace has a context of its own, so that names and failures of one are never mixed with
 * those of the next. What is not made yet is NULL.
 */
struct tms_checking {
    const char *path;
    struct tms_progress progress;
    struct tms_context *context;
    struct tms_reader *reader;
    struct tms_analysis *analysis;
};

/*
 * Reads the trace `checking->path` to its end; the rest of *checking is zero. Complaints about it
 * are passed to `complain`, with the progress line, unless that is NULL. TMS_OK, or a code
 * whose sentence the context has (TMS_ERR_MEMORY: perhaps without any context).
 * tms_checking_free is due in all cases.
 */
int tms_checking_run(struct tms_checking *checking, const struct tms_reading *reading,
                     const struct tms_settings *settings, const struct tms_common *common,
                     tms_complain *complain);
void tms_checking_free(struct tms_checking *checking);

/* Says why tms_checking_run failed, and what to type about it. TMS_EXIT_BAD. */
int tms_checking_bad(const struct tms_checking *checking, int code,
                     const struct tms_reading *reading);

/* Over all engines: what --fail-on calls a violation outweighs an incomplete verdict. */
int tms_checking_status(const struct tms_checking *checking, const struct tms_fail_on *fail_on);

#endif
