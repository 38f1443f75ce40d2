/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corridor that an event walks: validated, turned into operations, handed to each engine.
 * Everything goes in batches; the clock is read twice per batch and engine.
 */
#include "engine/analysis.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/agreement.h"
#include "trace/format.h"

#define COMPLAINTS_SHOWN 10

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void tms_settings_init(struct tms_settings *settings)
{
    *settings = (struct tms_settings){
        .engines = "frontier",
        .blame = true,
        .split = TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER,
        .predict = TMS_PREDICT_SHARED | TMS_PREDICT_BARRIER | TMS_PREDICT_WAIT | TMS_PREDICT_ATOMIC,
        .race_test = TMS_RACE_DEFAULT,
        .escape = TMS_ESCAPE_AUTO,
        .blocks = TMS_BLOCKS_2V,
        .periods = true,
        .acq_rel = true,
    };
}

/* ---- the host of an engine -------------------------------------------------------------- */

void tms_host_fail(struct tms_host *host, int code)
{
    if (host->failed == TMS_OK) {
        host->failed = code;
    }
}

void tms_host_violation(struct tms_host *host, const struct tms_violation *violation)
{
    int code = tms_findings_add(host->findings, violation);

    if (code != TMS_OK) {
        tms_host_fail(host, code);
    }
}

static void run_each(const struct tms_run *run, const struct tms_op *ops, size_t count)
{
    for (size_t i = 0; i < count && run->host.failed == TMS_OK; i++) {
        if (run->engine->on[ops[i].kind] != NULL) {
            run->engine->on[ops[i].kind](run->state, &ops[i]);
        }
    }
}

static void run_batch(void *user, const struct tms_op *ops, size_t count)
{
    struct tms_analysis *analysis = user;

    for (size_t i = 0; i < analysis->run_count; i++) {
        struct tms_run *run = &analysis->runs[i];
        if (run->host.failed != TMS_OK) {
            continue;
        }
        double start = now();
        if (run->engine->batch != NULL) {
            run->engine->batch(run->state, ops, count);
        } else {
            run_each(run, ops, count);
        }
        run->seconds += now() - start;
        run->result.events = ops[count - 1].event;
        if (analysis->settings.timeout > 0 && run->seconds > analysis->settings.timeout) {
            tms_host_fail(&run->host, TMS_ERR_TIME);
        }
    }
}

static bool observes(const struct tms_run *run)
{
    return run->engine->info.found == TMS_VERDICT_VIOLATION;
}

/*
 * With settings.first: has every engine what it was asked for, or given up? Those that speak of
 * other schedules are not waited for, unless there are no others.
 */
static bool had_enough(const struct tms_analysis *analysis)
{
    bool observing = false;

    for (size_t i = 0; i < analysis->run_count; i++) {
        observing = observing || observes(&analysis->runs[i]);
    }
    for (size_t i = 0; i < analysis->run_count; i++) {
        const struct tms_run *run = &analysis->runs[i];
        if (run->host.first_violation_event == 0 && run->host.failed == TMS_OK &&
            observes(run) == observing) {
            return false;
        }
    }
    return analysis->run_count > 0;
}

/* ---- creation --------------------------------------------------------------------------- */

static int start_run(struct tms_analysis *analysis, const struct tms_engine *engine)
{
    struct tms_run *run = &analysis->runs[analysis->run_count++];

    run->engine = engine;
    run->host.context = analysis->context;
    run->host.settings = &analysis->settings;
    run->host.findings =
        tms_findings_new(analysis->context, &analysis->settings, &run->host.memory);
    if (run->host.findings != NULL) {
        run->state = tms_resize(&run->host.memory, NULL, 0, 1, engine->state_size);
    }
    return run->state == NULL ? TMS_ERR_MEMORY : engine->create(run->state, &run->host);
}

static int start_all(struct tms_analysis *analysis)
{
    for (size_t i = 0; tms_engines[i] != NULL; i++) {
        int code = start_run(analysis, tms_engines[i]);
        if (code != TMS_OK) {
            return code;
        }
    }
    return TMS_OK;
}

