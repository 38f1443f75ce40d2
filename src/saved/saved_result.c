/* SPDX-License-Identifier: Apache-2.0 */
/* Results read back from JSON; see saved_result.h. */
#include "saved/saved_result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "saved/link_processes.h"
#include "saved/load_finding.h"
#include "saved/load_outcomes.h"

#define MOST_TEXT "1 GiB"
#define EXPECTED  "a result of tmesis check --json, run --json or hunt"

/* ---- one object --------------------------------------------------------------------------- */

static const char *verdict_word(size_t index)
{
    return tms_verdict_text((enum tms_verdict)index);
}

static const struct tms_engine_info *engine_of(const char *name)
{
    const struct tms_engine_info *engine;

    for (size_t i = 0; (engine = tms_engine_info(i)) != NULL; i++) {
        if (strcmp(engine->name, name) == 0) {
            return engine;
        }
    }
    return NULL;
}

static void load_findings(struct tms_loading *loading, const json_t *object,
                          struct tms_saved_result *saved)
{
    struct tms_result *result = &saved->result;
    const json_t *array = tms_load_array(loading, object, "violations");
    size_t size = json_array_size(array);
    struct tms_finding *list = size > 0 ? tms_loading_take(loading, size * sizeof(*list)) : NULL;

    for (size_t i = 0; list != NULL && i < size && !loading->failed; i++) {
        const json_t *finding = json_array_get(array, i);
        tms_saved_finding(loading, finding, &list[i]);
        result->blamed = result->blamed || json_is_boolean(json_object_get(finding, "not_atomic"));
        saved->baseline = saved->baseline || json_object_get(finding, "new") != NULL;
    }
    result->findings = list;
    result->finding_count = list != NULL ? size : 0;
}

/* The counters of an engine; their meanings are not saved. */
static void load_counters(struct tms_loading *loading, const json_t *stats,
                          struct tms_result *result)
{
    const json_t *counters = tms_load_object(loading, stats, "counters");
    size_t size = json_object_size(counters), at = 0;
    struct tms_counter *list = size > 0 ? tms_loading_take(loading, size * sizeof(*list)) : NULL;

    for (void *i = json_object_iter((json_t *)(uintptr_t)counters); list != NULL && i != NULL;
         i = json_object_iter_next((json_t *)(uintptr_t)counters, i)) {
        const char *name = json_object_iter_key(i);
        list[at++] = (struct tms_counter){.name = tms_loading_keep(loading, name),
                                          .meaning = "",
                                          .value = tms_load_number(loading, counters, name)};
    }
    result->counters = list;
    result->counter_count = at;
}

static void load_counts(struct tms_loading *loading, const json_t *object,
                        struct tms_result *result)
{
    const json_t *stats = tms_load_object(loading, object, "stats");

    result->complete = tms_load_flag(loading, object, "complete");
    result->loss = tms_loading_keep(loading, tms_load_text(loading, object, "loss"));
    result->assumption = tms_loading_keep(loading, tms_load_text(loading, object, "assumption"));
    result->first_violation_event = tms_load_number(loading, object, "first_violation_event");
    result->violations = tms_load_number(loading, object, "violation_count");
    result->closing_edges = tms_load_number(loading, object, "closing_edges");
    result->unlisted = tms_load_number(loading, object, "unlisted");
    result->seconds = tms_load_seconds(loading, stats, "seconds");
    result->memory_bytes = tms_load_number(loading, stats, "peak_memory_bytes");
    load_counters(loading, stats, result);
}

/* An engine that this version does not have is left out. */
static void load_result(struct tms_loading *loading, const json_t *object,
                        const struct tms_saved_result *model)
{
    const char *name = tms_load_needed(loading, object, "engine");
    struct tms_saved *saved = loading->saved;
    struct tms_saved_result result = *model;

    result.result.engine = engine_of(name);
    if (loading->failed || result.result.engine == NULL) {
        return;
    }
    result.result.verdict =
        (enum tms_verdict)tms_load_word(loading, object, "verdict", verdict_word);
    load_counts(loading, object, &result.result);
    load_findings(loading, object, &result);
    if (!loading->failed &&
        TMS_RESERVE(&saved->memory, &saved->results, &saved->capacity, saved->count + 1, 4)) {
        saved->results[saved->count++] = result;
    } else {
        tms_loading_fail_memory(loading);
    }
}

