/* SPDX-License-Identifier: Apache-2.0 */
/* The record of one run; see run_record.h. */
#include "hunt/run_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    bool fails;
} outcomes[] = {
#define X(name, text, fails) {text, fails},
    TMS_OUTCOMES(X)
#undef X
};
#define OUTCOME_COUNT (sizeof(outcomes) / sizeof(outcomes[0]))

json_t *tms_json_text_of(const char *text)
{
    json_t *string = json_string(text);
    char *copy = string == NULL ? strdup(text) : NULL;

    for (char *at = copy; at != NULL && *at != '\0'; at++) {
        *at = (unsigned char)*at >= 0x80 ? '?' : *at;
    }
    if (copy != NULL) {
        string = json_string(copy);
        free(copy);
    }
    return string;
}

/* ---- keys --------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

/* Races and deadlocks are about variables and locks, and their ids are hashes of those. */
static bool is_known_by_id(const json_t *finding)
{
    const char *kind = text_of(finding, "kind");

    return json_object_get(finding, "level") != NULL || strcmp(kind, "race") == 0 ||
           strcmp(kind, "deadlock") == 0;
}

static void put_labels(FILE *out, const json_t *finding)
{
    const json_t *refuted = json_object_get(finding, "refuted");

    for (size_t i = 0; i < json_array_size(refuted); i++) {
        fprintf(out, " %s", text_of(json_array_get(refuted, i), "label"));
    }
    if (json_array_size(refuted) == 0) {
        fprintf(out, " %s", text_of(json_object_get(finding, "transaction"), "label"));
    }
}

/*
 * Ids of cycles contain addresses: cycles are identified by the statements about their blocks
 * instead.
 */
