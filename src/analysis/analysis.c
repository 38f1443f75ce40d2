/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An analysis: its engines, from their start to their results. pipeline.c turns events into
 * operations and returns them here in batches, to be passed to each engine. The clock is read twice
 * per batch and engine.
 */
#include "analysis/analysis.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analysis/cross_engine.h"
#include "analysis/merge_results.h"
#include "analysis/suppress_findings.h"
#include "trace/format.h"

double tms_analysis_now(void)
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
        .predict = TMS_PREDICT_SHARED | TMS_PREDICT_BARRIER | TMS_PREDICT_WAIT |
                   TMS_PREDICT_ATOMIC | TMS_PREDICT_PAIR,
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

uint64_t tms_host_violations(const struct tms_host *host)
{
    return tms_findings_total(host->findings);
}

void tms_counters_put(struct tms_counters *counters, const struct tms_counter *more, size_t count)
{
    size_t room = TMS_COUNTERS_MOST - counters->count;

    count = count < room ? count : room;
    memcpy(&counters->at[counters->count], more, count * sizeof(*more));
    counters->count += count;
}

bool tms_host_again(struct tms_host *host, uint64_t key, uint64_t event)
{
    return tms_findings_again(host->findings, key, event);
}

static void run_each(const struct tms_run *run, const struct tms_op *ops, size_t count)
{
    for (size_t i = 0; i < count && run->host.failed == TMS_OK; i++) {
        if (run->engine->on[ops[i].kind] != NULL) {
            run->engine->on[ops[i].kind](run->state, &ops[i]);
        }
    }
}

static void take_ops(const struct tms_settings *settings, struct tms_run *run,
                     const struct tms_op *ops, size_t count)
{
    if (run->host.failed != TMS_OK) {
        return;
    }
    double start = tms_analysis_now();
    if (run->engine->batch != NULL) {
        run->engine->batch(run->state, ops, count);
    } else {
        run_each(run, ops, count);
    }
    run->result.events = ops[count - 1].event;
    tms_run_took(settings, run, tms_analysis_now() - start);
}

void tms_run_took(const struct tms_settings *settings, struct tms_run *run, double seconds)
{
    run->seconds += seconds;
    if (settings->timeout > 0 && run->seconds > settings->timeout) {
        tms_host_fail(&run->host, TMS_ERR_TIME);
    }
}

/* The engines of one of the two threads. */
static void run_engines(struct tms_analysis *analysis, bool concurrent, const struct tms_op *ops,
                        size_t count)
{
    for (size_t i = 0; i < analysis->run_count; i++) {
        if (analysis->runs[i].concurrent == concurrent) {
            take_ops(&analysis->settings, &analysis->runs[i], ops, count);
        }
    }
}

static void run_batch(void *user, const struct tms_op *ops, size_t count)
{
    struct tms_analysis *analysis = user;

    run_engines(analysis, false, ops, count);
    if (analysis->thread != NULL) {
        tms_engine_thread_put(analysis->thread, ops, count);
    }
}

/* On the engine thread. */
static void run_concurrent(void *user, const struct tms_op *ops, size_t count)
{
    run_engines(user, true, ops, count);
}

/* ---- an exact stop ------------------------------------------------------------------------ */

static bool observes(const struct tms_run *run)
{
    return run->engine->info.found == TMS_VERDICT_VIOLATION;
}

/* Does not wait for predictive engines, unless there are no others. */
bool tms_analysis_had_enough(const struct tms_analysis *analysis)
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

/*
 * Picks the engines for the second thread and prepares it; it starts with the first full buffer.
 * TMS_OK or TMS_ERR_MEMORY.
 */
static int choose_second_thread(struct tms_analysis *analysis)
{
    bool any = false;

    for (size_t i = 1; i < analysis->run_count; i++) {
        struct tms_run *run = &analysis->runs[i];
        run->concurrent = run->engine->concurrent;
        any = any || run->concurrent;
    }
    if (!any) {
        return TMS_OK;
    }
    analysis->thread = tms_engine_thread_new(&analysis->memory, run_concurrent, analysis);
    return analysis->thread == NULL ? TMS_ERR_MEMORY : TMS_OK;
}

/*
 * The fused lane is for an engine that is alone. An exact stop needs a look after every event, so
 * then there are neither batches nor a second thread.
 */
static int choose_lane(struct tms_analysis *analysis)
{
    bool first = analysis->settings.first;

    analysis->fused = analysis->run_count == 1 && analysis->runs[0].engine->fused != NULL &&
                      !first && analysis->lower.ignored == NULL;
    analysis->lower.batch = first ? 1 : TMS_LOWER_BATCH;
    return analysis->settings.parallel && !first ? choose_second_thread(analysis) : TMS_OK;
}

