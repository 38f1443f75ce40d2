/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a hunt as JSON; see merged_json.h. */
#include "hunt/merged_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hunt/example.h"
#include "hunt/merged_counts.h"
#include "hunt/merged_findings.h"
#include "hunt/run_record.h"
#include "tmesis/tmesis.h"

/* ---- findings ----------------------------------------------------------------------------- */

/* The id that a finding of the example's run has in the merged result; NULL: it is not there. */
static const char *merged_id(const struct tms_hunt *hunt, const json_t *example, const char *id)
{
    char name[64];

    snprintf(name, sizeof(name), "%.32s %020llu", tms_record_hunt(example),
             (unsigned long long)tms_record_index(example));
    const json_t *list = json_object_get(json_object_get(hunt->runs, name), "findings");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *finding = json_array_get(list, i);
        const char *its = json_string_value(json_object_get(finding, "id"));
        if (its != NULL && strcmp(its, id) == 0) {
            const char *key = json_string_value(json_object_get(finding, "key"));
            const json_t *other = json_object_get(json_object_get(hunt->examples, key), "finding");
            return json_string_value(json_object_get(other, "id"));
        }
    }
    return NULL;
}

/* Translates references to other findings to the ids of the merged result. */
static bool rename_same(const struct tms_hunt *hunt, const json_t *example, json_t *finding)
{
    const char *same = json_string_value(json_object_get(finding, "same_as"));
    const char *id = same != NULL ? merged_id(hunt, example, same) : NULL;

    return id == NULL || json_object_set_new(finding, "same_as", json_string(id)) == 0;
}

/* The example with the numbers over all runs. */
static json_t *finding_json(const struct tms_hunt *hunt, const struct tms_merged_finding *merged)
{
    const struct {
        const char *key;
        uint64_t value;
        bool judged;
    } numbers[] = {
        {"count", merged->count, false},
        {"executions", merged->executions, true},
        {"cut", merged->cut, true},
        {"runs", merged->runs, false},
        {"failed_runs", merged->failed_runs, false},
        {"first_seed", merged->first_seed, false},
    };
    json_t *finding = json_copy(json_object_get(merged->example, "finding"));
    bool good = finding != NULL;

    for (size_t i = 0; good && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        good = (numbers[i].judged && merged->patterns == NULL) ||
               json_object_set_new(finding, numbers[i].key,
                                   json_integer((json_int_t)numbers[i].value)) == 0;
    }
    if (good && merged->patterns != NULL) {
        good = json_object_set(finding, "patterns", merged->patterns) == 0;
    }
    good = good && json_object_set_new(finding, "failure_p", json_real(merged->p)) == 0 &&
           json_object_set(finding, "hunt", json_object_get(merged->example, "hunt")) == 0 &&
           json_object_set(finding, "run", json_object_get(merged->example, "index")) == 0 &&
           rename_same(hunt, merged->example, finding);
    if (!good) {
        json_decref(finding);
    }
    return good ? finding : NULL;
}

static json_t *violations_of(json_t *engines, const char *name)
{
    for (size_t i = 0; i < json_array_size(engines); i++) {
        json_t *engine = json_array_get(engines, i);
        const char *its = json_string_value(json_object_get(engine, "engine"));
        if (its != NULL && strcmp(its, name) == 0) {
            return json_object_get(engine, "violations");
        }
    }
    return NULL;
}

static json_t *results_json(const struct tms_hunt *hunt, json_t *const *records, size_t count)
{
    json_t *engines = tms_merged_engines(records, count);
    struct tms_merged_findings findings;
    bool good = tms_merged_findings_make(&findings, hunt, records, count) && engines != NULL;

    for (size_t i = 0; good && i < findings.count; i++) {
        const struct tms_merged_finding *merged = &findings.list[i];
        json_t *list = violations_of(engines, merged->engine);
        if (merged->runs > 0 && list != NULL) {
            good = json_array_append_new(list, finding_json(hunt, merged)) == 0;
        }
    }
    tms_merged_findings_clear(&findings);
    if (!good) {
        json_decref(engines);
    }
    return good ? engines : NULL;
}

/* ---- the hunts ---------------------------------------------------------------------------- */

