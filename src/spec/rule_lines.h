/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses rule files, one rule per line, for specifications (spec.h) and suppressions
 * (suppressions.h): comments, blanks, patterns, and error messages with file and line.
 */
#ifndef TMS_SPEC_RULE_LINES_H
#define TMS_SPEC_RULE_LINES_H

#include "base/names.h"
#include "tmesis/tmesis.h"
#include "trace/lines.h"

/* Where a rule comes from: a line of a file, or a caller. */
struct tms_rule_place {
    const char *path; /* NULL: a caller */
    uint32_t path_id; /* in the texts of its file */
    uint64_t line;
};

/* A line without its comment and the blanks around it; not empty. TMS_OK or a code. */
typedef int tms_rule_take(void *user, const struct tms_rule_place *place, struct tms_span rule);

struct tms_rule_file {
    struct tms_context *context; /* for errors */
    struct tms_names *texts;     /* the path is interned here */
    const char *what;            /* the kind of file, for messages: "specification" */
    tms_rule_take *take;
    void *user;
};

/* Passes each rule of a file to `take`; "-" is standard input. Stops at the first error code. */
int tms_rule_lines(const struct tms_rule_file *file, const char *path);

/*
 * Strips a word and the blanks after it from the rule; false if the rule starts with another word.
 */
bool tms_rule_take_word(struct tms_span *rule, const char *word);

/* TMS_OK, or a code if the pattern is no glob. */
int tms_rule_pattern(struct tms_context *context, const struct tms_rule_place *place,
                     struct tms_span pattern);

/* Fails with the code, and a sentence that begins with file and line if there are any. */
__attribute__((format(printf, 4, 5))) int tms_rule_refuse(struct tms_context *context,
                                                          const struct tms_rule_place *place,
                                                          int code, const char *format, ...);

/* word "pattern" (file:line), shortened and printable. */
void tms_rule_quote(char *sentence, size_t size, const char *word, const char *pattern,
                    const struct tms_rule_place *place);

#endif
