/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a finding from its JSON object: the inverse of report/json_finding.c. Roles and kinds of
 * findings, which are constants elsewhere, are stored as texts.
 */
#include "saved/load_finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of words ----------------------------------------------------------------------- */

static const char *event_word(size_t index)
{
    return tms_event_text((enum tms_event_kind)index);
}

static const char *edge_word(size_t index)
{
    return tms_edge_text((enum tms_edge_kind)index);
}

static const char *evidence_word(size_t index)
{
    return tms_evidence_text((enum tms_evidence)index);
}

static const char *level_word(size_t index)
{
    return tms_level_text((enum tms_level)index);
}

static const char *pattern_word(size_t index)
{
    return tms_pattern_text((enum tms_pattern)index);
}

/* ---- places ------------------------------------------------------------------------------- */

/* A field of a frame: tabs and line ends are what separates them. */
static void put_field(FILE *out, const char *text, char end)
{
    for (; text != NULL && *text != '\0'; text++) {
        putc_unlocked(*text == '\t' || *text == '\n' ? ' ' : *text, out);
    }
    putc_unlocked(end, out);
}

/* `site` is the instruction of the first frame, NULL of the others. */
static void put_frame(struct tms_loading *loading, FILE *out, const json_t *frame, const char *site)
{
    uint64_t line = tms_load_number(loading, frame, "line");

    put_field(out, tms_load_needed(loading, frame, "function"), '\t');
    put_field(out, tms_load_text(loading, frame, "file"), '\t');
    if (line > 0) {
        fprintf(out, "%llu", (unsigned long long)line);
    }
    fputc('\t', out);
    put_field(out, tms_load_text(loading, frame, "source"), site != NULL ? '\t' : '\n');
    if (site != NULL) {
        fputc('\t', out); /* no program or shared library */
        put_field(out, site, '\n');
    }
}

static uint32_t load_stack(struct tms_loading *loading, const json_t *at)
{
    const json_t *frames = tms_load_array(loading, at, "stack");
    char *text = NULL;
    size_t length = 0;

    if (json_array_size(frames) == 0) {
        return 0;
    }
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        tms_loading_fail_memory(loading);
        return 0;
    }
    for (size_t i = 0; i < json_array_size(frames) && !loading->failed; i++) {
        put_frame(loading, out, json_array_get(frames, i),
                  i == 0 ? tms_load_text(loading, at, "site") : NULL);
    }
    if (fclose(out) != 0) {
        tms_loading_fail_memory(loading);
    }
    uint32_t stack = tms_load_name(loading, TMS_CLASS_STACK, text);
    free(text);
    return stack;
}

static uint32_t load_place(struct tms_loading *loading, const json_t *object, const char *key,
                           uint32_t *stack)
{
    const json_t *at = tms_load_object(loading, object, key);

    if (at == NULL) {
        return 0;
    }
    if (stack != NULL) {
        *stack = load_stack(loading, at);
    }
    return tms_load_name(loading, TMS_CLASS_LOCATION, tms_load_needed(loading, at, "location"));
}

/* ---- parts -------------------------------------------------------------------------------- */

static void load_transaction(struct tms_loading *loading, const json_t *object,
                             struct tms_transaction *out)
{
    const char *label = tms_load_text(loading, object, "label");

    *out = (struct tms_transaction){
        .thread =
            tms_load_name(loading, TMS_CLASS_THREAD, tms_load_needed(loading, object, "thread")),
        .label = tms_load_name(loading, TMS_CLASS_LABEL, label),
        .begin_event = tms_load_number(loading, object, "begin_event"),
        .location = load_place(loading, object, "begin", NULL),
        .unary = label == NULL,
    };
}

static void load_transaction_at(struct tms_loading *loading, const json_t *object, const char *key,
                                struct tms_transaction *out)
{
    const json_t *value = tms_load_object(loading, object, key);

    if (value == NULL) {
        tms_loading_fail(loading, key, "an object");
        return;
    }
    load_transaction(loading, value, out);
}

