/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that say what is meant to be atomic, for all commands that check traces: --spec,
 * --atomic and --not-atomic. They may be repeated, and their order among each other counts, so
 * they gather in one field:
 *
 *     struct values { … struct tms_given rules; … };
 *     static const struct tms_option options[] = { … TMS_SPEC_OPTIONS(AT(rules)), {0}};
 */
#ifndef TMS_CLI_SPEC_OPTIONS_H
#define TMS_CLI_SPEC_OPTIONS_H

#include "cli/options.h"
#include "tmesis/tmesis.h"

#define TMS_SPEC_OPTION(option_name, field, value_name, brief_text, text)                          \
    {                                                                                              \
        .name = (option_name), .type = TMS_OPTION_ORDERED, .at = (field), .value = (value_name),   \
        .help = (text), .brief = (brief_text)                                                      \
    }

#define TMS_BRIEF_ATOMIC     "check only functions and blocks that match"
#define TMS_BRIEF_NOT_ATOMIC "don't check those that match"
#define TMS_BRIEF_SPEC       "read such rules from FILE"

/* Rows of an option table; `field` is the offset of a struct tms_given. */
#define TMS_SPEC_OPTIONS(field)                                                                    \
    TMS_SPEC_OPTION("atomic", field, "PATTERN", TMS_BRIEF_ATOMIC,                                  \
                    "blocks and functions whose label matches are meant to be atomic, and "        \
                    "no others unless another rule says so; if several rules match, the last "     \
                    "one applies"),                                                                \
        TMS_SPEC_OPTION("not-atomic", field, "PATTERN", TMS_BRIEF_NOT_ATOMIC,                      \
                        "blocks whose label matches are not meant to be atomic; blocks nested in " \
                        "them are judged on their own"),                                           \
        TMS_SPEC_OPTION("spec", field, "FILE", TMS_BRIEF_SPEC,                                     \
                        "read such rules from FILE, one per line; later rules take precedence")

/* The specification that the user gave. */
struct tms_rules {
    struct tms_context *context; /* of its errors */
    struct tms_spec *spec;       /* for tms_settings; NULL: no such option was given */
};

/* TMS_EXIT_OK, or TMS_EXIT_BAD after a sentence; tms_rules_close is due in both cases. */
int tms_rules_open(struct tms_rules *rules, const struct tms_given *given);
void tms_rules_close(struct tms_rules *rules);

/* Says which rules matched no label; for the end of a command that read all its traces. */
void tms_rules_warn(const struct tms_rules *rules);

/* Does a rule of the command line name a file of rules? */
bool tms_given_file(const struct tms_given_value *value);

/*
 * False after a sentence if the traces and the rules want standard input more than once;
 * `suppressions` may be NULL.
 */
bool tms_standard_input_once(const struct tms_operands *traces, const struct tms_given *rules,
                             const struct tms_given *suppressions);

/*
 * Writes "atomic PATTERN" or "not-atomic PATTERN" as a line of a specification file holds it,
 * without a line end, such that the pattern matches this label ("": blocks without one). Labels
 * that differ in nothing but control characters match too.
 */
void tms_rules_write(FILE *out, bool atomic, const char *label);

/* The same with a pattern as the user gave it. */
void tms_rules_write_pattern(FILE *out, bool atomic, const char *pattern);

#endif
