/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analysis at sizes that random traces do not reach (thousands of threads, blocks in blocks,
 * transactions longer than any log, histories that have to be swept), and the promises of its
 * interface: where it stops, what it refuses, how findings are grouped, listed and named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tmesis/tmesis.h"

struct bench {
    struct tms_context *context;
    struct tms_settings settings;
    struct tms_analysis *analysis;
    uint64_t events;
    unsigned complaints;
    const char *victim, *culprit; /* the threads of put_lost_updates */
};

static void on_complaint(void *user, const char *message)
{
    struct bench *bench = user;

    assert_non_null(message);
    bench->complaints++;
}

static int setup(void **state)
{
    static struct bench bench;

    bench = (struct bench){
        .context = tms_context_new(on_complaint, &bench), .victim = "A", .culprit = "B"};
    tms_settings_init(&bench.settings);
    *state = &bench;
    return bench.context == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    tms_analysis_free(bench->analysis);
    tms_context_free(bench->context);
    return 0;
}

static void start(struct bench *bench)
{
    assert_int_equal(tms_analysis_new(bench->context, &bench->settings, &bench->analysis), TMS_OK);
}

static struct tms_event make(struct bench *bench, const char *thread, enum tms_event_kind kind,
                             const char *target)
{
    struct tms_event event = {.kind = (uint8_t)kind};

    event.thread = (uint32_t)tms_intern(bench->context, TMS_CLASS_THREAD, thread, strlen(thread));
    if (target != NULL) {
        event.target =
            (uint32_t)tms_intern(bench->context, tms_event_class(kind), target, strlen(target));
    }
    return event;
}

/* Feeds one event; its number. */
static uint64_t put(struct bench *bench, const char *thread, enum tms_event_kind kind,
                    const char *target)
{
    struct tms_event event = make(bench, thread, kind, target);

    assert_int_equal(tms_analysis_feed(bench->analysis, &event, 1, NULL), TMS_OK);
    return ++bench->events;
}

static const struct tms_result *finish(struct bench *bench)
{
    assert_int_equal(tms_analysis_finish(bench->analysis), TMS_OK);
    const struct tms_result *result = tms_analysis_result(bench->analysis, 0);
    assert_non_null(result);
    return result;
}

static uint64_t counter(const struct tms_result *result, const char *name)
{
    for (size_t i = 0; i < result->counter_count; i++) {
        if (strcmp(result->counters[i].name, name) == 0) {
            return result->counters[i].value;
        }
    }
    fail_msg("no counter %s", name);
    return 0;
}

/* ---- sizes ------------------------------------------------------------------------------ */

/*
 * A long transaction of P reaches U from early on, so U's history can't be dropped as unreached:
 * it has to be swept, and the transaction that a variable still remembers has to survive it.
 */
static void history_is_swept(void **state)
{
    struct bench *bench = *state;
    char label[32];

    start(bench);
    put(bench, "P", TMS_EVENT_BEGIN, "long");
    put(bench, "P", TMS_EVENT_WRITE, "x");
    uint64_t begin = put(bench, "U", TMS_EVENT_BEGIN, "wanted");
    put(bench, "U", TMS_EVENT_READ, "x");
    uint64_t write = put(bench, "U", TMS_EVENT_WRITE, "remembered");
    put(bench, "U", TMS_EVENT_END, NULL);
    for (int i = 0; i < 20000; i++) {
        snprintf(label, sizeof(label), "short%d", i % 7);
        put(bench, "U", TMS_EVENT_BEGIN, label);
        put(bench, "U", TMS_EVENT_WRITE, label);
        put(bench, "U", TMS_EVENT_END, NULL);
    }
    uint64_t close = put(bench, "P", TMS_EVENT_READ, "remembered");
    const struct tms_result *result = finish(bench);
    assert_true(counter(result, "sweeps") > 0);
    assert_true(result->memory_bytes < 400000);
    assert_int_equal(result->first_violation_event, close);
    assert_int_equal(result->finding_count, 1);
    const struct tms_finding *finding = &result->findings[0];
    assert_int_equal(finding->cycle_length, 2);
    assert_int_equal(finding->cycle[1].first_event, write);
    assert_int_equal(finding->cycle[1].from.begin_event, begin);
    assert_string_equal(
        tms_name(bench->context, TMS_CLASS_LABEL, finding->cycle[1].from.label, NULL), "wanted");
}

