/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands and their options, as tables.
 *
 * A command is a `const struct tms_command` in a file of its own and one row in command_table.c.
 * Its options are one array, from which come the parsing, the defaults, the environment
 * variables, the --help texts, shell completion and the option lists of the manual pages. A row
 * says where in the command's own `values` structure the parsed value goes:
 *
 *     struct values {
 *         struct tms_common common;   // first: the options that every command has
 *         uint64_t events;
 *         const char *output;
 *     };
 *     #define AT(field) offsetof(struct values, field)
 *     static const struct tms_option options[] = {
 *         {.name = "events", .type = TMS_OPTION_COUNT, .at = AT(events), .initial = "1M",
 *          .least = 1, .value = "N", .help = "how many events to make"},
 *         {.name = "output", .letter = 'o', .type = TMS_OPTION_TEXT, .at = AT(output),
 *          .value = "FILE", .help = "where to write the trace"},
 *         {0}};
 *
 * main parses, answers --help and --version, and calls run only when everything is in order.
 *
 * On the command line a value is the next word or follows "=", "--" ends the options, options
 * and operands may be mixed, and of an option given twice the last counts, unless it is ORDERED.
 * Values, in rising order of weight: `initial`, the environment variable, the command line.
 */
#ifndef TMS_CLI_OPTIONS_H
#define TMS_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* X(name, type of the field at `at`) */
#define TMS_OPTION_TYPES(X)                                                                        \
    X(FLAG, bool)                 /* --name, and --no-name to take it back; initial "yes" */       \
    X(TEXT, const char *)         /* NULL when not given and without `initial` */                  \
    X(COUNT, uint64_t)            /* 12, 10k, 3M, 2G: powers of ten; least … most */             \
    X(SHARE, double)              /* 0.25 or 25%: between 0 and 1 */                               \
    X(SECONDS, double)            /* 30 or 0.5 */                                                  \
    X(CHOICE, const char *)       /* one of the words of `word` */                                 \
    X(LIST, const char *)         /* some of the words of `word`, with commas between */           \
    X(MAYBE, struct tms_maybe)    /* --name, or --name=VALUE (never the next word) */              \
    X(MAYBE_CHOICE, const char *) /* a choice; the bare --name means the word in `bare` */         \
    X(ORDERED, struct tms_given)  /* texts, each time one more, in the order of the words */

enum tms_option_type {
#define X(name, type) TMS_OPTION_##name,
    TMS_OPTION_TYPES(X)
#undef X
};

struct tms_maybe {
    bool given;
    const char *value; /* NULL: the option had none */
};

struct tms_option;

struct tms_given_value {
    const struct tms_option *option;
    const char *text;
};

/* What ORDERED options gathered; several may share one field, and their order is kept. */
struct tms_given {
    struct tms_given_value *values;
    size_t count;
};

struct tms_option {
    const char *name; /* without dashes; NULL ends a table */
    char letter;      /* -o; 0: none */
    enum tms_option_type type;
    size_t at;           /* of the field in the values structure */
    const char *initial; /* as the user would write it; NULL: false, 0 or NULL */
    size_t given;        /* of a bool that becomes true if the user says it; 0: none */
    const char *bare;    /* MAYBE_CHOICE: what the option alone means */
    uint64_t least;      /* COUNT */
    uint64_t most;       /* COUNT; 0: no limit */
    const char *(*word)(size_t index); /* CHOICE and LIST: the words, NULL after the last */
    const char *alone;                 /* LIST: a word that does not go with others; or NULL */
    bool environment;                  /* TMESIS_NAME sets it too ("-" becomes "_") */
    const char *value;                 /* what --help calls the value: "FILE" */
    const char *help;                  /* a sentence; may be long, it is wrapped. The manual page
                                          has it with a capital and a full stop */
    const char *brief;                 /* the same in one line, for the short --help of commands
                                          that have one; NULL: only --help=all lists it */
};

/* The options of every command; the first field of every values structure. */
struct tms_common {
    const char *help; /* NULL: not asked for; "brief" or "all" */
    bool quiet;
    bool progress;
    const char *color; /* "auto", "always" or "never" */
    bool dashes;       /* "--" came before the first operand */
};

struct tms_operands {
    const char *const *text;
    size_t count;
};