/* Older versions did not write it; then it follows from the kind of conflict. */
static uint8_t load_event_kind(struct tms_loading *loading, const json_t *object, const char *key,
                               enum tms_event_kind usual)
{
    const char *text = tms_load_text(loading, object, key);

    return (uint8_t)(text != NULL ? tms_load_word_place(loading, key, text, event_word) : usual);
}

static void load_step(struct tms_loading *loading, const json_t *object, struct tms_step *step)
{
    static const struct {
        uint8_t first, second, cls;
    } kinds[] = {
        [TMS_EDGE_READ_WRITE] = {TMS_EVENT_READ, TMS_EVENT_WRITE, TMS_CLASS_VARIABLE},
        [TMS_EDGE_WRITE_READ] = {TMS_EVENT_WRITE, TMS_EVENT_READ, TMS_CLASS_VARIABLE},
        [TMS_EDGE_WRITE_WRITE] = {TMS_EVENT_WRITE, TMS_EVENT_WRITE, TMS_CLASS_VARIABLE},
        [TMS_EDGE_LOCK] = {TMS_EVENT_RELEASE, TMS_EVENT_ACQUIRE, TMS_CLASS_LOCK},
        [TMS_EDGE_FORK] = {TMS_EVENT_FORK, TMS_EVENT_BEGIN, TMS_CLASS_THREAD},
        [TMS_EDGE_JOIN] = {TMS_EVENT_END, TMS_EVENT_JOIN, TMS_CLASS_THREAD},
        [TMS_EDGE_BARRIER] = {TMS_EVENT_ARRIVE, TMS_EVENT_DEPART, TMS_CLASS_BARRIER},
        [TMS_EDGE_PROGRAM_ORDER] = {TMS_EVENT_END, TMS_EVENT_BEGIN, TMS_CLASS_NONE},
    };
    size_t kind = tms_load_word(loading, object, "kind", edge_word);

    load_transaction_at(loading, object, "from", &step->from);
    load_transaction_at(loading, object, "to", &step->to);
    step->kind = (uint8_t)kind;
    step->on_class = kinds[kind].cls;
    step->on = tms_load_name(loading, (enum tms_class)kinds[kind].cls,
                             tms_load_text(loading, object, "on"));
    step->first_event = tms_load_number(loading, object, "first_event");
    step->second_event = tms_load_number(loading, object, "second_event");
    step->first_kind = load_event_kind(loading, object, "first_kind", kinds[kind].first);
    step->second_kind = load_event_kind(loading, object, "second_kind", kinds[kind].second);
    step->first_location = load_place(loading, object, "first", &step->first_stack);
    step->second_location = load_place(loading, object, "second", &step->second_stack);
}

static void load_turn(struct tms_loading *loading, const json_t *object, struct tms_turn *turn)
{
    turn->kind = (uint8_t)tms_load_word(loading, object, "kind", event_word);
    turn->event = tms_load_number(loading, object, "event");
    turn->thread =
        tms_load_name(loading, TMS_CLASS_THREAD, tms_load_needed(loading, object, "thread"));
    turn->target = tms_load_name(loading, tms_event_class((enum tms_event_kind)turn->kind),
                                 tms_load_text(loading, object, "on"));
    turn->role = tms_loading_keep(loading, tms_load_text(loading, object, "role"));
    turn->location = load_place(loading, object, "at", &turn->stack);
}

/* A block of a judgement: a label and a place in one object. */
static void load_block(struct tms_loading *loading, const json_t *object,
                       struct tms_transaction *out)
{
    out->label = tms_load_name(loading, TMS_CLASS_LABEL, tms_load_needed(loading, object, "label"));
    out->location =
        tms_load_name(loading, TMS_CLASS_LOCATION, tms_load_text(loading, object, "location"));
}

static void load_lock(struct tms_loading *loading, const json_t *name, uint32_t *out)
{
    if (!json_is_string(name)) {
        tms_loading_fail(loading, "held", "a list of strings");
        return;
    }
    *out = tms_load_name(loading, TMS_CLASS_LOCK, json_string_value(name));
}