static bool already_runs(const struct tms_analysis *analysis, const struct tms_engine *engine)
{
    for (size_t i = 0; i < analysis->run_count; i++) {
        if (analysis->runs[i].engine == engine) {
            return true;
        }
    }
    return false;
}

static int start_named(struct tms_analysis *analysis, const char *names)
{
    while (*names != '\0') {
        size_t length = strcspn(names, ",");
        const struct tms_engine *engine = tms_engine_find(names, length);
        if (engine == NULL) {
            return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                            "there is no engine '%.*s'; `tmesis engines` lists them", (int)length,
                            names);
        }
        int code = already_runs(analysis, engine) ? TMS_OK : start_run(analysis, engine);
        if (code != TMS_OK) {
            return code;
        }
        names += length;
        names += *names == ',';
    }
    return TMS_OK;
}

static int start_runs(struct tms_analysis *analysis)
{
    size_t most = 0;

    while (tms_engines[most] != NULL) {
        most++;
    }
    if (!TMS_RESERVE(&analysis->memory, &analysis->runs, &analysis->run_capacity, most, most)) {
        return TMS_ERR_MEMORY;
    }
    const char *names = analysis->settings.engines;
    if (names == NULL) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "settings.engines is NULL; tms_settings_init gives the default");
    }
    return strcmp(names, "all") == 0 ? start_all(analysis) : start_named(analysis, names);
}

static int set_up(struct tms_analysis *analysis)
{
    tms_validator_init(&analysis->validator, analysis->context);
    int code = tms_lower_init(&analysis->lower, analysis->context, &analysis->settings, run_batch,
                              analysis);
    if (code == TMS_OK) {
        code = start_runs(analysis);
    }
    analysis->settings.engines = NULL; /* the caller's string is not ours to keep */
    /* An exact stop needs a look after every event. */
    analysis->lower.batch = analysis->settings.first ? 1 : TMS_LOWER_BATCH;
    return code == TMS_ERR_MEMORY ? tms_fail_memory(analysis->context) : code;
}

int tms_analysis_new(struct tms_context *context, const struct tms_settings *settings,
                     struct tms_analysis **out)
{
    struct tms_memory memory = {0};
    struct tms_analysis *analysis = tms_resize(&memory, NULL, 0, 1, sizeof(*analysis));

    *out = NULL;
    if (analysis == NULL) {
        return tms_fail_memory(context);
    }
    analysis->memory = memory;
    analysis->context = context;
    tms_settings_init(&analysis->settings);
    if (settings != NULL) {
        analysis->settings = *settings;
    }
    int code = set_up(analysis);
    if (code != TMS_OK) {
        tms_analysis_free(analysis);
        return code;
    }
    *out = analysis;
    return TMS_OK;
}

static void stop_run(struct tms_run *run)
{
    if (run->state != NULL) {
        run->engine->destroy(run->state);
        tms_release(&run->host.memory, run->state, 1, run->engine->state_size);
    }
    tms_findings_free(run->host.findings);
    assert(run->host.memory.bytes == 0);
}

void tms_analysis_free(struct tms_analysis *analysis)
{
    if (analysis == NULL) {
        return;
    }
    for (size_t i = 0; i < analysis->run_count; i++) {
        stop_run(&analysis->runs[i]);
    }
    tms_release(&analysis->memory, analysis->runs, analysis->run_capacity, sizeof(*analysis->runs));
    tms_lower_clear(&analysis->lower);
    tms_validator_clear(&analysis->validator);
    struct tms_memory memory = analysis->memory;
    tms_release(&memory, analysis, 1, sizeof(*analysis));
}

struct tms_context *tms_analysis_context(const struct tms_analysis *analysis)
{
    return analysis->context;
}

/* ---- events ----------------------------------------------------------------------------- */

/* Only events made by hand are looked at like this: readers make no others. */
static bool in_range(const struct tms_analysis *analysis, const struct tms_event *event)
{
    const struct tms_context *context = analysis->context;

    if (event->kind >= TMS_EVENT_COUNT || event->reserved[0] != 0 || event->reserved[1] != 0 ||
        event->reserved[2] != 0) {
        return false;
    }
    enum tms_class cls = tms_event_class(event->kind);
    bool bare =
        event->target == 0 && (event->kind == TMS_EVENT_BEGIN || event->kind == TMS_EVENT_END);
    return event->thread > 0 && event->thread <= tms_name_count(context, TMS_CLASS_THREAD) &&
           (bare || (event->target > 0 && event->target <= tms_name_count(context, cls))) &&
           (event->location >= TMS_LOCATION_NUMBER ||
            event->location <= tms_name_count(context, TMS_CLASS_LOCATION));
}