/* What the process returns, the same for all commands. */
enum tms_exit {
    TMS_EXIT_OK = 0,
    TMS_EXIT_VIOLATION = 1,
    TMS_EXIT_BAD = 2, /* usage, bad input, output that could not be written */
    TMS_EXIT_INCOMPLETE = 3,
};

/* What a command is for; `tmesis --help` lists commands under these headings. */
#define TMS_COMMAND_GROUPS(X)                                                                      \
    X(PROGRAM, "Build, run and check a program")                                                   \
    X(RESULT, "Look at results")                                                                   \
    X(TRACE, "Record and check traces")                                                            \
    X(OTHER, "Other")

enum tms_command_group {
#define X(name, heading) TMS_GROUP_##name,
    TMS_COMMAND_GROUPS(X)
#undef X
        TMS_GROUP_COUNT
};

struct tms_command {
    const char *name;
    enum tms_command_group group;
    const char *summary; /* one line, for the list of commands */
    const char *usage;   /* the operands: "TRACE…" */
    const char *about;   /* what --help says below the usage line; wrapped, "\n" is kept */
    const char *brief;   /* the same for a short --help, which lists only options that have a brief
                            text; NULL: --help lists all options */
    const struct tms_option *options; /* besides the common ones; ends with a zero row */
    size_t values_size;               /* of the values structure, which starts with tms_common */
    size_t operands_least, operands_most; /* most 0: any number; for none, least 0 and most 0
                                             with usage NULL */
    const char *(*first)(size_t index);   /* the words that the first operand may be; NULL: any */
    bool raw; /* the words are another program's: only --tmesis-… are options, the common ones
                 don't exist, and all the rest are operands */
    bool starts_program; /* the first operand is a program; all words after it are its own */
    int bad;             /* the exit status after wrong usage; 0: TMS_EXIT_BAD */
    /* Returns the exit status, mostly an enum tms_exit. The values live during the call; strings in
     * them outlive it. */
    int (*run)(const void *values, const struct tms_operands *operands);
};

extern const struct tms_command tms_command_run;
extern const struct tms_command tms_command_record;
extern const struct tms_command tms_command_hunt;
extern const struct tms_command tms_command_confirm;
extern const struct tms_command tms_command_replay;
extern const struct tms_command tms_command_merge;
extern const struct tms_command tms_command_diff;
extern const struct tms_command tms_command_history;
extern const struct tms_command tms_command_report;
extern const struct tms_command tms_command_check;
extern const struct tms_command tms_command_explain;
extern const struct tms_command tms_command_refine;
extern const struct tms_command tms_command_info;
extern const struct tms_command tms_command_convert;
extern const struct tms_command tms_command_gen;
extern const struct tms_command tms_command_engines;
extern const struct tms_command tms_command_cc;
extern const struct tms_command tms_command_cxx;
extern const struct tms_command tms_command_doctor;
extern const struct tms_command tms_command_completion;

/* The commands in the order of the list; NULL after the last. */
const struct tms_command *tms_command_at(size_t index);
size_t tms_command_count(void);

/* NULL: there is none of this name. */
const struct tms_command *tms_command_named(const char *name);

/*
 * Fills `values` (zeroed, command->values_size bytes) from defaults, environment and words.
 * Operands are gathered into `operands`, which has room for `count`. True, or false after one
 * sentence on standard error.
 */
bool tms_options_parse(const struct tms_command *command, int count, char *const *words,
                       void *values, const char **operands, size_t *operand_count);

/* Gives back what parsing allocated in `values`, also when it failed. */
void tms_options_release(const struct tms_command *command, void *values);

/* The --help text of a command; `all`: with every option, also if the command has a short one. */
void tms_options_help(const struct tms_command *command, bool all, FILE *out);

/* The word of the list that looks most like `text`, or NULL if none comes near. */
const char *tms_nearest(const char *text, const char *(*word)(size_t index));

/* A word of a LIST option that sets a bit; a table of them ends with a zero row. */
struct tms_option_bit {
    const char *word;
    unsigned bit;
};

/* The bits of the words in a list that parsing has accepted. */
unsigned tms_option_bits(const char *list, const struct tms_option_bit *bits);

/* Words for CHOICE and LIST options that several commands share. */
const char *tms_word_format(size_t index);      /* formats that can be read */
const char *tms_word_written(size_t index);     /* formats that can be written */
const char *tms_word_compression(size_t index); /* none, gz, zst */

#endif