/* load_steps(), …: the list of a member, each loaded by `load_one`; NULL if it is empty. */
#define LIST_LOAD(function, type, load_one)                                                        \
    static const type *function(struct tms_loading *loading, const json_t *object,                 \
                                const char *key, size_t *count)                                    \
    {                                                                                              \
        const json_t *array = tms_load_array(loading, object, key);                                \
        size_t size = json_array_size(array);                                                      \
        type *list = size > 0 ? tms_loading_take(loading, size * sizeof(*list)) : NULL;            \
        *count = list != NULL ? size : 0;                                                          \
        for (size_t i = 0; i < *count && !loading->failed; i++) {                                  \
            load_one(loading, json_array_get(array, i), &list[i]);                                 \
        }                                                                                          \
        return list;                                                                               \
    }
LIST_LOAD(load_steps, struct tms_step, load_step)
LIST_LOAD(load_turns, struct tms_turn, load_turn)
LIST_LOAD(load_transactions, struct tms_transaction, load_transaction)
LIST_LOAD(load_blocks, struct tms_transaction, load_block)
LIST_LOAD(load_locks, uint32_t, load_lock)

/* ---- the judgement ------------------------------------------------------------------------ */

static unsigned load_patterns(struct tms_loading *loading, const json_t *object)
{
    const json_t *array = tms_load_array(loading, object, "patterns");
    unsigned patterns = 0;

    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        patterns |= 1u << tms_load_word_place(loading, "patterns", text, pattern_word);
    }
    return patterns;
}

/* A variable and what it belongs to. */
static uint32_t load_variable(struct tms_loading *loading, const json_t *object, const char *key,
                              const char **belongs)
{
    const json_t *variable = tms_load_object(loading, object, key);

    *belongs = tms_loading_keep(loading, tms_load_text(loading, variable, "object"));
    return tms_load_name(loading, TMS_CLASS_VARIABLE, tms_load_text(loading, variable, "name"));
}

static void load_given_up(struct tms_loading *loading, const json_t *object,
                          struct tms_judgement *judgement)
{
    const json_t *lock = tms_load_object(loading, object, "lock");
    const json_t *release = tms_load_object(loading, lock, "given_up");

    judgement->lock = tms_load_name(loading, TMS_CLASS_LOCK, tms_load_text(loading, lock, "name"));
    if (release != NULL) {
        load_turn(loading, release, &judgement->given_up);
    }
}

static void load_judgement(struct tms_loading *loading, const json_t *object,
                           struct tms_finding *finding)
{
    struct tms_judgement *out = tms_loading_take(loading, sizeof(*out));
    const json_t *variable = tms_load_object(loading, object, "variable");

    if (out == NULL) {
        return;
    }
    out->level = (enum tms_level)tms_load_word(loading, object, "level", level_word);
    out->pattern = (enum tms_pattern)tms_load_word(loading, object, "pattern", pattern_word);
    out->patterns = load_patterns(loading, object) | 1u << out->pattern;
    out->variable = load_variable(loading, object, "variable", &out->object);
    out->other = load_variable(loading, variable, "other", &out->other_object);
    out->executions = tms_load_number(loading, object, "executions");
    out->cut = tms_load_number(loading, object, "cut");
    out->processes = tms_load_number(loading, object, "processes");
    out->driver = tms_load_flag(loading, object, "driver");
    out->interleaved = tms_load_flag(loading, object, "interleaved");
    out->own = load_turns(loading, object, "own", &out->own_count);
    out->foreign = load_turns(loading, object, "foreign", &out->foreign_count);
    out->outer = load_blocks(loading, object, "outer", &out->outer_count);
    load_transaction_at(loading, object, "culprit", &out->culprit);
    load_given_up(loading, object, out);
    finding->judgement = out;
}

/* ---- the finding -------------------------------------------------------------------------- */

static bool is_same(const struct tms_transaction *a, const struct tms_transaction *b)
{
    return a->thread == b->thread && a->begin_event == b->begin_event && a->label == b->label;
}