static int set_up(struct tms_analysis *analysis)
{
    tms_validator_init(&analysis->validator, analysis->context);
    int code = tms_lower_init(&analysis->lower, analysis->context, &analysis->settings, run_batch,
                              analysis);
    if (code == TMS_OK) {
        code = start_runs(analysis);
    }
    if (code == TMS_OK && analysis->run_count > 0) {
        code = choose_lane(analysis);
    }
    analysis->settings.engines = NULL; /* the caller owns the string */
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
    tms_engine_thread_free(analysis->thread, &analysis->memory);
    for (size_t i = 0; i < analysis->run_count; i++) {
        stop_run(&analysis->runs[i]);
    }
    tms_merged_free(analysis->merged, &analysis->memory);
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

/* ---- losses and counts -------------------------------------------------------------------- */

int tms_analysis_doubt(struct tms_analysis *analysis, uint32_t label, const char *why)
{
    for (size_t i = 0; i < analysis->run_count; i++) {
        if (tms_findings_doubt(analysis->runs[i].host.findings, label, why) != TMS_OK) {
            return tms_fail_memory(analysis->context);
        }
    }
    return TMS_OK;
}

void tms_analysis_counted(struct tms_analysis *analysis, uint64_t transactions)
{
    analysis->counted = transactions;
}

void tms_analysis_lost(struct tms_analysis *analysis, const char *loss)
{
    if (loss != NULL && !analysis->finished && strstr(analysis->loss, loss) == NULL) {
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
                   ? "the trace is too long for this engine; frontier has no such limit"
                   : "more threads at the same time, or more events, than this engine supports";
    default:
        return tms_strerror(run->host.failed);
    }
    if (analysis->loss[0] != '\0') {
        return analysis->loss;
    }
    if (run->host.loss != NULL) {
        return run->host.loss;
    }
    if (analysis->settings.expect_blocks && !run->engine->without_blocks &&
        analysis->lower.transactions + analysis->lower.not_atomic == 0) {
        return "there was no block";
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
    double start = tms_analysis_now();

    run->host.last_event = analysis->summary.events;
    run->host.last_thread = analysis->last_thread;
    if (run->host.failed == TMS_OK) {
        run->engine->finish(run->state);
        result->events = analysis->summary.events;
    }
    run->seconds += tms_analysis_now() - start;
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
    if (run->engine->stats != NULL) {
        run->engine->stats(run->state, &run->counters);
    }
    result->counters = run->counters.at;
    result->counter_count = run->counters.count;
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
    if (analysis->counted > summary->transactions) {
        summary->transactions = analysis->counted;
        summary->rough = true;
    }
    summary->seconds = analysis->started == 0 ? 0 : tms_analysis_now() - analysis->started;
}

void tms_analysis_flush(struct tms_analysis *analysis)
{
    tms_lower_flush(&analysis->lower);
    if (analysis->thread != NULL) {
        tms_engine_thread_finish(analysis->thread);
    }
}

/* The engines that draw on the results of others. TMS_OK or TMS_ERR_MEMORY. */
static int conclude(struct tms_analysis *analysis)
{
    int code = TMS_OK;

    for (size_t i = 0; i < analysis->run_count && code == TMS_OK; i++) {
        struct tms_run *run = &analysis->runs[i];
        if (run->engine->conclude != NULL && run->host.failed == TMS_OK) {
            code = run->engine->conclude(analysis, run);
        }
    }
    return code;
}

struct tms_finding *tms_run_findings(const struct tms_run *run)
{
    return run->engine->findings != NULL ? run->engine->findings(run->state)
                                         : tms_findings_list(run->host.findings);
}

int tms_analysis_finish(struct tms_analysis *analysis)
{
    if (analysis->failed != TMS_OK || analysis->finished) {
        return analysis->failed;
    }
    tms_analysis_flush(analysis);
    note_skipped(analysis);
    for (size_t i = 0; i < analysis->run_count - analysis->observed; i++) {
        finish_run(analysis, &analysis->runs[i]);
    }
    count_summary(analysis);
    if (analysis->observed > 0) {
        analysis->summary = analysis->elsewhere;
    }
    if (tms_cross_engine_link(analysis) != TMS_OK || conclude(analysis) != TMS_OK ||
        tms_suppress_findings(analysis) != TMS_OK) {
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
    size_t here = analysis->run_count - analysis->observed;

    if (analysis->observed > 0 && index <= here) {
        index = index == 0 ? here : index - 1;
    }
    return &analysis->runs[index];
}

const struct tms_result *tms_analysis_result(const struct tms_analysis *analysis, size_t index)
{
    bool there = analysis->finished && index < analysis->run_count;

    return there ? &tms_analysis_run(analysis, index)->result : NULL;
}

/*
 * Skips imported findings: they have stacks already, and their event numbers are those of another
 * trace.
 */
void tms_analysis_resolve(struct tms_analysis *analysis, tms_stack_of *stack_of, void *user)
{
    for (size_t i = 0; analysis->merged == NULL && i < analysis->run_count - analysis->observed;
         i++) {
        tms_findings_resolve(analysis->runs[i].host.findings, stack_of, user);
        if (analysis->runs[i].engine->resolve != NULL) {
            analysis->runs[i].engine->resolve(&analysis->runs[i], stack_of, user);
        }
    }
    tms_suppress_findings(analysis); /* out of memory, some are shown that should not be */
}

const char *tms_analysis_loss(const struct tms_analysis *analysis)
{
    return analysis->loss[0] != '\0' ? analysis->loss : NULL;
}