static int refuse(struct tms_analysis *analysis, struct tms_reader *reader, size_t index)
{
    char number[64];
    const char *where = number;
    const char *reason = tms_validator_reason(&analysis->validator);

    if (reader != NULL) {
        where = tms_reader_where(reader, index);
    } else {
        snprintf(number, sizeof(number), "event %llu",
                 (unsigned long long)analysis->summary.events);
    }
    if (!analysis->settings.lenient) {
        return tms_fail(analysis->context, TMS_ERR_MALFORMED, "%s: %s", where, reason);
    }
    analysis->summary.skipped++;
    if (analysis->summary.skipped <= COMPLAINTS_SHOWN) {
        tms_warn(analysis->context, "%s: %s; skipped", where, reason);
    } else if (analysis->summary.skipped == COMPLAINTS_SHOWN + 1) {
        tms_warn(analysis->context, "further skipped events are counted, not shown");
    }
    return TMS_OK;
}

static int take(struct tms_analysis *analysis, const struct tms_event *event,
                struct tms_reader *reader, size_t index)
{
    int validity = tms_validate(&analysis->validator, event);

    if (validity < 0 || validity == TMS_VALID_INNER) {
        return validity < 0 ? validity : TMS_OK;
    }
    return validity == TMS_INVALID
               ? refuse(analysis, reader, index)
               : tms_lower_event(&analysis->lower, event, analysis->summary.events, validity);
}

static bool is_block(const struct tms_event *event)
{
    return event->kind <= TMS_EVENT_END || event->kind >= TMS_EVENT_ENTER;
}

/* The plain events from here on, blocks among them, as go into the buffer; does another one stop
 * them? */
static size_t take_plain(struct tms_analysis *analysis, const struct tms_event *restrict events,
                         size_t count, bool *stopped)
{
    struct tms_lower *lower = &analysis->lower;
    /* Said to be apart, so that nothing is fetched anew after each store. */
    struct tms_valid_lock *restrict locks = analysis->validator.locks;
    uint8_t *restrict plain_of = lower->plain;
    struct tms_op *restrict ops = &lower->ops[lower->count];
    uint64_t number = analysis->summary.events + 1;
    size_t room = lower->batch - lower->count;
    size_t most = count < room ? count : room;
    size_t inside = 0, i;

    for (i = 0; i < most; i++) {
        uint8_t plain = plain_of[events[i].thread];
        if (tms_validate_plain(locks, &events[i], plain / TMS_PLAIN)) {
            tms_lower_plain(&ops[i], &events[i], number + i, plain);
        } else if (is_block(&events[i]) && tms_lower_block(lower, &ops[i], &events[i], number + i,
                                                           &plain_of[events[i].thread])) {
            tms_validate_block(&analysis->validator, &events[i]);
        } else {
            break;
        }
        inside += ops[i].flags / TMS_OP_IN_BLOCK;
    }
    lower->count += i;
    lower->unary += i - inside;
    analysis->summary.events += i;
    *stopped = i < most;
    if (lower->count == lower->batch) {
        tms_lower_flush(lower);
    }
    return i;
}

static int take_all(struct tms_analysis *analysis, const struct tms_event *events, size_t count,
                    struct tms_reader *reader)
{
    for (size_t i = 0; i < count;) {
        bool stopped;
        i += take_plain(analysis, &events[i], count - i, &stopped);
        if (stopped) {
            analysis->summary.events++;
            int code = take(analysis, &events[i], reader, i);
            if (code != TMS_OK) {
                return code;
            }
            i++;
        }
        if (analysis->settings.first && had_enough(analysis)) {
            analysis->stopped = true;
            return 1;
        }
    }
    return TMS_OK;
}

