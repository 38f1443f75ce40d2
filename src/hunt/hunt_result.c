/* SPDX-License-Identifier: Apache-2.0 */
/* The set of runs and examples of a hunt; see hunt_result.h. */
#include "hunt/hunt_result.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hunt/example.h"
#include "hunt/run_record.h"

bool tms_hunt_init(struct tms_hunt *hunt)
{
    *hunt = (struct tms_hunt){
        .hunts = json_object(),
        .runs = json_object(),
        .examples = json_object(),
        .windows = json_object(),
    };
    return hunt->hunts != NULL && hunt->runs != NULL && hunt->examples != NULL &&
           hunt->windows != NULL;
}

void tms_hunt_clear(struct tms_hunt *hunt)
{
    json_decref(hunt->hunts);
    json_decref(hunt->runs);
    json_decref(hunt->examples);
    json_decref(hunt->windows);
    json_decref(hunt->origin);
    *hunt = (struct tms_hunt){0};
}

/* ---- hunts -------------------------------------------------------------------------------- */

/* Hashes what identifies a hunt, which excludes the shard and the number of runs. */
char *tms_hunt_key(const json_t *entry)
{
    static const char *const members[] = {"program", "options", "seed", "strategy", "strength"};
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    char *key = NULL;

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        char *text = json_dumps(json_object_get(entry, members[i]),
                                JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
        if (text == NULL) {
            return NULL;
        }
        for (const char *at = text; *at != '\0'; at++) {
            hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
        }
        free(text);
    }
    return asprintf(&key, "%016" PRIx64, hash) >= 0 ? key : NULL;
}

/* Is the text of the first smaller? A tie-breaker. */
static bool is_smaller(const json_t *a, const json_t *b)
{
    char *first = json_dumps(a, JSON_COMPACT | JSON_SORT_KEYS);
    char *second = json_dumps(b, JSON_COMPACT | JSON_SORT_KEYS);
    bool smaller = first != NULL && second != NULL && strcmp(first, second) < 0;

    free(first);
    free(second);
    return smaller;
}

/* Of two plans for the same hunt keeps the longer one. */
bool tms_hunt_made(struct tms_hunt *hunt, const char *key, json_t *entry)
{
    const json_t *known = json_object_get(hunt->hunts, key);
    json_int_t before = json_integer_value(json_object_get(known, "planned"));
    json_int_t planned = json_integer_value(json_object_get(entry, "planned"));

    if (known != NULL && (planned < before || (planned == before && !is_smaller(entry, known)))) {
        json_decref(entry);
        return true;
    }
    return entry != NULL && json_object_set_new(hunt->hunts, key, entry) == 0;
}

/* ---- runs --------------------------------------------------------------------------------- */

/* "0123456789abcdef 00000000000000000012": in the order of runs. */
static void write_name(const json_t *record, char name[64])
{
    snprintf(name, 64, "%.32s %020" PRIu64, tms_record_hunt(record), tms_record_index(record));
}

/* Is the first of two records of one run the more informative, which is kept? A total order. */
static bool shows_more(const json_t *a, const json_t *b)
{
    size_t one = json_array_size(json_object_get(a, "findings"));
    size_t two = json_array_size(json_object_get(b, "findings"));

    return one != two ? one > two : is_smaller(a, b);
}

/* Takes the record over. */
static bool add_record(struct tms_hunt *hunt, json_t *record)
{
    char name[64];

    write_name(record, name);
    const json_t *known = json_object_get(hunt->runs, name);
    if (known != NULL && !shows_more(record, known)) {
        json_decref(record);
        return true;
    }
    return json_object_set_new(hunt->runs, name, record) == 0;
}

/* ---- windows ------------------------------------------------------------------------------- */

#define WINDOWS_MOST 4096

static const char *site_of(const json_t *window, const char *place)
{
    const char *site = json_string_value(json_object_get(json_object_get(window, place), "site"));

    return site != NULL ? site : "";
}

/* Of several windows with the same sites keeps the one with the smaller text. */
static bool add_window(struct tms_hunt *hunt, json_t *window)
{
    const char *id = json_string_value(json_object_get(window, "id"));
    char *name = NULL;

    if (id == NULL ||
        asprintf(&name, "%s %s %s", id, site_of(window, "close"), site_of(window, "open")) < 0) {
        return id == NULL;
    }
    const json_t *known = json_object_get(hunt->windows, name);
    bool room = known != NULL || json_object_size(hunt->windows) < WINDOWS_MOST;
    bool better = known == NULL || is_smaller(window, known);
    bool good = !room || !better || json_object_set(hunt->windows, name, window) == 0;
    free(name);
    return good;
}

bool tms_hunt_add_windows(struct tms_hunt *hunt, const json_t *result)
{
    const json_t *windows = json_object_get(result, "windows");
    bool good = true;

    for (size_t i = 0; good && i < json_array_size(windows); i++) {
        good = add_window(hunt, json_array_get(windows, i));
    }
    return good;
}

