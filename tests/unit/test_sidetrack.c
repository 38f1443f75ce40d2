/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the sidetrack engine, step by step, where the paper shows it (figure 7), and its
 * bounds.
 */
#include "analysis/findings.h"
#include "engines/sidetrack.h"
#include "trace_fixture.h"

/* The engine without its surroundings: operations in, state to look at. */
struct bench {
    struct tms_context *context;
    struct tms_settings settings;
    struct tms_host host;
    struct tms_sidetrack *state;
    uint64_t event;
};

extern const struct tms_engine tms_engine_sidetrack;

static void start(struct bench *bench)
{
    *bench = (struct bench){.context = tms_context_new(NULL, NULL)};
    assert_non_null(bench->context);
    tms_settings_init(&bench->settings);
    for (unsigned i = 1; i < 120; i++) { /* the variables that are updated */
        char name[8];
        int length = snprintf(name, sizeof(name), "x%u", i);
        assert_int_equal(tms_intern(bench->context, TMS_CLASS_VARIABLE, name, (size_t)length), i);
    }
    bench->host.context = bench->context;
    bench->host.settings = &bench->settings;
    bench->host.findings = tms_findings_new(bench->context, &bench->settings, &bench->host.memory);
    bench->state = calloc(1, tms_engine_sidetrack.state_size);
    assert_true(bench->host.findings != NULL && bench->state != NULL);
    assert_int_equal(tms_engine_sidetrack.create(bench->state, &bench->host), TMS_OK);
}

static void stop(struct bench *bench)
{
    tms_engine_sidetrack.finish(bench->state);
    tms_engine_sidetrack.destroy(bench->state);
    free(bench->state);
    tms_findings_free(bench->host.findings);
    assert_int_equal(bench->host.memory.bytes, 0);
    tms_context_free(bench->context);
}

static void feed(struct bench *bench, uint32_t thread, uint8_t kind, uint8_t event_kind,
                 uint32_t target, uint8_t flags)
{
    struct tms_op ops[1 + TMS_OPS_AHEAD] = {{
        .event = ++bench->event,
        .thread = thread,
        .target = target,
        .kind = kind,
        .event_kind = event_kind,
        .flags = flags,
    }};

    tms_engine_sidetrack.batch(bench->state, ops, 1);
}