/* Threads come and go: slots are used again, so the matrices stay small. */
static void thousands_of_threads_one_after_the_other(void **state)
{
    struct bench *bench = *state;
    char name[32];

    start(bench);
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "T%d", i);
        put(bench, "main", TMS_EVENT_FORK, name);
        put(bench, name, TMS_EVENT_BEGIN, "work");
        put(bench, name, TMS_EVENT_UPDATE, "total");
        put(bench, name, TMS_EVENT_END, NULL);
        put(bench, "main", TMS_EVENT_JOIN, name);
    }
    const struct tms_result *result = finish(bench);
    assert_int_equal(result->verdict, TMS_VERDICT_SERIALIZABLE);
    assert_int_equal(counter(result, "slots"), 2);
}

/* All alive at once, all in a block, all readers of one variable, then one cut by all. */
static void a_thousand_threads_at_once(void **state)
{
    struct bench *bench = *state;
    char name[32];

    start(bench);
    put(bench, "W", TMS_EVENT_BEGIN, "write twice");
    put(bench, "W", TMS_EVENT_WRITE, "x");
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "T%d", i);
        put(bench, name, TMS_EVENT_BEGIN, "read");
        put(bench, name, TMS_EVENT_READ, "x");
    }
    uint64_t close = put(bench, "W", TMS_EVENT_WRITE, "x");
    const struct tms_result *result = finish(bench);
    assert_int_equal(result->first_violation_event, close);
    assert_int_equal(result->closing_edges, 1000);
    assert_int_equal(result->violations, 1);
    assert_int_equal(counter(result, "slots"), 1001);
    assert_int_equal(result->findings[0].cycle_length, 2);
}

static void blocks_in_blocks(void **state)
{
    struct bench *bench = *state;
    const int depth = 100000;

    start(bench);
    for (int i = 0; i < depth; i++) {
        put(bench, "A", TMS_EVENT_BEGIN, "deep");
    }
    put(bench, "A", TMS_EVENT_WRITE, "x");
    put(bench, "B", TMS_EVENT_WRITE, "x");
    for (int i = 1; i < depth; i++) {
        put(bench, "A", TMS_EVENT_END, NULL);
    }
    uint64_t close = put(bench, "A", TMS_EVENT_READ, "x");
    const struct tms_result *result = finish(bench);
    struct tms_trace_summary summary;
    tms_analysis_summary(bench->analysis, &summary);
    assert_int_equal(result->first_violation_event, close);
    assert_int_equal(summary.transactions, 1);
    assert_int_equal(summary.unary, 1);
}

/* Longer than any log: the cycle may be longer than it need be, but it is there and right. */
static void a_transaction_longer_than_its_log(void **state)
{
    struct bench *bench = *state;
    char name[32];

    start(bench);
    put(bench, "A", TMS_EVENT_BEGIN, "huge");
    uint64_t first = put(bench, "A", TMS_EVENT_WRITE, "x");
    uint64_t second = put(bench, "B", TMS_EVENT_WRITE, "x");
    for (int i = 0; i < 150000; i++) {
        snprintf(name, sizeof(name), "v%d", i);
        put(bench, "A", TMS_EVENT_WRITE, name);
    }
    uint64_t close = put(bench, "A", TMS_EVENT_READ, "x");
    const struct tms_result *result = finish(bench);
    assert_int_equal(result->first_violation_event, close);
    const struct tms_step *cycle = result->findings[0].cycle;
    assert_int_equal(result->findings[0].cycle_length, 2);
    assert_int_equal(cycle[0].first_event, first);
    assert_int_equal(cycle[0].second_event, second);
}

