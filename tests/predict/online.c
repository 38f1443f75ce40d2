/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core that predicts inside running programs (src/predict) against the engines, on random
 * traces: the same predictions as `sidetrack`, event by event, and the same cycles as `goodlock`.
 * With a bound that is too small for the traces it may keep another window than the engine; its
 * predictions are then searched for among all schedules, as in sidetrack.c.
 *
 *   predict-online [TRACES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_api/engine.h"
#include "online_feed.h"
#include "schedules.h"
#include "sidetrack_make.h"

struct test {
    struct tms_context *context;
    struct online_result *result;
    unsigned number, failed;
    char fault[256];
    unsigned predictions, left_out, pairs; /* of the current profile */
};

static void tap(struct test *test, bool good, const char *what)
{
    printf("%s %u - %s\n", good ? "ok" : "not ok", ++test->number, what);
    if (!good) {
        test->failed++;
        printf("# %s\n", test->fault);
    }
}

/* NULL if the trace is not taken. */
static struct tms_analysis *analyse(struct test *test, const struct tms_trace *trace)
{
    struct tms_settings settings;
    struct tms_analysis *analysis = NULL;

    tms_settings_init(&settings);
    settings.engines = "sidetrack";
    settings.all = true;
    settings.split = trace->split;
    int code = tms_analysis_new(test->context, &settings, &analysis);
    code = code == TMS_OK ? tms_analysis_feed(analysis, trace->events, trace->count, NULL) : code;
    code = code == TMS_OK ? tms_analysis_finish(analysis) : code;
    if (code != TMS_OK) {
        tms_analysis_free(analysis);
        return NULL;
    }
    return analysis;
}

/* ---- comparison ----------------------------------------------------------------------------- */

static bool says_deadlock(const struct tms_finding *finding)
{
    return finding->caveat != NULL && strstr(finding->caveat, "deadlock") != NULL;
}

static const char *const kinds[] = {"before", "in", "after", "pair"};

static bool is_same(const struct online_prediction *mine, const struct tms_finding *finding)
{
    const struct tms_step *out = &finding->cycle[0];
    const struct tms_step *back = &finding->cycle[finding->cycle_length - 1];
    bool same = strcmp(kinds[mine->error], finding->kind) == 0 && mine->first == out->first_event &&
                mine->culprit == back->first_event && mine->second == back->second_event &&
                mine->lock == back->on && mine->thread == finding->transaction.thread &&
                mine->begin == finding->transaction.begin_event &&
                mine->culprit_begin == back->from.begin_event &&
                mine->rough == says_deadlock(finding);

    if (mine->error == TMS_ERROR_PAIR) {
        same = same && mine->through == out->second_event && mine->first_lock == out->on &&
               mine->through_begin == out->to.begin_event;
    }

    /* The engine lists the blocks that it refutes, or none for the transaction alone. */
    size_t blocks = mine->block_count > 0 ? mine->block_count : 1;
    same = same && blocks == finding->refuted_count;
    for (size_t i = 0; i < mine->block_count && same; i++) {
        same = mine->blocks[i] == finding->refuted[i].begin_event;
    }
    return same;
}

static bool is_among(const struct online_prediction *mine, const struct tms_result *result)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        if (is_same(mine, &result->findings[i])) {
            return true;
        }
    }
    return false;
}

static bool was_found(const struct online_result *mine, const struct tms_finding *finding)
{
    for (size_t i = 0; i < mine->prediction_count; i++) {
        if (is_same(&mine->predictions[i], finding)) {
            return true;
        }
    }
    return false;
}

/*
 * Does some schedule of the trace have the culprit in the window, or get stuck there, as predicted?
 */