char *tms_finding_key(const char *engine, const json_t *finding)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL) {
        return NULL;
    }
    fprintf(out, "%s ", engine);
    if (is_known_by_id(finding)) {
        fputs(text_of(finding, "id"), out);
    } else {
        fprintf(out, "%s %s %d", text_of(finding, "kind"), text_of(finding, "evidence"),
                json_is_true(json_object_get(finding, "not_atomic")));
        put_labels(out, finding);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- making ------------------------------------------------------------------------------- */

/* Copies members that are there; false if out of memory. */
static bool copy_members(json_t *into, const json_t *from, const char *const *keys)
{
    bool good = into != NULL;

    for (; good && *keys != NULL; keys++) {
        json_t *value = json_object_get(from, *keys);
        good = value == NULL || json_object_set_new(into, *keys, json_deep_copy(value)) == 0;
    }
    return good;
}

static bool add_finding(json_t *list, const char *engine, const json_t *finding)
{
    static const char *const members[] = {"id",       "evidence",   "count", "level",
                                          "patterns", "executions", "cut",   NULL};
    char *key = tms_finding_key(engine, finding);
    json_t *entry = key != NULL ? json_pack("{s:s, s:s}", "key", key, "engine", engine) : NULL;
    bool good = copy_members(entry, finding, members);

    free(key);
    return json_array_append_new(list, entry) == 0 && good;
}

static bool add_engine(json_t *engines, json_t *findings, const json_t *result)
{
    static const char *const members[] = {"engine",
                                          "verdict",
                                          "complete",
                                          "loss",
                                          "first_violation_event",
                                          "violation_count",
                                          "closing_edges",
                                          "unlisted",
                                          "assumption",
                                          "stats",
                                          NULL};
    const json_t *violations = json_object_get(result, "violations");
    json_t *entry = json_object();
    bool good = copy_members(entry, result, members);

    good = json_array_append_new(engines, entry) == 0 && good;
    for (size_t i = 0; good && i < json_array_size(violations); i++) {
        good = add_finding(findings, text_of(result, "engine"), json_array_get(violations, i));
    }
    return good;
}

static json_t *outcome_json(const struct tms_outcome *outcome)
{
    json_t *object =
        json_pack("{s:s, s:f}", "kind", outcomes[outcome->kind].text, "seconds", outcome->seconds);
    bool good = object != NULL;

    if (good && outcome->kind == TMS_OUTCOME_STATUS) {
        good = json_object_set_new(object, "status", json_integer(outcome->status)) == 0;
    }
    if (good && outcome->kind == TMS_OUTCOME_SIGNAL) {
        good = json_object_set_new(object, "signal", json_integer(outcome->signal)) == 0;
    }
    if (good && outcome->text != NULL && outcome->text[0] != '\0') {
        good = json_object_set_new(object, "text", tms_json_text_of(outcome->text)) == 0;
    }
    if (!good) {
        json_decref(object);
    }
    return good ? object : NULL;
}

/* Copies members from the result of the run. */
static bool add_result(json_t *record, const json_t *result)
{
    static const char *const members[] = {"trace", NULL};
    const json_t *results = json_object_get(result, "results");
    json_t *steering = json_object_get(result, "schedule");
    json_t *engines = json_array(), *findings = json_array();
    bool good = copy_members(record, result, members) && engines != NULL && findings != NULL;

    for (size_t i = 0; good && i < json_array_size(results); i++) {
        good = add_engine(engines, findings, json_array_get(results, i));
    }
    good = good && (steering == NULL || json_object_set(record, "steering", steering) == 0);
    good = json_object_set_new(record, "engines", engines) == 0 && good;
    return json_object_set_new(record, "findings", findings) == 0 && good;
}

json_t *tms_run_record(const struct tms_run_origin *origin, const struct tms_outcome *outcome,
                       const json_t *result)
{
    json_t *record =
        json_pack("{s:s, s:I, s:I, s:s, s:s, s:o}", "hunt", origin->hunt, "index",
                  (json_int_t)origin->index, "seed", (json_int_t)origin->seed, "strategy",
                  origin->strategy, "schedule", origin->schedule, "outcome", outcome_json(outcome));

    if (record != NULL && !add_result(record, result)) {
        json_decref(record);
        record = NULL;
    }
    return record;
}

/* ---- reading ------------------------------------------------------------------------------ */

const char *tms_record_hunt(const json_t *record)
{
    return text_of(record, "hunt");
}

uint64_t tms_record_index(const json_t *record)
{
    return (uint64_t)json_integer_value(json_object_get(record, "index"));
}

uint64_t tms_record_seed(const json_t *record)
{
    return (uint64_t)json_integer_value(json_object_get(record, "seed"));
}

enum tms_outcome_kind tms_record_outcome(const json_t *record)
{
    const char *kind = text_of(json_object_get(record, "outcome"), "kind");
    size_t i = 0;

    while (i < OUTCOME_COUNT && strcmp(outcomes[i].text, kind) != 0) {
        i++;
    }
    return i < OUTCOME_COUNT ? (enum tms_outcome_kind)i : TMS_OUTCOME_UNWATCHED;
}

bool tms_record_failed(const json_t *record)
{
    return outcomes[tms_record_outcome(record)].fails;
}

bool tms_record_shows(const json_t *record, const char *id)
{
    const json_t *findings = json_object_get(record, "findings");

    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        if (json_object_get(finding, "level") != NULL && strcmp(text_of(finding, "id"), id) == 0) {
            return strcmp(text_of(finding, "evidence"), "observed") == 0;
        }
    }
    return false;
}

static bool is_count(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) && json_integer_value(value) >= 0;
}

bool tms_record_is_sound(const json_t *record)
{
    const json_t *findings = json_object_get(record, "findings");
    bool sound = text_of(record, "hunt")[0] != '\0' && is_count(record, "index") &&
                 is_count(record, "seed") && json_is_string(json_object_get(record, "schedule")) &&
                 json_is_array(findings) && json_is_array(json_object_get(record, "engines"));

    for (size_t i = 0; sound && i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        sound = text_of(finding, "key")[0] != '\0' && text_of(finding, "engine")[0] != '\0' &&
                text_of(finding, "id")[0] != '\0';
    }
    return sound;
}