/* The log grows with the running transaction: the two steps are found far back. */
static void two_steps_found_far_back(void **state)
{
    struct bench *bench = *state;
    char name[32];

    start(bench);
    put(bench, "A", TMS_EVENT_BEGIN, "long");
    put(bench, "A", TMS_EVENT_WRITE, "x");
    put(bench, "C", TMS_EVENT_WRITE, "x"); /* between A and B in the graph */
    put(bench, "B", TMS_EVENT_BEGIN, "b");
    put(bench, "B", TMS_EVENT_WRITE, "x");
    put(bench, "B", TMS_EVENT_WRITE, "y");
    put(bench, "B", TMS_EVENT_END, NULL);
    for (int i = 0; i < 30000; i++) {
        snprintf(name, sizeof(name), "v%d", i);
        put(bench, "A", TMS_EVENT_WRITE, name);
    }
    put(bench, "A", TMS_EVENT_READ, "y");
    const struct tms_result *result = finish(bench);
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0].cycle_length, 2);
}

/* ---- the interface ---------------------------------------------------------------------- */

/* A block cut apart, `times` times over, under changing names if so asked. */
static void put_lost_updates(struct bench *bench, int times, bool rename)
{
    char label[32];

    for (int i = 0; i < times; i++) {
        snprintf(label, sizeof(label), "deposit%d", rename ? i : 0);
        put(bench, bench->victim, TMS_EVENT_BEGIN, label);
        put(bench, bench->victim, TMS_EVENT_READ, "balance");
        put(bench, bench->culprit, TMS_EVENT_WRITE, "balance");
        put(bench, bench->victim, TMS_EVENT_WRITE, "balance");
        put(bench, bench->victim, TMS_EVENT_END, NULL);
    }
}

static void groups_by_pattern(void **state)
{
    struct bench *bench = *state;

    start(bench);
    put_lost_updates(bench, 5, false);
    const struct tms_result *result = finish(bench);
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0].count, 5);
    assert_int_equal(result->findings[0].event, 4);
    assert_int_equal(result->violations, 5);
}

static void lists_all_and_stops_listing(void **state)
{
    struct bench *bench = *state;

    bench->settings.all = true;
    bench->settings.max_violations = 3;
    start(bench);
    put_lost_updates(bench, 5, false);
    const struct tms_result *result = finish(bench);
    assert_int_equal(result->finding_count, 3);
    assert_int_equal(result->unlisted, 2);
    assert_int_equal(result->findings[0].event, 4);
    assert_int_equal(result->findings[2].event, 14);
}

static void ids_come_from_names(void **state)
{
    struct bench *bench = *state;
    char id[64];

    start(bench);
    put(bench, "X", TMS_EVENT_READ, "other"); /* other threads, other numbers */
    put_lost_updates(bench, 2, true);
    const struct tms_result *result = finish(bench);
    assert_int_equal(result->finding_count, 2);
    assert_string_not_equal(result->findings[0].id, result->findings[1].id);
    snprintf(id, sizeof(id), "%s", result->findings[0].id);
    tms_analysis_free(bench->analysis);
    tms_context_free(bench->context);
    bench->context = tms_context_new(NULL, NULL);
    bench->settings.blame = false;
    bench->victim = "another";
    bench->culprit = "yet another";
    start(bench);
    put_lost_updates(bench, 1, false);
    assert_string_equal(finish(bench)->findings[0].id, id);
}

static void stops_at_the_first(void **state)
{
    struct bench *bench = *state;
    const struct tms_event events[] = {
        make(bench, "A", TMS_EVENT_BEGIN, NULL), make(bench, "A", TMS_EVENT_READ, "x"),
        make(bench, "B", TMS_EVENT_WRITE, "x"),  make(bench, "A", TMS_EVENT_WRITE, "x"),
        make(bench, "B", TMS_EVENT_WRITE, "x"),  make(bench, "A", TMS_EVENT_WRITE, "x"),
    };
    struct tms_trace_summary summary;

    bench->settings.first = true;
    start(bench);
    assert_int_equal(tms_analysis_feed(bench->analysis, events, 6, NULL), 1);
    const struct tms_result *result = finish(bench);
    tms_analysis_summary(bench->analysis, &summary);
    assert_int_equal(summary.events, 4);
    assert_int_equal(result->first_violation_event, 4);
    assert_int_equal(result->closing_edges, 1);
    assert_false(result->complete);
}

