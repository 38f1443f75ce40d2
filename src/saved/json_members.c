/* SPDX-License-Identifier: Apache-2.0 */
/* Members of JSON objects; see json_members.h. */
#include "saved/json_members.h"

#include <stdio.h>
#include <string.h>

/* ---- failures ----------------------------------------------------------------------------- */

void tms_loading_fail(struct tms_loading *loading, const char *key, const char *expected)
{
    const char *within = loading->within;

    if (!loading->failed) {
        snprintf(loading->reason, TMS_SAVED_REASON, "%s: object %zu%s%.40s: \"%s\" should be %s",
                 loading->name, loading->object, within != NULL ? ", finding " : "",
                 within != NULL ? within : "", key, expected);
        loading->failed = true;
    }
}

void tms_loading_fail_memory(struct tms_loading *loading)
{
    if (!loading->failed) {
        snprintf(loading->reason, TMS_SAVED_REASON, "%s: out of memory", loading->name);
        loading->failed = true;
    }
}

/* ---- members ------------------------------------------------------------------------------ */

/* NULL if it is null or not there; a failure if it is of another type. */
static const json_t *member(struct tms_loading *loading, const json_t *object, const char *key,
                            json_type type, const char *expected)
{
    const json_t *value = loading->failed ? NULL : json_object_get(object, key);

    if (value == NULL || json_is_null(value)) {
        return NULL;
    }
    if (json_typeof(value) != type) {
        tms_loading_fail(loading, key, expected);
        return NULL;
    }
    return value;
}

const char *tms_load_text(struct tms_loading *loading, const json_t *object, const char *key)
{
    return json_string_value(member(loading, object, key, JSON_STRING, "a string"));
}

const char *tms_load_needed(struct tms_loading *loading, const json_t *object, const char *key)
{
    const char *text = tms_load_text(loading, object, key);

    if (text == NULL) {
        tms_loading_fail(loading, key, "a string");
    }
    return text != NULL ? text : "";
}

uint64_t tms_load_number(struct tms_loading *loading, const json_t *object, const char *key)
{
    static const char expected[] = "a non-negative integer";
    const json_t *value = member(loading, object, key, JSON_INTEGER, expected);
    json_int_t number = json_integer_value(value);

    if (number < 0) {
        tms_loading_fail(loading, key, expected);
    }
    return number < 0 ? 0 : (uint64_t)number;
}

double tms_load_seconds(struct tms_loading *loading, const json_t *object, const char *key)
{
    const json_t *value = loading->failed ? NULL : json_object_get(object, key);

    if (value == NULL || json_is_null(value)) {
        return 0;
    }
    if (!json_is_number(value) || json_number_value(value) < 0) {
        tms_loading_fail(loading, key, "a number without sign");
        return 0;
    }
    return json_number_value(value);
}

bool tms_load_flag(struct tms_loading *loading, const json_t *object, const char *key)
{
    const json_t *value = loading->failed ? NULL : json_object_get(object, key);

    if (value != NULL && !json_is_null(value) && !json_is_boolean(value)) {
        tms_loading_fail(loading, key, "true or false");
    }
    return json_is_true(value);
}

const json_t *tms_load_object(struct tms_loading *loading, const json_t *object, const char *key)
{
    return member(loading, object, key, JSON_OBJECT, "an object");
}

const json_t *tms_load_array(struct tms_loading *loading, const json_t *object, const char *key)
{
    return member(loading, object, key, JSON_ARRAY, "a list");
}

size_t tms_load_word_place(struct tms_loading *loading, const char *key, const char *text,
                           tms_word_at *word_at)
{
    char expected[TMS_SAVED_REASON / 2];
    size_t length = (size_t)snprintf(expected, sizeof(expected), "one of");

    for (size_t i = 0; strcmp(word_at(i), "?") != 0; i++) {
        if (text != NULL && strcmp(word_at(i), text) == 0) {
            return i;
        }
        if (length < sizeof(expected)) {
            length += (size_t)snprintf(expected + length, sizeof(expected) - length, "%s %s",
                                       i > 0 ? "," : "", word_at(i));
        }
    }
    tms_loading_fail(loading, key, expected);
    return 0;
}

size_t tms_load_word(struct tms_loading *loading, const json_t *object, const char *key,
                     tms_word_at *word_at)
{
    return tms_load_word_place(loading, key, tms_load_text(loading, object, key), word_at);
}

/* ---- what is kept ------------------------------------------------------------------------- */

uint32_t tms_load_name(struct tms_loading *loading, enum tms_class cls, const char *text)
{
    if (loading->failed || text == NULL || *text == '\0' || cls == TMS_CLASS_NONE) {
        return 0;
    }
    int64_t id = tms_intern(loading->saved->context, cls, text, strlen(text));
    if (id < 0) {
        tms_loading_fail_memory(loading);
        return 0;
    }
    return (uint32_t)id;
}

void *tms_loading_take(struct tms_loading *loading, size_t bytes)
{
    struct tms_saved *saved = loading->saved;
    void *room = loading->failed ? NULL : tms_arena_take(&saved->arena, &saved->memory, bytes);

    if (room == NULL) {
        tms_loading_fail_memory(loading);
    }
    return room;
}

const char *tms_loading_keep(struct tms_loading *loading, const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    char *copy = size > 0 ? tms_loading_take(loading, size) : NULL;

    return copy != NULL ? memcpy(copy, text, size) : NULL;
}