/* Which of `shards` shards lack one of their runs, as a list of their indexes. */
static json_t *partial_shards(const struct tms_hunt *hunt, const char *key, uint64_t planned,
                              uint64_t shards)
{
    json_t *list = json_array();

    for (uint64_t shard = 0; list != NULL && shard < shards; shard++) {
        bool whole = true;
        for (uint64_t index = shard; whole && index < planned; index += shards) {
            char name[64];
            snprintf(name, sizeof(name), "%.32s %020llu", key, (unsigned long long)index);
            whole = json_object_get(hunt->runs, name) != NULL;
        }
        if (!whole && json_array_append_new(list, json_integer((json_int_t)shard)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static uint64_t count_runs(json_t *const *records, size_t count, const char *key)
{
    uint64_t done = 0;

    for (size_t i = 0; i < count; i++) {
        done += strcmp(tms_record_hunt(records[i]), key) == 0;
    }
    return done;
}

/* The parameters of a hunt and its progress. */
static json_t *hunt_json(const struct tms_hunt *hunt, const char *key, json_t *const *records,
                         size_t count)
{
    json_t *entry = json_copy(json_object_get(hunt->hunts, key));
    uint64_t planned = (uint64_t)json_integer_value(json_object_get(entry, "planned"));
    uint64_t shards = (uint64_t)json_integer_value(json_object_get(entry, "shards"));
    json_t *partial = partial_shards(hunt, key, planned, shards);
    json_t *done = json_integer((json_int_t)count_runs(records, count, key));
    bool good = json_object_set_new(entry, "hunt", json_string(key)) == 0;

    good = json_object_set_new(entry, "partial_shards", partial) == 0 && good;
    good = json_object_set_new(entry, "done", done) == 0 && good;
    if (!good) {
        json_decref(entry);
    }
    return good ? entry : NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of an object in order, to be freed; NULL if out of memory. */
static const char **sorted_keys(json_t *object)
{
    const char **keys = calloc(json_object_size(object) + 1, sizeof(*keys)), *key;
    json_t *value;
    size_t size = 0;

    json_object_foreach(object, key, value)
    {
        if (keys != NULL) {
            keys[size++] = key;
        }
    }
    if (size > 0) {
        qsort(keys, size, sizeof(*keys), by_text);
    }
    return keys;
}

static json_t *windows_json(const struct tms_hunt *hunt)
{
    const char **keys = sorted_keys(hunt->windows);
    json_t *list = json_array();
    bool good = keys != NULL && list != NULL;

    for (size_t i = 0; good && i < json_object_size(hunt->windows); i++) {
        good = json_array_append(list, json_object_get(hunt->windows, keys[i])) == 0;
    }
    free(keys);
    if (!good) {
        json_decref(list);
    }
    return good ? list : NULL;
}

/* All hunts, by key. */
static json_t *hunts_json(const struct tms_hunt *hunt, json_t *const *records, size_t count)
{
    const char **keys = sorted_keys(hunt->hunts);
    json_t *list = json_array();
    bool good = list != NULL && keys != NULL;

    for (size_t i = 0; good && i < json_object_size(hunt->hunts); i++) {
        good = json_array_append_new(list, hunt_json(hunt, keys[i], records, count)) == 0;
    }
    free(keys);
    if (!good) {
        json_decref(list);
    }
    return good ? list : NULL;
}

static bool is_whole(const json_t *hunts)
{
    bool whole = true;

    for (size_t i = 0; i < json_array_size(hunts); i++) {
        const json_t *partial = json_object_get(json_array_get(hunts, i), "partial_shards");
        whole = whole && json_array_size(partial) == 0;
    }
    return whole;
}

/* ---- outcomes ----------------------------------------------------------------------------- */

/* Are the outcomes the same, apart from the time? */
static bool is_same_outcome(const json_t *a, const json_t *b)
{
    static const char *const members[] = {"kind", "status", "signal", "text"};
    bool same = true;

    for (size_t i = 0; same && i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *one = json_object_get(a, members[i]), *two = json_object_get(b, members[i]);
        same = one == NULL || two == NULL ? one == two : json_equal(one, two);
    }
    return same;
}

static bool count_outcome(json_t *list, const json_t *record)
{
    const json_t *outcome = json_object_get(record, "outcome");

    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *known = json_array_get(list, i);
        if (is_same_outcome(known, outcome)) {
            json_int_t runs = json_integer_value(json_object_get(known, "runs"));
            return json_object_set_new(known, "runs", json_integer(runs + 1)) == 0;
        }
    }
    json_t *entry = json_deep_copy(outcome);
    json_object_del(entry, "seconds");
    bool good = entry != NULL && json_object_set_new(entry, "runs", json_integer(1)) == 0 &&
                json_object_set_new(entry, "first_seed",
                                    json_integer((json_int_t)tms_record_seed(record))) == 0;
    return json_array_append_new(list, entry) == 0 && good;
}

static json_t *outcomes_json(json_t *const *records, size_t count)
{
    json_t *list = json_array();
    bool good = list != NULL;

    for (size_t i = 0; good && i < count; i++) {
        good = count_outcome(list, records[i]);
    }
    if (!good) {
        json_decref(list);
    }
    return good ? list : NULL;
}

/* ---- the object --------------------------------------------------------------------------- */

static json_t *about_hunt(const struct tms_hunt *hunt, json_t *const *records, size_t count)
{
    struct tms_hunt_counts counts = tms_hunt_count(hunt);
    json_t *hunts = hunts_json(hunt, records, count);
    bool whole = is_whole(hunts);

    return json_pack("{s:I, s:I, s:I, s:I, s:b, s:o, s:o}", "runs", (json_int_t)counts.runs,
                     "failed", (json_int_t)counts.failed, "timeouts", (json_int_t)counts.timeouts,
                     "unwatched", (json_int_t)counts.unwatched, "whole", whole, "outcomes",
                     outcomes_json(records, count), "hunts", hunts);
}

static double seconds_of(json_t *const *records, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        const json_t *outcome = json_object_get(records[i], "outcome");
        sum += json_number_value(json_object_get(outcome, "seconds"));
    }
    return sum;
}

/* "./bank (30 runs)" */
static char *path_of(const struct tms_hunt *hunt, size_t runs)
{
    const char *command = json_string_value(json_object_get(hunt->origin, "command"));
    char *path = NULL;

    return asprintf(&path, "%s (%zu run%s)", command != NULL ? command : "-", runs,
                    runs == 1 ? "" : "s") >= 0
               ? path
               : NULL;
}

static bool set_origin(json_t *object, const struct tms_hunt *hunt)
{
    static const char *const members[] = {"version", "command", "started", "host"};
    bool good = true;

    for (size_t i = 0; good && i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(hunt->origin, members[i]);
        good = json_object_set(object, members[i], value != NULL ? value : json_null()) == 0;
    }
    return good;
}

/* The seed of a single hunt; null for several. */
static json_t *seed_of(const struct tms_hunt *hunt)
{
    void *first = json_object_iter(hunt->hunts);
    json_t *seed = json_object_get(json_object_iter_value(first), "seed");

    return json_object_size(hunt->hunts) == 1 && seed != NULL ? json_incref(seed) : json_null();
}

json_t *tms_hunt_json(const struct tms_hunt *hunt, bool partial)
{
    size_t count;
    json_t **records = tms_hunt_records(hunt, &count);
    char *path = path_of(hunt, count);

    if (records == NULL || path == NULL) {
        free(records);
        free(path);
        return NULL;
    }
    json_t *object =
        json_pack("{s:i, s:s, s:s}", "schema", 1, "tool", "tmesis", "version", tms_version());
    bool good =
        object != NULL && set_origin(object, hunt) &&
        json_object_set_new(object, "seconds", json_real(seconds_of(records, count))) == 0 &&
        json_object_set_new(object, "seed", seed_of(hunt)) == 0 &&
        (!partial || json_object_set_new(object, "partial", json_true()) == 0) &&
        json_object_set_new(object, "hunt", about_hunt(hunt, records, count)) == 0 &&
        json_object_set_new(object, "trace", tms_merged_trace(records, count, path)) == 0 &&
        json_object_set_new(object, "results", results_json(hunt, records, count)) == 0 &&
        json_object_set_new(object, "windows", windows_json(hunt)) == 0;
    free(records);
    free(path);
    if (!good) {
        json_decref(object);
    }
    return good ? object : NULL;
}

/* ---- from JSON ---------------------------------------------------------------------------- */

/* Leaves values over all runs in the finding: they are overwritten when it is written. */
static bool take_finding(struct tms_hunt *hunt, const char *engine, json_t *finding)
{
    char *key = tms_finding_key(engine, finding);
    json_t *example =
        json_pack("{s:O, s:O, s:s, s:O}", "hunt", json_object_get(finding, "hunt"), "index",
                  json_object_get(finding, "run"), "engine", engine, "finding", finding);
    bool good = key != NULL && example != NULL;

    if (good) {
        good = tms_examples_add(hunt->examples, key, example) >= 0;
    } else {
        json_decref(example);
    }
    free(key);
    return good;
}

static bool take_engine(struct tms_hunt *hunt, const json_t *result)
{
    const char *engine = json_string_value(json_object_get(result, "engine"));
    const json_t *violations = json_object_get(result, "violations");
    bool good = true;

    for (size_t i = 0; engine != NULL && good && i < json_array_size(violations); i++) {
        good = take_finding(hunt, engine, json_array_get(violations, i));
    }
    return good;
}

static bool take_hunt(struct tms_hunt *hunt, const json_t *entry)
{
    const char *key = json_string_value(json_object_get(entry, "hunt"));

    return key == NULL || tms_hunt_made(hunt, key, json_deep_copy(entry));
}

bool tms_hunt_from_json(struct tms_hunt *hunt, const json_t *result)
{
    const json_t *results = json_object_get(result, "results");
    const json_t *hunts = json_object_get(json_object_get(result, "hunt"), "hunts");
    bool good = true;

    for (size_t i = 0; good && i < json_array_size(hunts); i++) {
        good = take_hunt(hunt, json_array_get(hunts, i));
    }
    for (size_t i = 0; good && i < json_array_size(results); i++) {
        good = take_engine(hunt, json_array_get(results, i));
    }
    good = good && tms_hunt_add_windows(hunt, result);
    hunt->origin = good ? tms_origin_of(result) : NULL;
    return hunt->origin != NULL;
}