static void lenient_is_incomplete(void **state)
{
    struct bench *bench = *state;

    bench->settings.lenient = true;
    start(bench);
    put(bench, "A", TMS_EVENT_ACQUIRE, "m");
    for (int i = 0; i < 20; i++) {
        put(bench, "B", TMS_EVENT_ACQUIRE, "m");
    }
    const struct tms_result *result = finish(bench);
    assert_int_equal(result->verdict, TMS_VERDICT_INCOMPLETE);
    assert_non_null(tms_analysis_loss(bench->analysis));
    assert_int_equal(bench->complaints, 11); /* ten of them, and that there are more */
}

/* Each id is one beyond the last: one thread, one variable, no location. */
static void refuses_names_that_there_are_not(void **state)
{
    struct bench *bench = *state;
    const struct tms_event good = make(bench, "A", TMS_EVENT_READ, "x");
    struct tms_event bad[] = {good, good, good, good, good, good, good, good, good, good};

    start(bench);
    bad[0].target = good.target + 1;
    bad[1].target = 0;
    bad[2].thread = good.thread + 1;
    bad[3].thread = 0;
    bad[4].location = 1;
    bad[5].reserved[1] = 1;
    bad[6].order = TMS_ORDER_RELAXED;
    bad[7].kind = TMS_EVENT_ATOMIC_READ;
    bad[8].kind = TMS_EVENT_ATOMIC_READ;
    bad[8].order = TMS_ORDER_RELEASE;
    bad[9].kind = TMS_EVENT_ATOMIC_UPDATE;
    bad[9].order = TMS_ORDER_COUNT;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        const struct tms_event both[] = {good, bad[i]};
        assert_int_equal(tms_analysis_feed(bench->analysis, both, 2, NULL), TMS_ERR_ARGUMENT);
        assert_non_null(strstr(tms_error(bench->context), "event 2 "));
    }
}

static void refuses_what_is_not_an_event(void **state)
{
    struct bench *bench = *state;
    struct tms_event event = make(bench, "A", TMS_EVENT_READ, "x");

    start(bench);
    event.kind = TMS_EVENT_COUNT;
    assert_int_equal(tms_analysis_feed(bench->analysis, &event, 1, NULL), TMS_ERR_ARGUMENT);
    assert_non_null(strstr(tms_error(bench->context), "event 1 "));
    put(bench, "A", TMS_EVENT_READ, "x"); /* and continues */
    assert_int_equal(finish(bench)->verdict, TMS_VERDICT_SERIALIZABLE);
    event = make(bench, "A", TMS_EVENT_READ, "x");
    assert_int_equal(tms_analysis_feed(bench->analysis, &event, 1, NULL), TMS_ERR_ARGUMENT);
}

static void knows_its_engines(void **state)
{
    struct bench *bench = *state;

    bench->settings.engines = "frontier,nonsense";
    assert_int_equal(tms_analysis_new(bench->context, &bench->settings, &bench->analysis),
                     TMS_ERR_ARGUMENT);
    assert_non_null(strstr(tms_error(bench->context), "'nonsense'"));
    bench->settings.engines = "frontier,frontier";
    start(bench);
    finish(bench);
    assert_null(tms_analysis_result(bench->analysis, 1));
}