static bool is_feasible(const struct tms_trace *trace, const struct online_prediction *mine)
{
    struct tms_schedules *schedules = tms_schedules_new(trace->events, trace->count);
    const struct tms_cut cut = {mine->first, mine->culprit, mine->second, mine->through};
    struct tms_search search = {0};

    if (schedules == NULL) {
        return false;
    }
    tms_schedules_search(schedules, &cut, &search);
    tms_schedules_free(schedules);
    return search.cut ? !tms_schedule_serializable(search.schedule, search.length)
                      : search.stuck && mine->rough;
}

/* `complete`: nothing may be left out. */
static bool compare(struct test *test, const struct tms_trace *trace,
                    const struct tms_result *result, bool complete)
{
    const struct online_result *mine = test->result;

    for (size_t i = 0; i < mine->prediction_count; i++) {
        const struct online_prediction *p = &mine->predictions[i];
        if (!is_among(p, result) && (complete || !is_feasible(trace, p))) {
            snprintf(test->fault, sizeof(test->fault),
                     "%s %u,%u,%u of the transaction at %u (%u blocks): the engine has none",
                     kinds[p->error], (unsigned)p->first, (unsigned)p->culprit, (unsigned)p->second,
                     (unsigned)p->begin, p->block_count);
            return false;
        }
    }
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        bool found = was_found(mine, finding);
        test->pairs += found && strcmp(finding->kind, "pair") == 0;
        test->left_out += !found;
        if (complete && !found) {
            snprintf(test->fault, sizeof(test->fault), "%s %u,%u,%u of the engine is missing",
                     finding->kind, (unsigned)finding->cycle[0].first_event,
                     (unsigned)finding->cycle[0].second_event,
                     (unsigned)finding->cycle[1].second_event);
            return false;
        }
    }
    test->predictions += (unsigned)mine->prediction_count;
    return !complete || mine->prediction_count == result->finding_count;
}

static bool check_trace(struct test *test, const struct tms_trace *trace, uint32_t taken_most)
{
    struct tms_analysis *analysis = analyse(test, trace);
    bool complete = taken_most == TMS_PREDICT_TAKEN;

    if (analysis == NULL) {
        snprintf(test->fault, sizeof(test->fault), "%s", tms_error(test->context));
        return false;
    }
    bool good = online_feed(test->context, trace, taken_most, test->result) == TMS_OK;
    if (good) {
        good = compare(test, trace, tms_analysis_result(analysis, 0), complete);
    } else {
        snprintf(test->fault, sizeof(test->fault), "the core did not take the trace");
    }
    online_result_clear(test->result);
    tms_analysis_free(analysis);
    return good;
}

struct wrong {
    struct test *test;
    uint32_t taken_most;
};

/* For shrinking: still well-formed, and still wrong. */
static bool is_wrong(void *user, const struct tms_trace *trace)
{
    const struct wrong *wrong = user;
    struct tms_analysis *analysis = analyse(wrong->test, trace);

    if (analysis == NULL) {
        return false;
    }
    tms_analysis_free(analysis);
    return !check_trace(wrong->test, trace, wrong->taken_most);
}

/* ---- profiles ------------------------------------------------------------------------------- */

static bool check_profile(struct test *test, const struct sidetrack_profile *profile,
                          unsigned traces, uint32_t taken_most)
{
    struct tms_trace trace;

    for (uint64_t seed = 1; seed <= traces; seed++) {
        if (!sidetrack_make(test->context, profile, seed, &trace)) {
            snprintf(test->fault, sizeof(test->fault), "out of memory");
            return false;
        }
        if (!check_trace(test, &trace, taken_most)) {
            struct wrong wrong = {test, taken_most};
            tms_trace_shrink(&trace, is_wrong, &wrong);
            is_wrong(&wrong, &trace);
            printf("# seed %llu, shrunk:\n", (unsigned long long)seed);
            tms_trace_print(&trace, test->context, stdout);
            return false;
        }
    }
    return true;
}

