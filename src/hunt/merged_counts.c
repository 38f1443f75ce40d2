/* SPDX-License-Identifier: Apache-2.0 */
/* Counts over many runs; see merged_counts.h. */
#include "hunt/merged_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the numbers of several runs are combined: counts of what each run creates are summed. */
enum how { SUM, MOST };

struct member {
    const char *key;
    enum how how;
    bool optional; /* left out if no run has it */
};

static json_t *combine(const json_t *a, const json_t *b, enum how how)
{
    if (json_is_integer(a) && json_is_integer(b)) {
        json_int_t one = json_integer_value(a), two = json_integer_value(b);
        return json_integer(how == SUM ? one + two : one > two ? one : two);
    }
    double one = json_number_value(a), two = json_number_value(b);
    return json_real(how == SUM ? one + two : one > two ? one : two);
}

/* If one run lacks a number, the total is unknown. */
static bool add_member(json_t *into, const json_t *from, const struct member *member)
{
    json_t *known = json_object_get(into, member->key), *more = json_object_get(from, member->key);

    if (more == NULL) {
        return true;
    }
    if (known == NULL) {
        return json_object_set_new(into, member->key, json_deep_copy(more)) == 0;
    }
    if (!json_is_number(known) || !json_is_number(more)) {
        return json_object_set_new(into, member->key, json_null()) == 0;
    }
    return json_object_set_new(into, member->key, combine(known, more, member->how)) == 0;
}

static bool add_members(json_t *into, const json_t *from, const struct member *members)
{
    bool good = true;

    for (; good && members->key != NULL; members++) {
        good = add_member(into, from, members);
    }
    return good;
}

/* ---- losses ------------------------------------------------------------------------------- */

/* Counts a sentence. */
static bool note_loss(json_t *losses, const json_t *loss)
{
    const char *text = json_string_value(loss);

    if (text == NULL) {
        return true;
    }
    json_int_t before = json_integer_value(json_object_get(losses, text));
    return json_object_set_new(losses, text, json_integer(before + 1)) == 0;
}

/* "2 of 30 runs: …; 1 of 30 runs: …", or null. */
static json_t *losses_text(const json_t *losses, size_t runs)
{
    char *text = NULL;
    size_t size;
    FILE *out = json_object_size(losses) > 0 ? open_memstream(&text, &size) : NULL;
    const char *loss;
    json_t *count;

    if (out == NULL) {
        return json_object_size(losses) > 0 ? NULL : json_null();
    }
    json_object_foreach((json_t *)(size_t)losses, loss, count)
    {
        fprintf(out, "%s%lld of %zu runs: %s", ftell(out) > 0 ? "; " : "",
                (long long)json_integer_value(count), runs, loss);
    }
    json_t *string = fclose(out) == 0 ? json_string(text) : NULL;
    free(text);
    return string;
}

/* ---- the trace ---------------------------------------------------------------------------- */

static const struct member trace_members[] = {
    {"events", SUM, false},        {"threads", MOST, false},
    {"variables", MOST, false},    {"locks", MOST, false},
    {"transactions", SUM, false},  {"not_atomic", SUM, false},
    {"unary", SUM, false},         {"skipped", SUM, false},
    {"seconds", SUM, false},       {"functions_shared", MOST, true},
    {"functions_met", MOST, true}, {0}};

/* Copies a member from the first run that has it. */
static bool add_once(json_t *into, const json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);

    return value == NULL || json_object_get(into, key) != NULL ||
           json_object_set_new(into, key, json_deep_copy(value)) == 0;
}

/* The members that every trace has, also if no run reported any. */
static bool fill_trace(json_t *trace)
{
    bool good = add_once(trace, trace, "format") &&
                (json_object_get(trace, "format") != NULL ||
                 json_object_set_new(trace, "format", json_string("live")) == 0);

    for (const struct member *member = trace_members; good && member->key != NULL; member++) {
        good = member->optional || json_object_get(trace, member->key) != NULL ||
               json_object_set_new(trace, member->key, json_integer(0)) == 0;
    }
    return good;
}

json_t *tms_merged_trace(json_t *const *records, size_t count, const char *path)
{
    json_t *trace = json_pack("{s:s}", "path", path), *losses = json_object();
    bool good = trace != NULL && losses != NULL;

    for (size_t i = 0; good && i < count; i++) {
        const json_t *from = json_object_get(records[i], "trace");
        good = add_members(trace, from, trace_members) && add_once(trace, from, "format") &&
               add_once(trace, from, "blocks") && add_once(trace, from, "locks_only") &&
               note_loss(losses, json_object_get(from, "loss"));
    }
    good = good && fill_trace(trace) &&
           json_object_set_new(trace, "loss", losses_text(losses, count)) == 0;
    json_decref(losses);
    if (!good) {
        json_decref(trace);
    }
    return good ? trace : NULL;
}