static void refuses_a_reader_of_another_context(void **state)
{
    struct bench *bench = *state;
    struct tms_context *elsewhere = tms_context_new(NULL, NULL);
    struct tms_reader_settings settings;
    struct tms_reader *reader;
    const struct tms_event *events;

    tms_reader_settings_init(&settings);
    settings.format = "std";
    assert_int_equal(tms_reader_open(elsewhere, "/dev/null", &settings, &reader), TMS_OK);
    assert_int_equal(tms_reader_next(reader, &events), 0);
    start(bench);
    struct tms_event event = make(bench, "A", TMS_EVENT_READ, "x");
    assert_int_equal(tms_analysis_feed(bench->analysis, &event, 1, reader), TMS_ERR_ARGUMENT);
    tms_reader_close(reader);
    tms_context_free(elsewhere);
    tms_analysis_free(bench->analysis);
    bench->settings.engines = NULL;
    assert_int_equal(tms_analysis_new(bench->context, &bench->settings, &bench->analysis),
                     TMS_ERR_ARGUMENT);
}

/* Two analyses in one process, one event each in turn. */
static void side_by_side(void **state)
{
    struct bench *bench = *state;
    struct bench other = {.context = tms_context_new(NULL, NULL), .settings = bench->settings};

    start(bench);
    start(&other);
    for (int i = 0; i < 100; i++) {
        put_lost_updates(bench, 1, false);
        put(&other, "A", TMS_EVENT_WRITE, "balance");
    }
    assert_int_equal(finish(bench)->violations, 100);
    assert_int_equal(finish(&other)->verdict, TMS_VERDICT_SERIALIZABLE);
    tms_analysis_free(other.analysis);
    tms_context_free(other.context);
}

/* A deposit that gives its lock away half-way, undisturbed. */
static void put_deposit(struct bench *bench, const char *thread)
{
    put(bench, thread, TMS_EVENT_BEGIN, "deposit");
    for (int i = 0; i < 2; i++) {
        put(bench, thread, TMS_EVENT_ACQUIRE, "m");
        put(bench, thread, TMS_EVENT_RELEASE, "m");
    }
    put(bench, thread, TMS_EVENT_END, "deposit");
}

/* A finding from elsewhere: one of these deposits cut by the other, on the lock. */
static struct tms_finding see_cut(struct bench *bench, struct tms_step steps[2])
{
    struct tms_event begin = make(bench, "A", TMS_EVENT_BEGIN, "deposit");
    struct tms_transaction one = {.begin_event = 1, .thread = begin.thread, .label = begin.target};
    struct tms_transaction two = {.begin_event = 7, .thread = begin.thread + 1, .label = one.label};

    for (int i = 0; i < 2; i++) {
        steps[i] = (struct tms_step){.from = i == 0 ? one : two,
                                     .to = i == 0 ? two : one,
                                     .first_event = 8 + (uint64_t)i,
                                     .second_event = 9 + (uint64_t)i,
                                     .on = make(bench, "A", TMS_EVENT_ACQUIRE, "m").target,
                                     .on_class = TMS_CLASS_LOCK,
                                     .kind = TMS_EDGE_LOCK};
    }
    return (struct tms_finding){.count = 3,
                                .event = 10,
                                .thread = one.thread,
                                .not_atomic = true,
                                .transaction = one,
                                .cycle = steps,
                                .cycle_length = 2};
}