enum tms_news tms_hunt_add(struct tms_hunt *hunt, json_t *record, const json_t *result)
{
    const json_t *results = json_object_get(result, "results");
    bool news = false;

    if (hunt->origin == NULL && result != NULL) {
        hunt->origin = tms_origin_of(result);
        if (hunt->origin == NULL) {
            json_decref(record);
            return TMS_NEWS_FAILED;
        }
    }
    for (size_t i = 0; i < json_array_size(results); i++) {
        int code = tms_examples_take(hunt->examples, record, json_array_get(results, i));
        if (code < 0) {
            json_decref(record);
            return TMS_NEWS_FAILED;
        }
        news = news || code > 0;
    }
    if (!add_record(hunt, record) || !tms_hunt_add_windows(hunt, result)) {
        return TMS_NEWS_FAILED;
    }
    return news ? TMS_NEWS_SOME : TMS_NEWS_NONE;
}

bool tms_hunt_merge(struct tms_hunt *hunt, const struct tms_hunt *from)
{
    const char *key;
    json_t *value;
    bool good = true;

    json_object_foreach(from->hunts, key, value)
    {
        good = good && tms_hunt_made(hunt, key, json_deep_copy(value));
    }
    json_object_foreach(from->runs, key, value)
    {
        good = good && add_record(hunt, json_incref(value));
    }
    json_object_foreach(from->examples, key, value)
    {
        good = good && tms_examples_add(hunt->examples, key, json_incref(value)) >= 0;
    }
    json_object_foreach(from->windows, key, value)
    {
        good = good && add_window(hunt, value);
    }
    if (hunt->origin == NULL || tms_origin_is_later(hunt->origin, from->origin)) {
        json_decref(hunt->origin);
        hunt->origin = json_incref(from->origin);
    }
    return good;
}

/* ---- asking ------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    char one[64], two[64];

    write_name(*(const json_t *const *)a, one);
    write_name(*(const json_t *const *)b, two);
    return strcmp(one, two);
}

json_t **tms_hunt_records(const struct tms_hunt *hunt, size_t *count)
{
    json_t **list = calloc(json_object_size(hunt->runs) + 1, sizeof(*list));
    const char *key;
    json_t *record;

    *count = 0;
    if (list == NULL) {
        return NULL;
    }
    json_object_foreach(hunt->runs, key, record)
    {
        list[(*count)++] = record;
    }
    qsort(list, *count, sizeof(*list), by_name);
    return list;
}

static void count_example(struct tms_hunt_counts *counts, const json_t *finding)
{
    const char *level = json_string_value(json_object_get(finding, "level"));
    const char *evidence = json_string_value(json_object_get(finding, "evidence"));
    bool hidden = json_is_true(json_object_get(finding, "suppressed")) ||
                  json_is_false(json_object_get(finding, "new"));

    if (level == NULL || evidence == NULL || strcmp(level, "note") == 0 || hidden) {
        return;
    }
    counts->observed += strcmp(evidence, "observed") == 0;
    counts->predicted += strcmp(evidence, "predicted") == 0;
}

struct tms_hunt_counts tms_hunt_count(const struct tms_hunt *hunt)
{
    struct tms_hunt_counts counts = {.runs = json_object_size(hunt->runs)};
    const char *key;
    json_t *value;

    json_object_foreach(hunt->runs, key, value)
    {
        counts.failed += tms_record_failed(value);
        counts.timeouts += tms_record_outcome(value) == TMS_OUTCOME_TIMEOUT;
        counts.unwatched += tms_record_outcome(value) == TMS_OUTCOME_UNWATCHED;
    }
    json_object_foreach(hunt->examples, key, value)
    {
        count_example(&counts, json_object_get(value, "finding"));
    }
    return counts;
}

static bool add_firsts(json_t *firsts, const struct tms_hunt *hunt, json_t *record)
{
    const json_t *findings = json_object_get(record, "findings");
    bool good = true;

    for (size_t i = 0; good && i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        const char *id = json_string_value(json_object_get(finding, "id"));
        const json_t *example = tms_examples_judged(hunt->examples, id);
        if (example != NULL && json_object_get(finding, "level") != NULL &&
            json_object_get(firsts, id) == NULL &&
            tms_evidence_place(finding) == tms_evidence_place(example)) {
            good = json_object_set(firsts, id, record) == 0;
        }
    }
    return good;
}

json_t *tms_hunt_firsts(const struct tms_hunt *hunt)
{
    size_t count;
    json_t **records = tms_hunt_records(hunt, &count);
    json_t *firsts = records != NULL ? json_object() : NULL;
    bool good = firsts != NULL;

    for (size_t i = 0; good && i < count; i++) {
        good = add_firsts(firsts, hunt, records[i]);
    }
    free(records);
    if (!good) {
        json_decref(firsts);
    }
    return good ? firsts : NULL;
}