/* Is its list of steps a closed cycle of transactions? Not for a race or a deadlock. */
static bool is_closed(const struct tms_finding *finding)
{
    bool race = strcmp(finding->kind, "race") == 0;
    bool deadlock = strcmp(finding->kind, "deadlock") == 0;

    for (size_t i = 0; !race && i < finding->cycle_length; i++) {
        const struct tms_transaction *to = &finding->cycle[i].to;
        const struct tms_transaction *from = &finding->cycle[(i + 1) % finding->cycle_length].from;
        if (deadlock ? to->thread != from->thread : !is_same(to, from)) {
            return false;
        }
    }
    return true;
}

/* Does its kind agree with its evidence and judgement? */
static bool has_fitting_kind(const struct tms_finding *finding)
{
    static const char *const predicted[] = {"before",  "in",        "after", "pair",
                                            "pattern", "reduction", "race",  "deadlock"};
    bool known = false;

    if (finding->judgement != NULL || finding->evidence == TMS_EVIDENCE_OBSERVED) {
        return strcmp(finding->kind, finding->judgement != NULL ? "data" : "cycle") == 0;
    }
    for (size_t i = 0; i < sizeof(predicted) / sizeof(predicted[0]); i++) {
        known = known || strcmp(finding->kind, predicted[i]) == 0;
    }
    return known;
}

/* Checks what reports rely on. */
static void check_finding(struct tms_loading *loading, const struct tms_finding *finding)
{
    if (!has_fitting_kind(finding)) {
        tms_loading_fail(loading, "kind", "one that goes with \"evidence\" and \"level\"");
    } else if (finding->judgement == NULL && finding->not_atomic && finding->refuted_count == 0) {
        tms_loading_fail(loading, "refuted", "a list, because \"not_atomic\" is true");
    } else if (!is_closed(finding)) {
        tms_loading_fail(loading, "cycle", "a list in which \"to\" is \"from\" of the next step");
    }
}

void tms_saved_finding(struct tms_loading *loading, const json_t *object,
                       struct tms_finding *finding)
{
    finding->id = tms_loading_keep(loading, tms_load_needed(loading, object, "id"));
    loading->within = finding->id;
    finding->kind = tms_loading_keep(loading, tms_load_needed(loading, object, "kind"));
    finding->evidence =
        (enum tms_evidence)tms_load_word(loading, object, "evidence", evidence_word);
    finding->count = tms_load_number(loading, object, "count");
    finding->event = tms_load_number(loading, object, "event");
    finding->thread =
        tms_load_name(loading, TMS_CLASS_THREAD, tms_load_needed(loading, object, "thread"));
    finding->not_atomic = tms_load_flag(loading, object, "not_atomic");
    load_transaction_at(loading, object, "transaction", &finding->transaction);
    finding->cycle = load_steps(loading, object, "cycle", &finding->cycle_length);
    finding->refuted = load_transactions(loading, object, "refuted", &finding->refuted_count);
    finding->held = load_locks(loading, object, "held", &finding->held_count);
    finding->schedule = load_turns(loading, object, "schedule", &finding->schedule_length);
    finding->caveat = tms_loading_keep(loading, tms_load_text(loading, object, "caveat"));
    finding->same_as = tms_loading_keep(loading, tms_load_text(loading, object, "same_as"));
    finding->judged = tms_loading_keep(loading, tms_load_text(loading, object, "finding"));
    finding->processes = tms_load_number(loading, object, "processes");
    finding->runs = tms_load_number(loading, object, "runs");
    finding->failed_runs = tms_load_number(loading, object, "failed_runs");
    finding->first_seed = tms_load_number(loading, object, "first_seed");
    finding->known = json_is_false(json_object_get(object, "new"));
    finding->suppressed = tms_load_flag(loading, object, "suppressed");
    if (json_object_get(object, "level") != NULL) {
        load_judgement(loading, object, finding);
    }
    if (!loading->failed) {
        check_finding(loading, finding);
    }
    loading->within = NULL;
}