static void takes_what_was_seen_elsewhere(void **state)
{
    struct bench *bench = *state;
    struct tms_step steps[2];

    bench->settings.engines = "sidetrack";
    start(bench);
    put_deposit(bench, "A");
    put_deposit(bench, "B");
    struct tms_finding finding = see_cut(bench, steps);
    struct tms_observation seen = {.summary = {.events = 99, .rough = true},
                                   .findings = &finding,
                                   .finding_count = 1,
                                   .first_violation_event = 10};
    assert_int_equal(tms_analysis_observe(bench->analysis, &seen), TMS_OK);
    assert_int_equal(tms_analysis_observe(bench->analysis, &seen), TMS_ERR_ARGUMENT);
    struct tms_event late = make(bench, "A", TMS_EVENT_READ, "x");
    assert_int_equal(tms_analysis_feed(bench->analysis, &late, 1, NULL), TMS_ERR_ARGUMENT);

    const struct tms_result *observed = finish(bench);
    const struct tms_result *predicted = tms_analysis_result(bench->analysis, 1);
    struct tms_trace_summary summary;
    tms_analysis_summary(bench->analysis, &summary);
    assert_int_equal(summary.events, 99);
    assert_string_equal(observed->engine->name, "frontier");
    assert_int_equal(observed->verdict, TMS_VERDICT_VIOLATION);
    assert_int_equal(observed->violations, 3);
    assert_int_equal(predicted->verdict, TMS_VERDICT_PREDICTED);
    for (size_t i = 0; i < predicted->finding_count; i++) {
        assert_non_null(predicted->findings[i].same_as);
        assert_string_equal(predicted->findings[i].same_as, observed->findings[0].id);
    }
    assert_null(tms_analysis_result(bench->analysis, 2));
}

/* The result of fasttrack comes last, and informs sidetrack that there are races. */
static void takes_races_that_were_seen_elsewhere(void **state)
{
    struct bench *bench = *state;
    struct tms_step steps[2], access;

    bench->settings.engines = "sidetrack";
    start(bench);
    put_deposit(bench, "A");
    put_deposit(bench, "B");
    struct tms_finding cut = see_cut(bench, steps);
    access = steps[0];
    access.on = make(bench, "A", TMS_EVENT_WRITE, "x").target;
    access.on_class = TMS_CLASS_VARIABLE;
    access.kind = TMS_EDGE_WRITE_WRITE;
    access.first_kind = access.second_kind = TMS_EVENT_WRITE;
    struct tms_finding race = {.count = 4,
                               .event = access.second_event,
                               .thread = access.to.thread,
                               .cycle = &access,
                               .cycle_length = 1};
    struct tms_observation seen = {.findings = &cut, .finding_count = 1};
    struct tms_observed_races races = {
        .findings = &race, .finding_count = 1, .first_race_event = race.event, .races = 9};
    assert_int_equal(tms_analysis_observe_races(bench->analysis, &races), TMS_ERR_ARGUMENT);
    assert_int_equal(tms_analysis_observe(bench->analysis, &seen), TMS_OK);
    assert_int_equal(tms_analysis_observe_races(bench->analysis, &races), TMS_OK);
    assert_int_equal(tms_analysis_observe_races(bench->analysis, &races), TMS_ERR_ARGUMENT);

    assert_string_equal(finish(bench)->engine->name, "frontier");
    const struct tms_result *predicted = tms_analysis_result(bench->analysis, 1);
    const struct tms_result *racing = tms_analysis_result(bench->analysis, 2);
    assert_string_equal(predicted->engine->name, "sidetrack");
    assert_non_null(strstr(predicted->assumption, "fasttrack found 4"));
    assert_string_equal(racing->engine->name, "fasttrack");
    assert_int_equal(racing->verdict, TMS_VERDICT_RACE);
    assert_int_equal(racing->first_violation_event, race.event);
    assert_int_equal(racing->violations, 4);
    assert_int_equal(racing->closing_edges, 9);
    assert_int_equal(racing->finding_count, 1);
    assert_string_equal(racing->findings[0].kind, "race");
    assert_int_equal(racing->findings[0].schedule_length, 2);
    assert_string_equal(racing->findings[0].schedule[1].role, "second access");
    assert_null(tms_analysis_result(bench->analysis, 3));
}

