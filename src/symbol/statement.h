/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a source line that allocates memory: which type it names, and what the result is assigned
 * to. Debug information has the types of variables, but not which of them a call's result is
 * assigned to. Only the form of one statement is recognised; anything else is unknown, and never
 * guessed.
 */
#ifndef TMS_SYMBOL_STATEMENT_H
#define TMS_SYMBOL_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "symbol/symbol_text.h"

/* A part of the source; length 0: there is none. */
struct tms_words {
    const char *text;
    size_t length;
};

#define TMS_NEWS_MOST 4

struct tms_statement {
    struct tms_words news[TMS_NEWS_MOST]; /* "account" of each `new bank::account(…)` */
    size_t new_count;
    struct tms_words target; /* "list->items[i]" of `list->items[i] = malloc(…)` */
    unsigned stars;          /* before it: it may be `*out = …` or `struct account *out = …` */
    struct tms_words sized;  /* "account" of the only `sizeof(struct account)` */
    bool returned;           /* it begins with `return` */
};

/* Where it is: a line and a column in a file without comments and strings (tms_symbol_texts_code).
 */
struct tms_statement_place {
    struct tms_source_code code;
    unsigned column;    /* 0: unknown */
    const char *callee; /* the function that is called; NULL: malloc or the like */
};

/* The statement that allocates. False if it can't be determined. */
bool tms_statement_read(const struct tms_statement_place *place, struct tms_statement *statement);

#endif
