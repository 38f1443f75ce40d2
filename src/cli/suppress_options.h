/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options about findings that are not to be reported, for `run` and `check`: --suppress, the
 * shorthands --ignore-…, and --write-suppressions.
 *
 *     struct values { … struct tms_suppressing suppressing; … };
 *     static const struct tms_option options[] = { … TMS_SUPPRESS_OPTIONS(AT(suppressing)), {0}};
 */
#ifndef TMS_CLI_SUPPRESS_OPTIONS_H
#define TMS_CLI_SUPPRESS_OPTIONS_H

#include <stdio.h>

#include "cli/options.h"
#include "tmesis/tmesis.h"

struct tms_suppressing {
    struct tms_given rules;
    const char *output; /* of --write-suppressions; NULL: not wanted */
};

#define TMS_SUPPRESS_RULE(option_name, field, value_name, brief_text, text)                        \
    {                                                                                              \
        .name = (option_name), .type = TMS_OPTION_ORDERED,                                         \
        .at = (field) + offsetof(struct tms_suppressing, rules), .value = (value_name),            \
        .help = (text), .brief = (brief_text)                                                      \
    }

/* Rows of an option table; `field` is the offset of a struct tms_suppressing. */
#define TMS_SUPPRESS_RULES(field)                                                                  \
    TMS_SUPPRESS_RULE("suppress", field, "FILE|ID", "don't report these findings",                 \
                      "neither report nor count for the exit status: findings that a rule in "     \
                      "FILE matches, or the finding with this ID (AV-…)"),                         \
        TMS_SUPPRESS_RULE("ignore-block", field, "GLOB", NULL,                                     \
                          "suppress findings whose block is a function that matches"),             \
        TMS_SUPPRESS_RULE("ignore-lock", field, "GLOB", NULL,                                      \
                          "ignore locks whose name matches: they order and protect nothing"),      \
        TMS_SUPPRESS_RULE(                                                                         \
            "ignore-variable", field, "GLOB", NULL,                                                \
            "suppress findings about a variable that matches, or about a variable of an "          \
            "object that matches"),                                                                \
        TMS_SUPPRESS_RULE("ignore-file", field, "GLOB", NULL,                                      \
                          "suppress findings whose block, or a step of it, is in a source file "   \
                          "that matches"),                                                         \
        TMS_SUPPRESS_RULE("ignore-object", field, "GLOB", NULL,                                    \
                          "suppress findings with a step of the block in a shared library that "   \
                          "matches, where call stacks are known")

/* And the option that writes such rules. */
#define TMS_SUPPRESS_OPTIONS(field)                                                                \
    TMS_SUPPRESS_RULES(field),                                                                     \
    {                                                                                              \
        .name = "write-suppressions", .type = TMS_OPTION_TEXT,                                     \
        .at = (field) + offsetof(struct tms_suppressing, output), .value = "FILE",                 \
        .help = "write a rule for --suppress for each finding, with a comment that describes it"   \
    }

/* The rules that the user gave, and those to be written. */
struct tms_suppress {
    struct tms_context *context;   /* of its errors */
    struct tms_suppressions *list; /* for tms_settings; NULL: no rule was given */
    const char *output;            /* NULL: nothing is to be written */
    char *text;                    /* what is to be written, … */
    size_t size;
    FILE *lines; /* … where it is gathered; NULL: not wanted */
};

/* TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence; tms_suppress_close is due in both cases. */
int tms_suppress_open(struct tms_suppress *suppress, const struct tms_suppressing *suppressing);
void tms_suppress_close(struct tms_suppress *suppress);

/* Takes in the findings of a finished analysis, for --write-suppressions. */
void tms_suppress_take(struct tms_suppress *suppress, const struct tms_analysis *analysis);

/* "error: deposit, account.balance, lost-update": level, block, object, pattern. */
void tms_suppress_describe(FILE *out, const struct tms_context *names,
                           const struct tms_finding *finding);

/* Writes what was taken in, if asked to. TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence. */
int tms_suppress_write(struct tms_suppress *suppress, const char *command);

/* Says which rules matched nothing; for the end of a command that saw everything. */
void tms_suppress_warn(const struct tms_suppress *suppress);

/*
 * False after a sentence if the output would replace an input, a file of rules, or the other output
 * (NULL: there is none).
 */
bool tms_suppress_spares(const struct tms_suppressing *suppressing,
                         const struct tms_operands *inputs, const struct tms_given *rules,
                         const char *other);

#endif
