/* SPDX-License-Identifier: Apache-2.0 */
/* Examples of findings; see example.h. */
#include "hunt/example.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hunt/run_record.h"

/* ---- order -------------------------------------------------------------------------------- */

static int place_of(const char *text, const char *const *words, int count)
{
    int place = 0;

    while (place < count && (text == NULL || strcmp(words[place], text) != 0)) {
        place++;
    }
    return place;
}

int tms_evidence_place(const json_t *finding)
{
    static const char *const words[] = {"observed", "predicted", "potential"};

    return place_of(json_string_value(json_object_get(finding, "evidence")), words, 3);
}

int tms_level_place(const json_t *finding)
{
    static const char *const words[] = {"error", "warning", "note"};

    return place_of(json_string_value(json_object_get(finding, "level")), words, 3);
}

#define NOTE 2 /* as a place of levels: findings without a level come after it */

/* By run: an example has `hunt` and `index` as a record has. */
static int compare_runs(const json_t *a, const json_t *b)
{
    int hunts = strcmp(tms_record_hunt(a), tms_record_hunt(b));
    uint64_t one = tms_record_index(a), two = tms_record_index(b);

    return hunts != 0 ? hunts : (one > two) - (one < two);
}

/* Negative: the first is more informative. */
static int compare(const json_t *a, const json_t *b)
{
    const json_t *one = json_object_get(a, "finding"), *two = json_object_get(b, "finding");
    int order = tms_evidence_place(one) - tms_evidence_place(two);

    order = order != 0 ? order : tms_level_place(one) - tms_level_place(two);
    return order != 0 ? order : compare_runs(a, b);
}

/* ---- examples ----------------------------------------------------------------------------- */

int tms_examples_add(json_t *examples, const char *key, json_t *example)
{
    const json_t *known = json_object_get(examples, key);
    const json_t *now = json_object_get(example, "finding"), *before;

    before = json_object_get(known, "finding");
    bool news = known == NULL || tms_evidence_place(now) < tms_evidence_place(before) ||
                tms_level_place(now) < tms_level_place(before);

    if (known != NULL && compare(example, known) >= 0) {
        json_decref(example);
        return 0;
    }
    if (example == NULL || json_object_set_new(examples, key, example) != 0) {
        return -1;
    }
    return news;
}

static int take_one(json_t *examples, const json_t *record, const char *engine, json_t *finding)
{
    char *key = tms_finding_key(engine, finding);
    json_t *example =
        json_pack("{s:s, s:I, s:s, s:O}", "hunt", tms_record_hunt(record), "index",
                  (json_int_t)tms_record_index(record), "engine", engine, "finding", finding);
    int code = key != NULL ? tms_examples_add(examples, key, example) : -1;

    if (key == NULL) {
        json_decref(example);
    }
    free(key);
    return code > 0 ? tms_level_place(finding) < NOTE : code;
}

int tms_examples_take(json_t *examples, const json_t *record, const json_t *result)
{
    const char *engine = json_string_value(json_object_get(result, "engine"));
    const json_t *violations = json_object_get(result, "violations");
    int news = 0;

    for (size_t i = 0; engine != NULL && news >= 0 && i < json_array_size(violations); i++) {
        int code = take_one(examples, record, engine, json_array_get(violations, i));
        news = code < 0 ? code : news | code;
    }
    return news;
}

const json_t *tms_examples_judged(const json_t *examples, const char *id)
{
    char key[64];

    snprintf(key, sizeof(key), "judge %.50s", id);
    return json_object_get(json_object_get(examples, key), "finding");
}

/* ---- origin ------------------------------------------------------------------------------- */

json_t *tms_origin_of(const json_t *result)
{
    static const char *const members[] = {"version", "command", "started", "host"};
    json_t *origin = json_object();

    for (size_t i = 0; origin != NULL && i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(result, members[i]);
        if (value != NULL && json_object_set(origin, members[i], value) != 0) {
            json_decref(origin);
            origin = NULL;
        }
    }
    return origin;
}

/* Unknown values come last. */
static int compare_text(const json_t *a, const json_t *b, const char *key)
{
    const char *one = json_string_value(json_object_get(a, key));
    const char *two = json_string_value(json_object_get(b, key));

    return strcmp(one != NULL ? one : "~", two != NULL ? two : "~");
}

bool tms_origin_is_later(const json_t *one, const json_t *two)
{
    int order = two == NULL ? -1 : compare_text(one, two, "started");

    return order > 0 || (order == 0 && compare_text(one, two, "host") > 0);
}