static const struct sidetrack_profile profiles[] = {
    /* events, threads, locks; weights of shared, update, wait, arrive, fork, access */
    {"locks, fork and join", 14, 3, 2, 0, 0, 0, 0, 3, 0},
    {"locks alone", 14, 3, 3, 0, 0, 0, 0, 0, 0},
    {"shared locks", 14, 3, 2, 12, 0, 0, 0, 2, 0},
    {"waits", 14, 3, 2, 0, 0, 6, 0, 1, 0},
    {"barriers", 14, 3, 2, 0, 0, 0, 4, 1, 0},
    {"everything", 14, 3, 2, 4, 0, 3, 2, 2, 0},
    {"long, locks alone", 120, 4, 3, 0, 0, 0, 0, 0, 0},
    {"long, shared locks", 120, 4, 2, 12, 0, 0, 0, 1, 0},
    {"long, waits", 120, 4, 2, 0, 0, 6, 0, 1, 0},
    {"long, barriers", 120, 4, 2, 0, 0, 0, 4, 1, 0},
    {"long, everything", 120, 4, 3, 6, 0, 2, 2, 2, 0},
};
#define PROFILES (sizeof(profiles) / sizeof(*profiles))

static const struct sidetrack_profile bounded = {"everything, bounded", 15, 2, 2, 8, 0, 2, 0, 1, 0};

static void check_windows(struct test *test, unsigned traces)
{
    char text[160];

    for (size_t i = 0; i < PROFILES; i++) {
        test->predictions = test->pairs = 0;
        bool good = check_profile(test, &profiles[i], traces, TMS_PREDICT_TAKEN);
        bool few = test->predictions < 1 + traces / 200 ||
                   (profiles[i].events > 100 && test->pairs < 1 + traces / 500);
        if (good && few) {
            snprintf(test->fault, sizeof(test->fault), "only %u predictions, %u pairs",
                     test->predictions, test->pairs);
            good = false;
        }
        snprintf(text, sizeof(text), "%s: as sidetrack, %u predictions (%u pairs) in %u traces",
                 profiles[i].name, test->predictions, test->pairs, traces);
        tap(test, good, text);
    }
    test->predictions = test->left_out = 0;
    bool good = check_profile(test, &bounded, 2 * traces, 1);
    if (good && (test->left_out == 0 || test->predictions == 0)) {
        snprintf(test->fault, sizeof(test->fault), "nothing was left out, or everything");
        good = false;
    }
    snprintf(text, sizeof(text), "one lock of a transaction: %u predictions, %u left out",
             test->predictions, test->left_out);
    tap(test, good, text);
}

/* ---- cycles of locks ------------------------------------------------------------------------ */

/* What the core collected, as the runtime's reader would hand it over. */
struct handover {
    struct tms_lock_request requests[ONLINE_MOST];
    struct tms_lock_hold held[ONLINE_MOST][TMS_REQUESTS_HELD];
    uint32_t names[16];
};

static struct tms_predicted_event event_of(const struct tms_predict_acquire *from, uint8_t kind)
{
    return (struct tms_predicted_event){
        .event = from->place.number,
        .location = from->place.site,
        .kind = kind,
        .in = {from->block.begin, from->thread, from->block.label, from->block.site, from->unary},
    };
}

static uint8_t acquire_kind(const struct tms_predict_acquire *from)
{
    return from->place.kind == TMS_TAKE_SHARED ? TMS_EVENT_SHARED_ACQUIRE : TMS_EVENT_ACQUIRE;
}