/* ---- engines ------------------------------------------------------------------------------ */

static const struct member engine_members[] = {
    {"violation_count", SUM, false}, {"closing_edges", SUM, false}, {"unlisted", SUM, false}, {0}};
static const struct member stats_members[] = {
    {"seconds", SUM, false}, {"peak_memory_bytes", MOST, false}, {0}};

/* Verdicts in ascending severity; all others mean that nothing was found. */
static int weight_of(const json_t *verdict)
{
    static const char *const words[] = {"incomplete", "potential", "race",
                                        "predicted",  "affected",  "violation"};
    const char *text = json_string_value(verdict);

    for (size_t i = 0; text != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            return (int)i + 1;
        }
    }
    return 0;
}

static bool add_counters(json_t *into, const json_t *from)
{
    const char *key;
    json_t *value;
    bool good = true;

    json_object_foreach((json_t *)(size_t)from, key, value)
    {
        const struct member member = {key, SUM, false};
        good = good && add_member(into, from, &member);
    }
    return good;
}

/* An engine before its first run; `losses` is removed at the end. */
static json_t *new_engine(const json_t *from)
{
    json_t *engine = json_pack(
        "{s:O, s:O, s:b, s:n, s:n, s:{s:f, s:i, s:i, s:{}}, s:{}, s:[]}", "engine",
        json_object_get(from, "engine"), "verdict", json_object_get(from, "verdict"), "complete", 1,
        "loss", "first_violation_event", "stats", "seconds", 0.0, "events_per_second", 0,
        "peak_memory_bytes", 0, "counters", "losses", "violations");

    return engine;
}

/* Keeps the most severe verdict, with the event of the first run that has it. */
static bool add_verdict(json_t *into, const json_t *from)
{
    json_t *verdict = json_object_get(from, "verdict");
    json_t *event = json_object_get(from, "first_violation_event");
    bool heavier = weight_of(verdict) > weight_of(json_object_get(into, "verdict"));
    bool first = json_is_null(json_object_get(into, "first_violation_event")) &&
                 weight_of(verdict) == weight_of(json_object_get(into, "verdict"));

    if (!heavier && !first) {
        return true;
    }
    return json_object_set(into, "verdict", verdict) == 0 &&
           (event == NULL || json_object_set(into, "first_violation_event", event) == 0);
}

static bool add_engine(json_t *into, const json_t *from)
{
    json_t *stats = json_object_get(into, "stats");
    const json_t *more = json_object_get(from, "stats");
    bool complete = json_is_true(json_object_get(from, "complete"));

    return add_members(into, from, engine_members) && add_members(stats, more, stats_members) &&
           add_counters(json_object_get(stats, "counters"), json_object_get(more, "counters")) &&
           add_verdict(into, from) && add_once(into, from, "assumption") &&
           (complete || json_object_set_new(into, "complete", json_false()) == 0) &&
           note_loss(json_object_get(into, "losses"), json_object_get(from, "loss"));
}

static json_t *engine_in(json_t *list, const json_t *from)
{
    const json_t *name = json_object_get(from, "engine");

    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *engine = json_array_get(list, i);
        if (json_equal(json_object_get(engine, "engine"), name)) {
            return engine;
        }
    }
    json_t *engine = new_engine(from);
    return json_array_append_new(list, engine) == 0 ? engine : NULL;
}

static bool add_record(json_t *list, const json_t *record)
{
    const json_t *engines = json_object_get(record, "engines");
    bool good = true;

    for (size_t i = 0; good && i < json_array_size(engines); i++) {
        const json_t *from = json_array_get(engines, i);
        json_t *into = engine_in(list, from);
        good = into != NULL && add_engine(into, from);
    }
    return good;
}

json_t *tms_merged_engines(json_t *const *records, size_t count)
{
    json_t *list = json_array();
    bool good = list != NULL;

    for (size_t i = 0; good && i < count; i++) {
        good = add_record(list, records[i]);
    }
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        json_t *engine = json_array_get(list, i);
        json_t *loss = losses_text(json_object_get(engine, "losses"), count);
        good = json_object_set_new(engine, "loss", loss) == 0 &&
               json_object_del(engine, "losses") == 0;
    }
    if (!good) {
        json_decref(list);
    }
    return good ? list : NULL;
}
