/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads members of JSON objects and checks their types. After the first error all later members
 * read as missing, so the caller checks for failure once, at the end.
 */
#ifndef TMS_SAVED_JSON_MEMBERS_H
#define TMS_SAVED_JSON_MEMBERS_H

#include <jansson.h>

#include "saved/saved_result.h"

struct tms_loading {
    struct tms_saved *saved;
    const char *name;   /* of the file */
    size_t object;      /* its number, from 1 on */
    const char *within; /* the id of the finding, NULL: not in one */
    bool failed;
    char *reason; /* TMS_SAVED_REASON bytes */
};

/* Fails because a member is not `expected`. */
void tms_loading_fail(struct tms_loading *loading, const char *key, const char *expected);
void tms_loading_fail_memory(struct tms_loading *loading);

/* NULL if it is null or not there. */
const char *tms_load_text(struct tms_loading *loading, const json_t *object, const char *key);

/* The same for a mandatory member. "" after a failure. */
const char *tms_load_needed(struct tms_loading *loading, const json_t *object, const char *key);

/* 0 if it is null or not there. */
uint64_t tms_load_number(struct tms_loading *loading, const json_t *object, const char *key);

/* The same with a fraction. */
double tms_load_seconds(struct tms_loading *loading, const json_t *object, const char *key);

/* False if it is null or not there. */
bool tms_load_flag(struct tms_loading *loading, const json_t *object, const char *key);

/* NULL if it is null or not there. */
const json_t *tms_load_object(struct tms_loading *loading, const json_t *object, const char *key);
const json_t *tms_load_array(struct tms_loading *loading, const json_t *object, const char *key);

/* The index of a word in a list that ends with "?"; 0 after a failure. */
typedef const char *tms_word_at(size_t index);
size_t tms_load_word(struct tms_loading *loading, const json_t *object, const char *key,
                     tms_word_at *word_at);
size_t tms_load_word_place(struct tms_loading *loading, const char *key, const char *text,
                           tms_word_at *word_at);

/* The id of a name; 0 for NULL and "". */
uint32_t tms_load_name(struct tms_loading *loading, enum tms_class cls, const char *text);

/* Allocates zeroed bytes; NULL after a failure. */
void *tms_loading_take(struct tms_loading *loading, size_t bytes);

/* A text that lives as long as the saved results; NULL for NULL. */
const char *tms_loading_keep(struct tms_loading *loading, const char *text);

#endif