static void hand_over(const struct online_result *result, struct handover *to)
{
    for (size_t i = 0; i < result->request_count; i++) {
        const struct online_request *from = &result->requests[i];
        const struct tms_request *request = &from->request;
        for (size_t h = 0; h < from->held_count; h++) {
            const struct tms_predict_acquire *taken = &from->held[h].acquire;
            to->held[i][h] =
                (struct tms_lock_hold){.lock = taken->slot, /* online_feed.c puts it there */
                                       .shared = taken->place.kind == TMS_TAKE_SHARED,
                                       .taken = event_of(taken, acquire_kind(taken))};
        }
        to->requests[i] = (struct tms_lock_request){
            .wants =
                event_of(&request->at, request->join ? TMS_EVENT_JOIN : acquire_kind(&request->at)),
            .join = request->join,
            .shared = !request->join && request->at.place.kind == TMS_TAKE_SHARED,
            .wanted = request->wanted,
            .held = to->held[i],
            .held_count = from->held_count,
            .line = request->slot,
            .knows = from->must.at,
            .knows_count = from->must.capacity,
        };
    }
    for (uint32_t i = 0; i < 16; i++) {
        to->names[i] = i;
    }
}

/* The cycles of the trace, or, with a handover, of what the core collected. */
static struct tms_analysis *find_cycles(struct test *test, const struct tms_trace *trace,
                                        const struct handover *handover)
{
    struct tms_settings settings;
    struct tms_analysis *analysis = NULL;
    const struct tms_predictions predictions = {
        .requests = handover != NULL ? handover->requests : NULL,
        .request_count = test->result->request_count,
        .lock_names = handover != NULL ? handover->names : NULL,
        .lock_count = 16};

    tms_settings_init(&settings);
    settings.engines = "goodlock";
    settings.all = true;
    settings.split = trace->split;
    int code = tms_analysis_new(test->context, &settings, &analysis);
    if (code == TMS_OK) {
        code = handover != NULL ? tms_analysis_predict(analysis, &predictions)
                                : tms_analysis_feed(analysis, trace->events, trace->count, NULL);
    }
    if (code != TMS_OK || tms_analysis_finish(analysis) != TMS_OK) {
        tms_analysis_free(analysis);
        return NULL;
    }
    return analysis;
}

/* `exactly`: by the same events; else by threads and locks. */
static bool is_same_cycle(const struct tms_finding *a, const struct tms_finding *b, bool exactly)
{
    bool same = a->cycle_length == b->cycle_length;

    for (size_t i = 0; i < a->cycle_length && same; i++) {
        const struct tms_step *x = &a->cycle[i], *y = &b->cycle[i];
        same =
            x->on == y->on && x->on_class == y->on_class && x->first_kind == y->first_kind &&
            x->second_kind == y->second_kind && x->from.thread == y->from.thread &&
            (!exactly || (x->first_event == y->first_event && x->second_event == y->second_event &&
                          x->from.begin_event == y->from.begin_event));
    }
    return same;
}

static bool has_cycle(const struct tms_result *result, const struct tms_finding *finding,
                      bool exactly)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        if (is_same_cycle(&result->findings[i], finding, exactly)) {
            return true;
        }
    }
    return false;
}

static bool compare_cycles(struct test *test, const struct tms_result *engine,
                           const struct tms_result *mine, bool complete)
{
    for (size_t i = 0; i < mine->finding_count; i++) {
        if (!has_cycle(engine, &mine->findings[i], complete)) {
            snprintf(test->fault, sizeof(test->fault), "a cycle that goodlock has not");
            return false;
        }
    }
    for (size_t i = 0; i < engine->finding_count; i++) {
        bool found = has_cycle(mine, &engine->findings[i], complete);
        test->left_out += !found;
        if (complete && !found) {
            snprintf(test->fault, sizeof(test->fault), "a cycle of goodlock is missing");
            return false;
        }
    }
    test->predictions += (unsigned)mine->finding_count;
    return true;
}

static bool check_cycles(struct test *test, const struct tms_trace *trace, bool complete)
{
    struct handover *handover = calloc(1, sizeof(*handover));
    bool good = handover != NULL &&
                online_feed(test->context, trace, TMS_PREDICT_TAKEN, test->result) == TMS_OK;

    if (good) {
        hand_over(test->result, handover);
    }
    struct tms_analysis *mine = good ? find_cycles(test, trace, handover) : NULL;
    struct tms_analysis *engine = good ? find_cycles(test, trace, NULL) : NULL;
    if (mine == NULL || engine == NULL) {
        snprintf(test->fault, sizeof(test->fault), "%s", tms_error(test->context));
        good = false;
    } else {
        good = compare_cycles(test, tms_analysis_result(engine, 0), tms_analysis_result(mine, 0),
                              complete);
    }
    tms_analysis_free(mine);
    tms_analysis_free(engine);
    online_result_clear(test->result);
    free(handover);
    return good;
}