static void load_summary(struct tms_loading *loading, const json_t *trace,
                         struct tms_trace_summary *summary)
{
    *summary = (struct tms_trace_summary){
        .events = tms_load_number(loading, trace, "events"),
        .threads = tms_load_number(loading, trace, "threads"),
        .variables = tms_load_number(loading, trace, "variables"),
        .locks = tms_load_number(loading, trace, "locks"),
        .transactions = tms_load_number(loading, trace, "transactions"),
        .not_atomic = tms_load_number(loading, trace, "not_atomic"),
        .unary = tms_load_number(loading, trace, "unary"),
        .skipped = tms_load_number(loading, trace, "skipped"),
        .rough = json_is_null(json_object_get(trace, "variables")),
        .seconds = tms_load_seconds(loading, trace, "seconds"),
    };
}

/* "2026-11-17T08:12:03.250Z" as seconds since 1970; 0 for NULL and for anything else. */
static double time_of(const char *text)
{
    struct tm parts = {0};
    const char *end = text != NULL ? strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) : NULL;

    if (end == NULL || timegm(&parts) < 0) {
        return 0;
    }
    return (double)timegm(&parts) + (*end == '.' ? strtod(end, NULL) : 0);
}

static int64_t integer_or_none(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* Why the trace could not be read; NULL: it was. */
static const char *load_error(struct tms_loading *loading, const json_t *object)
{
    const json_t *error = tms_load_object(loading, object, "error");

    return error != NULL ? tms_loading_keep(loading, tms_load_needed(loading, error, "message"))
                         : NULL;
}

/* All but its results. */
static struct tms_saved_object load_origin(struct tms_loading *loading, const json_t *object)
{
    const json_t *trace = tms_load_object(loading, object, "trace");
    const json_t *hunt = tms_load_object(loading, object, "hunt");
    const json_t *end = tms_load_object(loading, object, "exit");
    const char *started = tms_loading_keep(loading, tms_load_text(loading, object, "started"));
    struct tms_saved_object out = {
        .path = tms_loading_keep(loading, tms_load_text(loading, trace, "path")),
        .format = tms_loading_keep(loading, tms_load_text(loading, trace, "format")),
        .blocks = tms_loading_keep(loading, tms_load_text(loading, trace, "blocks")),
        .loss = tms_loading_keep(loading, tms_load_text(loading, trace, "loss")),
        .unread = load_error(loading, object),
        .command = tms_loading_keep(loading, tms_load_text(loading, object, "command")),
        .host = tms_loading_keep(loading, tms_load_text(loading, object, "host")),
        .merged = tms_load_flag(loading, object, "merged"),
        .partial = tms_load_flag(loading, object, "partial"),
        .locks_only = tms_load_flag(loading, trace, "locks_only"),
        .processes = tms_load_number(loading, object, "processes"),
        .runs = tms_load_number(loading, hunt, "runs"),
        .failed_runs = tms_load_number(loading, hunt, "failed"),
        .failures = hunt != NULL ? tms_saved_failures(loading, hunt) : NULL,
        .version = tms_loading_keep(loading, tms_load_text(loading, object, "version")),
        .exit_status = integer_or_none(end, "status"),
        .exit_signal = integer_or_none(end, "signal"),
        .seed = tms_load_number(loading, object, "seed"),
        .seeded = json_is_integer(json_object_get(object, "seed")),
        .started_text = started,
        .started = time_of(started),
        .seconds = tms_load_seconds(loading, object, "seconds"),
        .coverage = {.known = json_object_get(trace, "functions_shared") != NULL,
                     .functions_shared = tms_load_number(loading, trace, "functions_shared"),
                     .functions_met = tms_load_number(loading, trace, "functions_met")},
        .first = loading->saved->count,
    };

    load_summary(loading, trace, &out.summary);
    return out;
}

static void add_object(struct tms_loading *loading, struct tms_saved_object *object)
{
    struct tms_saved *saved = loading->saved;

    object->count = saved->count - object->first;
    if (loading->failed || (object->count == 0 && object->unread == NULL && object->runs == 0)) {
        return;
    }
    for (size_t i = object->first; i < saved->count; i++) {
        object->baseline = object->baseline || saved->results[i].baseline;
    }
    if (TMS_RESERVE(&saved->memory, &saved->objects, &saved->object_capacity,
                    saved->object_count + 1, 4)) {
        saved->objects[saved->object_count++] = *object;
    } else {
        tms_loading_fail_memory(loading);
    }
}

static void load_object(struct tms_loading *loading, const json_t *object)
{
    const char *tool = json_string_value(json_object_get(object, "tool"));

    if (tool == NULL || strcmp(tool, "tmesis") != 0) {
        tms_loading_fail(loading, "tool", "\"tmesis\": expected " EXPECTED);
    } else if (tms_load_number(loading, object, "schema") != 1) {
        tms_loading_fail(loading, "schema", "1, the only one that this version can read");
    }
    const json_t *results = tms_load_array(loading, object, "results");
    struct tms_saved_object origin = load_origin(loading, object);
    struct tms_saved_result model = {
        .path = origin.path,
        .live = origin.format != NULL && strcmp(origin.format, TMS_FORMAT_LIVE) == 0,
        .merged = origin.merged,
    };
    if (results == NULL && origin.unread == NULL) {
        tms_loading_fail(loading, "results", "a list: expected " EXPECTED);
    }
    if (loading->object == 1 || origin.merged || loading->saved->whole.unread != NULL) {
        loading->saved->whole = origin;
    }
    for (size_t i = 0; i < json_array_size(results) && !loading->failed; i++) {
        load_result(loading, json_array_get(results, i), &model);
    }
    add_object(loading, &origin);
}

/* ---- all of them -------------------------------------------------------------------------- */

static size_t skip_blanks(const char *bytes, size_t size, size_t at)
{
    while (at < size && strchr(" \t\r\n", bytes[at]) != NULL && bytes[at] != '\0') {
        at++;
    }
    return at;
}

static void bad_json(struct tms_loading *loading, const char *bytes, size_t at,
                     const json_error_t *error)
{
    int line = error->line;

    for (size_t i = 0; i < at; i++) {
        line += bytes[i] == '\n';
    }
    snprintf(loading->reason, TMS_SAVED_REASON,
             "%s: line %d is not JSON (%.80s); expected " EXPECTED, loading->name, line,
             error->text);
    loading->failed = true;
}

bool tms_saved_parse(struct tms_saved *saved, const char *name, const char *bytes, size_t size,
                     char reason[TMS_SAVED_REASON])
{
    struct tms_loading loading = {.saved = saved, .name = name, .reason = reason};
    size_t at = skip_blanks(bytes, size, 0);

    *saved = (struct tms_saved){.context = tms_context_new(NULL, NULL)};
    if (saved->context == NULL) {
        tms_loading_fail_memory(&loading);
    } else if (at == size) {
        snprintf(reason, TMS_SAVED_REASON, "%s is empty; expected " EXPECTED, name);
        loading.failed = true;
    }
    for (; at < size && !loading.failed; at = skip_blanks(bytes, size, at)) {
        json_error_t error;
        json_t *object = json_loadb(bytes + at, size - at,
                                    JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
        loading.object++;
        if (object == NULL) {
            bad_json(&loading, bytes, at, &error);
        } else {
            load_object(&loading, object);
            at += (size_t)error.position;
        }
        json_decref(object);
    }
    if (!loading.failed) {
        tms_saved_link_processes(&loading);
    }
    return !loading.failed;
}

void tms_saved_close(struct tms_saved *saved)
{
    tms_release(&saved->memory, saved->results, saved->capacity, sizeof(*saved->results));
    tms_release(&saved->memory, saved->objects, saved->object_capacity, sizeof(*saved->objects));
    tms_arena_clear(&saved->arena, &saved->memory);
    tms_context_free(saved->context);
    *saved = (struct tms_saved){0};
}

/* ---- files -------------------------------------------------------------------------------- */

/* The name of the file for messages. */
static const char *file_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* All bytes of a stream; NULL with errno, EFBIG if there are too many. */
static char *read_all(FILE *in, size_t *size)
{
    size_t room = 0;
    char *bytes = NULL;

    for (*size = 0;;) {
        if (*size == room) {
            room = room == 0 ? (size_t)1 << 16 : room * 2;
            char *more = room <= TMS_SAVED_MOST ? realloc(bytes, room) : NULL;
            if (more == NULL) {
                free(bytes);
                errno = room > TMS_SAVED_MOST ? EFBIG : ENOMEM;
                return NULL;
            }
            bytes = more;
        }
        size_t count = fread(bytes + *size, 1, room - *size, in);
        *size += count;
        if (count == 0) {
            break;
        }
    }
    if (ferror(in)) {
        int error = errno;
        free(bytes);
        errno = error;
        return NULL;
    }
    return bytes;
}

char *tms_saved_read(const char *path, size_t *size, char reason[TMS_SAVED_REASON])
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "re");
    char *bytes = in != NULL ? read_all(in, size) : NULL;
    int error = errno;

    if (in != NULL && !standard) {
        fclose(in);
    }
    if (bytes == NULL) {
        snprintf(reason, TMS_SAVED_REASON, "%.300s can't be read: %s", file_name(path),
                 error == EFBIG ? "it has more than " MOST_TEXT : strerror(error));
    }
    return bytes;
}

bool tms_saved_open(struct tms_saved *saved, const char *path, char reason[TMS_SAVED_REASON])
{
    size_t size = 0;
    char *bytes = tms_saved_read(path, &size, reason);

    *saved = (struct tms_saved){0};
    bool good = bytes != NULL && tms_saved_parse(saved, file_name(path), bytes, size, reason);
    free(bytes);
    return good;
}
