/* SPDX-License-Identifier: Apache-2.0 */
/* Findings over many runs; see merged_findings.h. */
#include "hunt/merged_findings.h"

#include <stdlib.h>
#include <string.h>

#include "hunt/example.h"
#include "hunt/fisher.h"
#include "hunt/run_record.h"

/* ---- sums --------------------------------------------------------------------------------- */

static uint64_t number_of(const json_t *object, const char *key)
{
    json_int_t number = json_integer_value(json_object_get(object, key));

    return number > 0 ? (uint64_t)number : 0;
}

static bool add_pattern(json_t *patterns, const json_t *pattern)
{
    for (size_t i = 0; i < json_array_size(patterns); i++) {
        if (json_equal(json_array_get(patterns, i), pattern)) {
            return true;
        }
    }
    return json_array_append_new(patterns, json_deep_copy(pattern)) == 0;
}

static bool add_patterns(struct tms_merged_finding *into, const json_t *patterns)
{
    bool good = true;

    if (into->patterns == NULL && patterns != NULL) {
        into->patterns = json_array();
        good = into->patterns != NULL;
    }
    for (size_t i = 0; good && i < json_array_size(patterns); i++) {
        good = add_pattern(into->patterns, json_array_get(patterns, i));
    }
    return good;
}

static bool add_occurrence(struct tms_merged_finding *into, const json_t *record,
                           const json_t *finding)
{
    const json_t *example = json_object_get(into->example, "finding");

    into->count += number_of(finding, "count");
    into->executions += number_of(finding, "executions");
    into->cut += number_of(finding, "cut");
    if (tms_evidence_place(finding) == tms_evidence_place(example)) {
        into->first_seed = into->runs == 0 ? tms_record_seed(record) : into->first_seed;
        into->runs++;
        into->failed_runs += tms_record_failed(record);
    }
    return add_patterns(into, json_object_get(finding, "patterns"));
}

/* The entry of a key, made if it is new; NULL: it has no example. */
static struct tms_merged_finding *entry_of(struct tms_merged_findings *findings,
                                           const struct tms_hunt *hunt, const char *key)
{
    const json_t *place = json_object_get(findings->places, key);
    const json_t *example = json_object_get(hunt->examples, key);

    if (place != NULL) {
        return &findings->list[json_integer_value(place)];
    }
    if (example == NULL || json_object_set_new(findings->places, key,
                                               json_integer((json_int_t)findings->count)) != 0) {
        return NULL;
    }
    struct tms_merged_finding *entry = &findings->list[findings->count++];
    *entry = (struct tms_merged_finding){
        .key = key,
        .engine = json_string_value(json_object_get(example, "engine")),
        .example = example,
    };
    return entry;
}

static bool add_run(struct tms_merged_findings *findings, const struct tms_hunt *hunt,
                    const json_t *record)
{
    const json_t *list = json_object_get(record, "findings");
    bool good = true;

    for (size_t i = 0; good && i < json_array_size(list); i++) {
        const json_t *finding = json_array_get(list, i);
        const char *key = json_string_value(json_object_get(finding, "key"));
        struct tms_merged_finding *entry = entry_of(findings, hunt, key);
        good = entry == NULL || add_occurrence(entry, record, finding);
    }
    return good;
}

/* ---- ranks -------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Correlated with failures, the surest first; then by level, evidence, rarity, and key. */
static int by_rank(const void *a, const void *b)
{
    const struct tms_merged_finding *one = a, *two = b;
    const json_t *first = json_object_get(one->example, "finding");
    const json_t *second = json_object_get(two->example, "finding");
    double p = one->p < TMS_FISHER_LEVEL ? one->p : 1, q = two->p < TMS_FISHER_LEVEL ? two->p : 1;
    int order = (p > q) - (p < q);

    order = order != 0 ? order : tms_level_place(first) - tms_level_place(second);
    order = order != 0 ? order : tms_evidence_place(first) - tms_evidence_place(second);
    order = order != 0 ? order : compare_numbers(one->runs, two->runs);
    return order != 0 ? order : strcmp(one->key, two->key);
}

bool tms_merged_findings_make(struct tms_merged_findings *findings, const struct tms_hunt *hunt,
                              json_t *const *records, size_t count)
{
    size_t most = json_object_size(hunt->examples);
    uint64_t failed = 0;

    *findings = (struct tms_merged_findings){.list = calloc(most + 1, sizeof(*findings->list)),
                                             .places = json_object()};
    bool good = findings->list != NULL && findings->places != NULL;
    for (size_t i = 0; good && i < count; i++) {
        good = add_run(findings, hunt, records[i]);
        failed += tms_record_failed(records[i]);
    }
    for (size_t i = 0; good && i < findings->count; i++) {
        struct tms_merged_finding *entry = &findings->list[i];
        entry->p = tms_fisher(count, failed, entry->runs, entry->failed_runs);
    }
    if (good) {
        qsort(findings->list, findings->count, sizeof(*findings->list), by_rank);
    }
    return good;
}

void tms_merged_findings_clear(struct tms_merged_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        json_decref(findings->list[i].patterns);
    }
    free(findings->list);
    json_decref(findings->places);
    *findings = (struct tms_merged_findings){0};
}