static const struct sidetrack_profile cycle_profiles[] = {
    {"locks, fork and join", 40, 4, 3, 0, 0, 0, 0, 3, 0},
    {"locks alone", 40, 3, 3, 0, 0, 0, 0, 0, 0},
    {"shared locks", 40, 4, 3, 12, 0, 0, 0, 2, 0},
    {"barriers", 40, 3, 2, 0, 0, 0, 4, 1, 0},
};

/* For shrinking. */
static bool has_wrong_cycles(void *user, const struct tms_trace *trace)
{
    const struct wrong *wrong = user;
    struct tms_analysis *analysis = find_cycles(wrong->test, trace, NULL);

    if (analysis == NULL) {
        return false;
    }
    tms_analysis_free(analysis);
    return !check_cycles(wrong->test, trace, wrong->taken_most != 0);
}

static bool check_cycle_profile(struct test *test, const struct sidetrack_profile *profile,
                                unsigned traces)
{
    struct tms_trace trace;
    bool complete = profile->arrive == 0; /* a barrier orders a little more here */

    for (uint64_t seed = 1; seed <= traces; seed++) {
        if (!sidetrack_make(test->context, profile, seed, &trace) ||
            !check_cycles(test, &trace, complete)) {
            struct wrong wrong = {test, complete};
            tms_trace_shrink(&trace, has_wrong_cycles, &wrong);
            has_wrong_cycles(&wrong, &trace);
            printf("# seed %llu, shrunk:\n", (unsigned long long)seed);
            tms_trace_print(&trace, test->context, stdout);
            return false;
        }
    }
    return true;
}

static void check_lock_order(struct test *test, unsigned traces)
{
    char text[160];

    for (size_t i = 0; i < sizeof(cycle_profiles) / sizeof(*cycle_profiles); i++) {
        test->predictions = test->left_out = 0;
        bool good = check_cycle_profile(test, &cycle_profiles[i], traces);
        if (good && test->predictions < 1 + traces / 200) {
            snprintf(test->fault, sizeof(test->fault), "only %u cycles", test->predictions);
            good = false;
        }
        snprintf(text, sizeof(text), "%s: as goodlock, %u cycles in %u traces, %u left out",
                 cycle_profiles[i].name, test->predictions, traces, test->left_out);
        tap(test, good, text);
    }
}

static void check_buffer(struct test *test, unsigned runs)
{
    struct tms_trace trace;
    bool good = true;

    for (unsigned seed = 1; seed <= runs && good; seed++) {
        good = sidetrack_make_buffer(test->context, seed, &trace) &&
               online_feed(test->context, &trace, TMS_PREDICT_TAKEN, test->result) == TMS_OK &&
               test->result->prediction_count == 0;
        online_result_clear(test->result);
    }
    snprintf(test->fault, sizeof(test->fault), "a buffer was predicted");
    tap(test, good, "a bounded buffer is never predicted");
}

int main(int argument_count, char **arguments)
{
    unsigned traces = argument_count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 2000;
    struct test test = {.context = tms_context_new(NULL, NULL),
                        .result = calloc(1, sizeof(*test.result))};

    if (test.context == NULL || test.result == NULL) {
        return 2;
    }
    check_windows(&test, traces);
    check_buffer(&test, traces / 10);
    check_lock_order(&test, traces);
    printf("1..%u\n", test.number);
    free(test.result);
    tms_context_free(test.context);
    return test.failed > 0;
}