/* Each of these judgements has one thing that no core would say. */
static void refuses_impossible_judgements(void **state)
{
    struct bench *bench = *state;
    const struct tms_judged_evidence good = {.count = 1, .variable = 1};
    struct tms_judged_evidence wrong[] = {good, good, good, good, good};
    const struct tms_judged_block blocks[] = {{.executions = 1, .ended = 2},
                                              {.executions = 2, .ended = 2, .counted_cut = 1}};
    const struct tms_judged_member members[] = {{.variable = 0, .kinds = 2},
                                                {.variable = 1, .kinds = 16}};

    wrong[0].pattern = TMS_PATTERN_COUNT;
    wrong[1].count = 0;
    wrong[2].variable = 0;
    wrong[3].other = 2;
    wrong[4].block.label = 1;
    assert_int_equal(tms_intern(bench->context, TMS_CLASS_VARIABLE, "x", 1), 1);
    bench->settings.engines = "judge";
    start(bench);
    assert_int_equal(tms_analysis_judge_elsewhere(bench->analysis), TMS_OK);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct tms_judging judging = {.evidence = &wrong[i], .evidence_count = 1};
        assert_int_equal(tms_analysis_judge(bench->analysis, &judging), TMS_ERR_ARGUMENT);
    }
    for (size_t i = 0; i < 2; i++) {
        const struct tms_judging counts = {.blocks = &blocks[i], .block_count = 1};
        const struct tms_judging section = {.members = &members[i], .member_count = 1};
        assert_int_equal(tms_analysis_judge(bench->analysis, &counts), TMS_ERR_ARGUMENT);
        assert_int_equal(tms_analysis_judge(bench->analysis, &section), TMS_ERR_ARGUMENT);
    }
    const struct tms_judging judging = {.evidence = &good, .evidence_count = 1};
    assert_int_equal(tms_analysis_judge(bench->analysis, &judging), TMS_OK);
    assert_int_equal(tms_analysis_finish(bench->analysis), TMS_OK);
    assert_int_equal(tms_analysis_result(bench->analysis, 0)->finding_count, 1);
}

/* Names that were added as new ones are found among the others, short and long. */
static void new_names_are_found(void **state)
{
    struct bench *bench = *state;
    char text[40];

    for (uint32_t i = 1; i <= 1000; i++) {
        size_t length = (size_t)snprintf(text, sizeof(text), i % 2 ? "v%u" : "variable %u", i);
        int64_t id = i % 100 == 0
                         ? tms_intern(bench->context, TMS_CLASS_VARIABLE, text, length)
                         : tms_intern_new(bench->context, TMS_CLASS_VARIABLE, text, length);
        assert_int_equal(id, i);
        assert_string_equal(tms_name(bench->context, TMS_CLASS_VARIABLE, i, NULL), text);
    }
    for (uint32_t i = 1000; i > 0; i--) {
        size_t length = (size_t)snprintf(text, sizeof(text), i % 2 ? "v%u" : "variable %u", i);
        assert_int_equal(tms_intern(bench->context, TMS_CLASS_VARIABLE, text, length), i);
    }
    assert_int_equal(tms_intern_new(bench->context, TMS_CLASS_VARIABLE, "v1", 2), 1001);
    assert_int_equal(tms_intern(bench->context, TMS_CLASS_VARIABLE, "v1", 2), 1);
    assert_int_equal(tms_intern_new(bench->context, TMS_CLASS_NONE, "v", 1), TMS_ERR_ARGUMENT);
    assert_int_equal(tms_intern_new(bench->context, TMS_CLASS_LOCATION, "17", 2),
                     TMS_LOCATION_NUMBER + 17);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(history_is_swept),
        TEST(thousands_of_threads_one_after_the_other),
        TEST(a_thousand_threads_at_once),
        TEST(blocks_in_blocks),
        TEST(a_transaction_longer_than_its_log),
        TEST(two_steps_found_far_back),
        TEST(groups_by_pattern),
        TEST(lists_all_and_stops_listing),
        TEST(ids_come_from_names),
        TEST(stops_at_the_first),
        TEST(lenient_is_incomplete),
        TEST(refuses_names_that_there_are_not),
        TEST(refuses_what_is_not_an_event),
        TEST(knows_its_engines),
        TEST(refuses_a_reader_of_another_context),
        TEST(side_by_side),
        TEST(takes_what_was_seen_elsewhere),
        TEST(takes_races_that_were_seen_elsewhere),
        TEST(refuses_impossible_judgements),
        TEST(new_names_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