/* The names of the batch are known, so the tables by thread and lock can have their size. */
static int make_room(struct tms_analysis *analysis)
{
    int code = tms_validator_reserve(&analysis->validator);

    return code == TMS_OK ? tms_lower_reserve(&analysis->lower) : code;
}

int tms_analysis_feed(struct tms_analysis *analysis, const struct tms_event *events, size_t count,
                      struct tms_reader *reader)
{
    if (analysis->finished || analysis->observed || analysis->failed != TMS_OK) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "this analysis has ended and takes no more events");
    }
    if (reader != NULL && reader->context != analysis->context) {
        return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                        "the reader belongs to another context, so its names mean nothing here");
    }
    if (analysis->started == 0) {
        analysis->started = now();
        analysis->lower.run_methods =
            reader != NULL && strcmp(tms_reader_format(reader), "rr") == 0;
    }
    for (size_t i = 0; reader == NULL && i < count; i++) {
        if (!in_range(analysis, &events[i])) {
            return tms_fail(analysis->context, TMS_ERR_ARGUMENT,
                            "event %llu has a kind or a name that there is not, or reserved bytes "
                            "that are not 0",
                            (unsigned long long)(analysis->summary.events + i + 1));
        }
    }
    int code = make_room(analysis);
    if (code == TMS_OK) {
        code = take_all(analysis, events, count, reader);
    }
    if (count > 0) {
        analysis->last_thread = events[count - 1].thread;
    }
    if (code < 0) {
        analysis->failed = code;
    }
    return code == TMS_ERR_MEMORY ? tms_fail_memory(analysis->context) : code;
}

int tms_analysis_doubt(struct tms_analysis *analysis, uint32_t label, const char *why)
{
    for (size_t i = 0; i < analysis->run_count; i++) {
        if (tms_findings_doubt(analysis->runs[i].host.findings, label, why) != TMS_OK) {
            return tms_fail_memory(analysis->context);
        }
    }
    return TMS_OK;
}

void tms_analysis_lost(struct tms_analysis *analysis, const char *loss)
{
    if (loss != NULL && !analysis->finished) {
        size_t length = strlen(analysis->loss);
        snprintf(analysis->loss + length, sizeof(analysis->loss) - length, "%s%s",
                 length > 0 ? "; " : "", loss);
    }
}

int tms_analysis_read(struct tms_analysis *analysis, struct tms_reader *reader)
{
    const struct tms_event *events;
    int64_t count;
    int code = TMS_OK;

    do {
        count = tms_reader_next(reader, &events);
        code = count > 0 ? tms_analysis_feed(analysis, events, (size_t)count, reader) : TMS_OK;
    } while (count > 0 && code == TMS_OK);
    if (count < 0 || code < 0) {
        return count < 0 ? (int)count : code;
    }
    tms_analysis_lost(analysis, tms_reader_loss(reader));
    return tms_analysis_finish(analysis);
}

/* ---- results ---------------------------------------------------------------------------- */

static const char *run_loss(const struct tms_analysis *analysis, struct tms_run *run)
{
    switch (run->host.failed) {
    case TMS_OK:
        break;
    case TMS_ERR_TIME:
        snprintf(run->loss, sizeof(run->loss), "timeout after %g s", analysis->settings.timeout);
        return run->loss;
    case TMS_ERR_LIMIT:
        return run->engine->info.flags & TMS_ENGINE_SMALL
                   ? "the trace is too long for this engine, frontier takes any length"
                   : "more threads at a time, or more events, than this engine can tell apart";
    default:
        return tms_strerror(run->host.failed);
    }
    if (analysis->loss[0] != '\0') {
        return analysis->loss;
    }
    if (run->host.loss != NULL) {
        return run->host.loss;
    }
    return analysis->stopped ? "stopped at the first violation, as asked" : NULL;
}

static enum tms_verdict verdict_of(const struct tms_run *run)
{
    const struct tms_result *result = &run->result;
    bool found = result->first_violation_event != 0 || result->violations != 0;

    if (!found) {
        return result->complete ? run->engine->info.clean : TMS_VERDICT_INCOMPLETE;
    }
    /* Nothing of what it found could be proven. */
    if (run->engine->info.found == TMS_VERDICT_PREDICTED &&
        tms_findings_strongest(run->host.findings) == TMS_EVIDENCE_POTENTIAL) {
        return TMS_VERDICT_POTENTIAL;
    }
    return run->engine->info.found;
}