#define FEED(bench, thread, name, target, flags)                                                   \
    feed(bench, thread, TMS_OP_##name, TMS_EVENT_##name, target, flags)

/* C of a thread and R of the lock, by thread: the slots are theirs in the order of their forks. */
static uint64_t clock_of(const struct bench *bench, uint32_t thread, uint32_t component)
{
    const struct tms_sidetrack *s = bench->state;

    return tms_vector_get(&s->threads[thread].clock, s->threads[component].slot);
}

static uint64_t released(const struct bench *bench, uint32_t component)
{
    const struct tms_sidetrack *s = bench->state;

    return tms_vector_get(&s->locks[1]->released, s->threads[component].slot);
}

#define ZERO 1 /* thread 0 of the figure; ids begin with 1 */
#define ONE  2
#define M    1

/* The figure begins with C_0 = <5, 0, …>: four releases of another lock bring it there. */
static void reach_five(struct bench *bench)
{
    for (int i = 0; i < 4; i++) {
        FEED(bench, ZERO, ACQUIRE, 2, 0);
        FEED(bench, ZERO, RELEASE, 2, 0);
    }
    FEED(bench, ONE, ACQUIRE, 3, 0);
    FEED(bench, ONE, RELEASE, 3, 0);
    assert_int_equal(clock_of(bench, ZERO, ZERO), 5);
    assert_int_equal(clock_of(bench, ZERO, ONE), 0);
    assert_int_equal(clock_of(bench, ONE, ZERO), 0);
}

static void test_figure_7(void **state)
{
    struct bench bench;

    (void)state;
    start(&bench);
    reach_five(&bench);
    FEED(&bench, ZERO, BEGIN, 0, TMS_OP_IN_BLOCK);
    FEED(&bench, ZERO, ACQUIRE, M, TMS_OP_IN_BLOCK);
    struct tms_sidetrack_lock *m = bench.state->locks[M];
    assert_true(sidetrack_is_spent(&m->window[SHARED])); /* V_m: none */
    FEED(&bench, ZERO, RELEASE, M, TMS_OP_IN_BLOCK);
    assert_int_equal(released(&bench, ZERO), 5);
    assert_int_equal(clock_of(&bench, ZERO, ZERO), 6);
    FEED(&bench, ZERO, ACQUIRE, M, TMS_OP_IN_BLOCK);
    assert_false(sidetrack_is_spent(&m->window[SHARED]));
    assert_int_equal(m->window[SHARED].second.count, 6); /* V_m = <6, 0, …> */
    assert_int_equal(m->window[SHARED].second.slot, bench.state->threads[ZERO].slot);
    FEED(&bench, ZERO, RELEASE, M, TMS_OP_IN_BLOCK);
    assert_int_equal(released(&bench, ZERO), 6);
    assert_int_equal(released(&bench, ONE), 0);
    assert_int_equal(clock_of(&bench, ZERO, ZERO), 7);
    FEED(&bench, ZERO, END, 0, TMS_OP_IN_BLOCK);
    uint64_t own = clock_of(&bench, ONE, ONE);
    FEED(&bench, ONE, ACQUIRE, M, 0);
    assert_int_equal(clock_of(&bench, ONE, ZERO), 6); /* C_1 joined with R_m */
    assert_int_equal(clock_of(&bench, ONE, ONE), own);
    FEED(&bench, ONE, RELEASE, M, 0);
    assert_int_equal(bench.state->reports[ERROR_AFTER], 1);
    assert_int_equal(bench.state->reports[ERROR_BEFORE] + bench.state->reports[ERROR_IN], 0);
    assert_int_equal(bench.host.failed, TMS_OK);
    stop(&bench);
}

/* A child that is fully ordered after an ended thread gets its slot, and continues its count. */
static void test_slots(void **state)
{
    struct bench bench;

    (void)state;
    start(&bench);
    for (uint32_t child = 2; child < 5000; child++) {
        FEED(&bench, 1, FORK, child, 0);
        FEED(&bench, child, ACQUIRE, M, 0);
        FEED(&bench, child, RELEASE, M, 0);
        FEED(&bench, 1, JOIN, child, 0);
    }
    assert_int_equal(bench.state->slot_count, 3); /* no slot, the parent's, the child's */
    FEED(&bench, 5001, ACQUIRE, M, 0);
    FEED(&bench, 5002, FORK, 5003, 0); /* one that knows nothing of the old */
    assert_true(bench.state->threads[5003].slot != bench.state->threads[4999].slot);
    stop(&bench);
}

/* The number of slots is bounded, even if no thread is ordered after another. */
static void test_slot_limit(void **state)
{
    struct bench bench;

    (void)state;
    start(&bench);
    for (uint32_t child = 2; child < 3 * SIDETRACK_SLOTS; child++) {
        FEED(&bench, child, ACQUIRE, M, 0);
        FEED(&bench, child, RELEASE, M, 0);
        FEED(&bench, 1, JOIN, child, 0);
    }
    assert_true(bench.state->slot_count <= SIDETRACK_SLOTS);
    stop(&bench);
}

/* Something of everything that takes memory: nested windows that are cut, holds, a barrier. */
static void run_through(struct bench *bench)
{
    FEED(bench, 1, FORK, 2, 0);
    FEED(bench, 1, BEGIN, 0, TMS_OP_IN_BLOCK);
    feed(bench, 1, TMS_OP_NEST, TMS_EVENT_BEGIN, 0, TMS_OP_IN_BLOCK);
    for (uint32_t lock = 1; lock < 20; lock++) {
        FEED(bench, 1, ACQUIRE, lock, TMS_OP_IN_BLOCK);
        FEED(bench, 1, RELEASE, lock, TMS_OP_IN_BLOCK);
        FEED(bench, 1, ACQUIRE, lock, TMS_OP_IN_BLOCK);
        FEED(bench, 1, RELEASE, lock, TMS_OP_IN_BLOCK);
        FEED(bench, 1, SHARED_ACQUIRE, lock, TMS_OP_IN_BLOCK);
        FEED(bench, 1, SHARED_RELEASE, lock, TMS_OP_IN_BLOCK);
        FEED(bench, 1, UPDATE, lock, TMS_OP_IN_BLOCK);
    }
    for (uint32_t lock = 1; lock < 20; lock++) {
        FEED(bench, 2, UPDATE, lock + 100, 0);
        FEED(bench, 2, ACQUIRE, lock, 0);
    }
    FEED(bench, 2, RELEASE, 5, 0);
    FEED(bench, 2, ARRIVE, 1, 0);
    FEED(bench, 1, DEPART, 1, TMS_OP_IN_BLOCK);
    FEED(bench, 1, JOIN, 2, TMS_OP_IN_BLOCK);
}

static void test_out_of_memory(void **state)
{
    bool enough = false;

    (void)state;
    for (unsigned allowed = 1; !enough; allowed++) {
        struct bench bench;
        start(&bench);
        bench.host.memory.fail_after = allowed;
        run_through(&bench);
        enough = bench.host.failed == TMS_OK;
        assert_true(enough || bench.host.failed == TMS_ERR_MEMORY);
        assert_true(!enough || allowed > 40);
        stop(&bench);
    }
}

/* A pattern that comes again and again is reported with its count, and that is right. */
static void test_repeats(void **state)
{
    struct bench bench;
    uint64_t reported = 0;

    (void)state;
    start(&bench);
    for (uint32_t i = 0; i < 3000; i++) {
        uint32_t lock = 1 + i % 3;
        FEED(&bench, 1, BEGIN, 0, TMS_OP_IN_BLOCK);
        feed(&bench, 1, TMS_OP_NEST, TMS_EVENT_BEGIN, 0, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, ACQUIRE, lock, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, RELEASE, lock, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, ACQUIRE, lock, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, RELEASE, lock, TMS_OP_IN_BLOCK);
        feed(&bench, 1, TMS_OP_UNNEST, TMS_EVENT_END, 0, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, END, 0, TMS_OP_IN_BLOCK);
        FEED(&bench, 2, ACQUIRE, lock, 0);
        FEED(&bench, 2, RELEASE, lock, 0);
    }
    tms_engine_sidetrack.finish(bench.state);
    for (int i = 0; i < ERROR_KINDS; i++) {
        reported += bench.state->reports[i];
    }
    assert_true(bench.state->reports[ERROR_AFTER] > 2000);
    assert_int_equal(tms_findings_total(bench.host.findings), reported);
    stop(&bench);
}

/* Culprits before and after windows of two locks: each has counts of its own. */
static void test_patterns(void **state)
{
    const uint32_t locks[] = {1, 9};
    const struct tms_finding *list;
    size_t count;
    uint64_t unlisted;
    struct bench bench;

    (void)state;
    start(&bench);
    for (uint32_t id = 1; id <= locks[1]; id++) {
        const char name[] = {'m', (char)('0' + id), '\0'};
        tms_intern(bench.context, TMS_CLASS_LOCK, name, 2);
    }
    for (int i = 0; i < 8; i++) {
        uint32_t lock = locks[i % 2];
        FEED(&bench, 1, BEGIN, 0, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, ACQUIRE, lock, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, RELEASE, lock, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, ACQUIRE, lock, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, RELEASE, lock, TMS_OP_IN_BLOCK);
        FEED(&bench, 1, END, 0, TMS_OP_IN_BLOCK);
        FEED(&bench, 2, ACQUIRE, lock, 0);
        FEED(&bench, 2, RELEASE, lock, 0);
    }
    tms_engine_sidetrack.finish(bench.state);
    assert_true(bench.state->reports[ERROR_BEFORE] > 0 && bench.state->reports[ERROR_AFTER] > 0);
    assert_int_equal(tms_findings_close(bench.host.findings, &list, &count, &unlisted), TMS_OK);
    assert_int_equal(count, 4);
    stop(&bench);
}

/* ---- two locks ---------------------------------------------------------------------------- */

#define MANY 20

static void start_with_locks(struct bench *bench)
{
    start(bench);
    for (unsigned i = 1; i <= MANY; i++) {
        char name[8];
        int length = snprintf(name, sizeof(name), "m%u", i);
        assert_int_equal(tms_intern(bench->context, TMS_CLASS_LOCK, name, (size_t)length), i);
    }
}

static void section(struct bench *bench, uint32_t thread, uint32_t lock, uint8_t flags)
{
    FEED(bench, thread, ACQUIRE, lock, flags);
    FEED(bench, thread, RELEASE, lock, flags);
}

/* A block that has sections of the locks from the first to the last. */
static void block(struct bench *bench, uint32_t thread, uint32_t first, uint32_t last)
{
    FEED(bench, thread, BEGIN, 0, TMS_OP_IN_BLOCK);
    for (uint32_t lock = first; lock <= last; lock++) {
        section(bench, thread, lock, TMS_OP_IN_BLOCK);
    }
    FEED(bench, thread, END, 0, TMS_OP_IN_BLOCK);
}

/* An acquire has the last sections of the block before it, and a thread its own last ones. */
static void test_pair_bounds(void **state)
{
    struct bench bench;

    (void)state;
    start_with_locks(&bench);
    block(&bench, 1, 1, 10);
    section(&bench, 2, 10 - SIDETRACK_FIRSTS - 1, 0);
    section(&bench, 2, 10, 0);
    assert_int_equal(bench.state->reports[ERROR_PAIR], 0);
    section(&bench, 3, 10 - SIDETRACK_FIRSTS, 0);
    section(&bench, 3, 10, 0);
    assert_int_equal(bench.state->reports[ERROR_PAIR], 1);
    block(&bench, 1, 1, 2);
    section(&bench, 4, 1, 0);
    for (uint32_t i = 0; i < SIDETRACK_RECENT; i++) {
        section(&bench, 4, 11 + i, 0);
    }
    section(&bench, 4, 2, 0);
    assert_int_equal(bench.state->reports[ERROR_PAIR], 1);
    section(&bench, 5, 1, 0);
    for (uint32_t i = 0; i + 1 < SIDETRACK_RECENT; i++) {
        section(&bench, 5, 11 + i, 0);
    }
    section(&bench, 5, 2, 0);
    assert_int_equal(bench.state->reports[ERROR_PAIR], 2);
    stop(&bench);
}

/* A culprit that may wait leaves the window to the next one, and leaks no memory. */
static void test_pair_put_back(void **state)
{
    struct bench bench;

    (void)state;
    start_with_locks(&bench);
    FEED(&bench, 1, BEGIN, 0, TMS_OP_IN_BLOCK);
    feed(&bench, 1, TMS_OP_NEST, TMS_EVENT_BEGIN, 0, TMS_OP_IN_BLOCK);
    section(&bench, 1, 1, TMS_OP_IN_BLOCK);
    section(&bench, 1, 2, TMS_OP_IN_BLOCK);
    section(&bench, 2, 1, 0);
    FEED(&bench, 2, ACQUIRE, 2, 0);
    FEED(&bench, 2, JOIN, 6, 0);
    FEED(&bench, 2, RELEASE, 2, 0);
    assert_int_equal(bench.state->reports[ERROR_PAIR], 0);
    assert_int_equal(bench.state->dropped, 1);
    section(&bench, 3, 1, 0);
    section(&bench, 3, 2, 0);
    assert_int_equal(bench.state->reports[ERROR_PAIR], 1);
    section(&bench, 4, 1, 0);
    section(&bench, 4, 2, 0);
    assert_int_equal(bench.state->reports[ERROR_PAIR], 1); /* each window once */
    stop(&bench);
}

/* A prediction about two locks, made inside a program, has their four acquires. */
static void test_pair_decided(void **state)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_settings settings;
    struct tms_analysis *analysis = NULL;
    struct tms_predicted predicted = {
        .kind = TMS_PREDICTED_PAIR,
        .count = 3,
        .on = (uint32_t)tms_intern(context, TMS_CLASS_LOCK, "n", 1),
        .first_on = (uint32_t)tms_intern(context, TMS_CLASS_LOCK, "m", 1),
        .first = {.event = 2, .kind = TMS_EVENT_ACQUIRE, .in = {1, 1, 0, 0, false}},
        .through = {.event = 5, .kind = TMS_EVENT_ACQUIRE, .in = {5, 2, 0, 0, true}},
        .culprit = {.event = 7, .kind = TMS_EVENT_ACQUIRE, .in = {7, 2, 0, 0, true}},
        .second = {.event = 3, .kind = TMS_EVENT_ACQUIRE, .in = {1, 1, 0, 0, false}},
    };
    const struct tms_predictions predictions = {.predicted = &predicted, .predicted_count = 1};
    const uint64_t order[] = {2, 5, 7, 3};

    (void)state;
    tms_intern(context, TMS_CLASS_THREAD, "T", 1);
    tms_intern(context, TMS_CLASS_THREAD, "U", 1);
    tms_settings_init(&settings);
    settings.engines = "sidetrack";
    assert_int_equal(tms_analysis_new(context, &settings, &analysis), TMS_OK);
    predicted.kind = TMS_PREDICTED_KINDS;
    assert_int_equal(tms_analysis_predict(analysis, &predictions), TMS_ERR_ARGUMENT);
    predicted.kind = TMS_PREDICTED_PAIR;
    assert_int_equal(tms_analysis_predict(analysis, &predictions), TMS_OK);
    assert_int_equal(tms_analysis_finish(analysis), TMS_OK);
    const struct tms_result *result = tms_analysis_result(analysis, 0);
    assert_int_equal(result->finding_count, 1);
    const struct tms_finding *finding = &result->findings[0];
    assert_string_equal(finding->kind, "pair");
    assert_int_equal(finding->count, 3);
    assert_int_equal(finding->schedule_length, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(finding->schedule[i].event, order[i]);
        assert_int_equal(finding->schedule[i].target, i < 2 ? predicted.first_on : predicted.on);
    }
    assert_int_equal(finding->cycle_length, 3);
    assert_int_equal(finding->cycle[1].kind, TMS_EDGE_PROGRAM_ORDER);
    tms_analysis_free(analysis);
    tms_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_7),     cmocka_unit_test(test_slots),
        cmocka_unit_test(test_slot_limit),   cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_repeats),      cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_pair_bounds),  cmocka_unit_test(test_pair_put_back),
        cmocka_unit_test(test_pair_decided),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