static void finish_run(const struct tms_analysis *analysis, struct tms_run *run)
{
    struct tms_result *result = &run->result;
    double start = now();

    run->host.last_event = analysis->summary.events;
    run->host.last_thread = analysis->last_thread;
    if (run->host.failed == TMS_OK) {
        run->engine->finish(run->state);
        result->events = analysis->summary.events;
    }
    run->seconds += now() - start;
    int code = tms_findings_close(run->host.findings, &result->findings, &result->finding_count,
                                  &result->unlisted);
    if (code != TMS_OK) {
        tms_host_fail(&run->host, code);
    }
    result->engine = &run->engine->info;
    result->loss = run_loss(analysis, run);
    result->complete = result->loss == NULL;
    result->violations = tms_findings_total(run->host.findings);
    result->first_violation_event = run->host.first_violation_event;
    result->verdict = verdict_of(run);
    result->blamed = analysis->settings.blame &&
                     (run->engine->info.flags & (TMS_ENGINE_BLAMES | TMS_ENGINE_BLAMES_SOME));
    result->closing_edges = run->host.closing_edges;
    result->seconds = run->seconds;
    result->memory_bytes = run->host.memory.peak;
    result->counters = run->counters;
    result->counter_count = run->engine->stats == NULL
                                ? 0
                                : run->engine->stats(run->state, run->counters, TMS_COUNTERS_MOST);
}

static void note_skipped(struct tms_analysis *analysis)
{
    char sentence[96];

    if (analysis->summary.skipped > 0) {
        bool one = analysis->summary.skipped == 1;
        snprintf(sentence, sizeof(sentence), "%llu event%s not well-formed and skipped",
                 (unsigned long long)analysis->summary.skipped, one ? " was" : "s were");
        tms_analysis_lost(analysis, sentence);
    }
}

static void count_summary(struct tms_analysis *analysis)
{
    struct tms_trace_summary *summary = &analysis->summary;

    summary->threads = tms_name_count(analysis->context, TMS_CLASS_THREAD);
    summary->variables = tms_name_count(analysis->context, TMS_CLASS_VARIABLE);
    summary->locks = tms_name_count(analysis->context, TMS_CLASS_LOCK);
    summary->transactions = analysis->lower.transactions;
    summary->not_atomic = analysis->lower.not_atomic;
    summary->unary = analysis->lower.unary;
    summary->seconds = analysis->started == 0 ? 0 : now() - analysis->started;
}

int tms_analysis_finish(struct tms_analysis *analysis)
{
    if (analysis->failed != TMS_OK || analysis->finished) {
        return analysis->failed;
    }
    tms_lower_flush(&analysis->lower);
    note_skipped(analysis);
    for (size_t i = 0; i < analysis->run_count - analysis->observed; i++) {
        finish_run(analysis, &analysis->runs[i]);
    }
    count_summary(analysis);
    if (analysis->observed) {
        analysis->summary = analysis->elsewhere;
    }
    if (tms_agreement_make(analysis) != TMS_OK) {
        analysis->failed = tms_fail_memory(analysis->context);
        return analysis->failed;
    }
    analysis->finished = true;
    return TMS_OK;
}

void tms_analysis_summary(const struct tms_analysis *analysis, struct tms_trace_summary *out)
{
    *out = analysis->summary;
}

struct tms_run *tms_analysis_run(const struct tms_analysis *analysis, size_t index)
{
    size_t last = analysis->run_count - 1;

    if (analysis->observed) {
        index = index == 0 ? last : index - 1;
    }
    return &analysis->runs[index];
}

const struct tms_result *tms_analysis_result(const struct tms_analysis *analysis, size_t index)
{
    bool there = analysis->finished && index < analysis->run_count;

    return there ? &tms_analysis_run(analysis, index)->result : NULL;
}

const char *tms_analysis_loss(const struct tms_analysis *analysis)
{
    return analysis->loss[0] != '\0' ? analysis->loss : NULL;
}
