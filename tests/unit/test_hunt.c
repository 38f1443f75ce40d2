/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results over many runs: shards, Fisher's test, keys, merging and ranking, each compared with a
 * naive version of itself on random cases.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hunt/chooser.h"
#include "hunt/failure_text.h"
#include "hunt/fisher.h"
#include "hunt/hunt_result.h"
#include "hunt/merged_json.h"
#include "hunt/run_record.h"
#include "hunt/shard.h"

static uint64_t random_state = 1;

/* SplitMix64. */
static uint64_t random_below(uint64_t most)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % most;
}

/* ---- shards -------------------------------------------------------------------------------- */

static void test_shard_parse(void **state)
{
    static const char *const bad[] = {"",
                                      "/",
                                      "1",
                                      "1/",
                                      "/2",
                                      "3/2",
                                      "1/0",
                                      "a/2",
                                      "1/b",
                                      "-1/2",
                                      "1/2 ",
                                      "1//2",
                                      "1/99999999999999999999"};
    struct tms_shard shard;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(tms_shard_parse(bad[i], &shard));
    }
    assert_true(tms_shard_parse("3/20", &shard));
    assert_int_equal(shard.index, 3);
    assert_int_equal(shard.count, 20);
    assert_true(tms_shard_parse("20/20", &shard));
    assert_int_equal(shard.index, 0);
}

/* All shards together have every index once, and none beyond. */
static void test_shards_cover(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        uint64_t count = 1 + random_below(9), runs = random_below(40);
        unsigned seen[40] = {0};
        for (uint64_t i = 0; i < count; i++) {
            struct tms_shard shard = {i, count};
            uint64_t share = tms_shard_share(&shard, runs);
            for (uint64_t done = 0; done < share; done++) {
                assert_true(tms_shard_run(&shard, done) < runs);
                seen[tms_shard_run(&shard, done)]++;
            }
            assert_true(tms_shard_run(&shard, share) >= runs);
        }
        for (uint64_t i = 0; i < runs; i++) {
            assert_int_equal(seen[i], 1);
        }
    }
}

static void test_seeds(void **state)
{
    (void)state;
    assert_int_equal(tms_run_seed(17, 0), 17);
    assert_int_equal(tms_run_seed(17, 4), 21);
    assert_int_equal(tms_run_seed(TMS_SEED_MOST - 1, 1), 0);
}

/* ---- Fisher's test --------------------------------------------------------------------------- */

/* By trying all ways to choose the runs that show the finding: bits of a mask. */
static double naive_fisher(unsigned runs, unsigned failed, unsigned seen, unsigned both)
{
    unsigned all = 0, as_many = 0;

    for (uint32_t mask = 0; mask < UINT32_C(1) << runs; mask++) {
        if ((unsigned)__builtin_popcount(mask) == seen) {
            unsigned hit = (unsigned)__builtin_popcount(mask & ((UINT32_C(1) << failed) - 1));
            all++;
            as_many += hit >= both;
        }
    }
    return (double)as_many / all;
}

static void test_fisher(void **state)
{
    (void)state;
    for (unsigned runs = 1; runs <= 10; runs++) {
        for (unsigned failed = 0; failed <= runs; failed++) {
            for (unsigned seen = 0; seen <= runs; seen++) {
                unsigned most = failed < seen ? failed : seen;
                for (unsigned both = 0; both <= most; both++) {
                    double p = tms_fisher(runs, failed, seen, both);
                    assert_true(fabs(p - naive_fisher(runs, failed, seen, both)) < 1e-9);
                }
            }
        }
    }
    assert_true(tms_fisher(10000, 100, 100, 100) < 1e-100);
    assert_true(tms_fisher(10000, 0, 5, 0) == 1);
}

/* ---- what programs say ----------------------------------------------------------------------- */

static void test_failure_text(void **state)
{
    static const char said[] = "hello\nbank: bank.c:12: main: Assertion `x\t> 0' failed.\nbye\n";
    char text[TMS_FAILURE_TEXT], large[1000];

    (void)state;
    tms_failure_text(said, strlen(said), text);
    assert_string_equal(text, "bank: bank.c:12: main: Assertion `x > 0' failed.");
    tms_failure_text(said, 5, text);
    assert_string_equal(text, "");
    memset(large, 'x', sizeof(large));
    memcpy(large, "ERROR:", 6);
    tms_failure_text(large, sizeof(large), text);
    assert_int_equal(strlen(text), TMS_FAILURE_TEXT - 1);
}

/* ---- records and results -------------------------------------------------------------- */

static const char *const evidences[] = {"observed", "predicted"};
static const char *const levels[] = {"error", "warning", "note"};

/* A finding of a made-up run. */
struct shown {
    bool there;
    unsigned evidence, level, count, executions, cut;
};

#define IDS  6
#define RUNS 24

struct made_run {
    bool failed;
    struct shown shown[IDS];
};

static void make_run(struct made_run *run)
{
    run->failed = random_below(3) == 0;
    for (size_t i = 0; i < IDS; i++) {
        unsigned cut = (unsigned)random_below(5);
        run->shown[i] = (struct shown){.there = random_below(2) == 0,
                                       .evidence = (unsigned)random_below(2),
                                       .level = (unsigned)random_below(3),
                                       .count = 1 + (unsigned)random_below(9),
                                       .executions = cut + (unsigned)random_below(50),
                                       .cut = cut};
    }
}

/* The JSON object of the run. */
static json_t *json_of(const struct made_run *run)
{
    json_t *violations = json_array();

    for (size_t i = 0; i < IDS; i++) {
        const struct shown *shown = &run->shown[i];
        char id[16];
        snprintf(id, sizeof(id), "AV-00000%zu", i);
        if (shown->there) {
            json_array_append_new(
                violations, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:[s], s:{s:s}}", "id",
                                      id, "kind", "data", "evidence", evidences[shown->evidence],
                                      "level", levels[shown->level], "count", shown->count,
                                      "executions", shown->executions, "cut", shown->cut,
                                      "patterns", shown->level == 0 ? "lost-update" : "overwritten",
                                      "transaction", "label", "f"));
        }
    }
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:i, s:i, s:n}, s:[{s:s, s:s, s:b, s:n, s:o}]}",
                     "command", "./made", "started", "2026-01-01T00:00:00.000Z", "host", "here",
                     "trace", "format", "live", "threads", 2, "transactions", 10, "loss", "results",
                     "engine", "judge", "verdict", "affected", "complete", 1, "loss", "violations",
                     violations);
}

static void add_made(struct tms_hunt *hunt, const struct made_run *run, uint64_t index)
{
    const struct tms_run_origin origin = {
        .hunt = "key", .index = index, .seed = 100 + index, .strategy = "noise", .schedule = "x"};
    const struct tms_outcome outcome = {
        .kind = run->failed ? TMS_OUTCOME_STATUS : TMS_OUTCOME_OK, .status = 1, .seconds = 0.5};
    json_t *result = json_of(run);
    json_t *record = tms_run_record(&origin, &outcome, result);

    assert_non_null(record);
    assert_true(tms_record_is_sound(record));
    assert_true(tms_hunt_add(hunt, record, result) != TMS_NEWS_FAILED);
    json_decref(result);
}

static void start(struct tms_hunt *hunt)
{
    assert_true(tms_hunt_init(hunt));
    assert_true(tms_hunt_made(
        hunt, "key", json_pack("{s:i, s:i, s:i}", "seed", 100, "planned", RUNS, "shards", 3)));
}

static char *text_of(const struct tms_hunt *hunt)
{
    json_t *object = tms_hunt_json(hunt, false);
    char *text = json_dumps(object, JSON_SORT_KEYS);

    json_decref(object);
    assert_non_null(text);
    return text;
}

/* The expected contents of a finding. */
struct expected {
    unsigned evidence, level, runs, failed, count, executions, cut, first;
};

static struct expected expect(const struct made_run *runs, size_t id)
{
    struct expected out = {.evidence = 9, .level = 9};

    for (size_t i = 0; i < RUNS; i++) {
        const struct shown *shown = &runs[i].shown[id];
        if (shown->there && shown->evidence < out.evidence) {
            out.evidence = shown->evidence;
        }
    }
    for (size_t i = 0; i < RUNS; i++) {
        const struct shown *shown = &runs[i].shown[id];
        if (!shown->there) {
            continue;
        }
        out.count += shown->count;
        out.executions += shown->executions;
        out.cut += shown->cut;
        if (shown->evidence == out.evidence) {
            out.first = out.runs == 0 ? 100 + (unsigned)i : out.first;
            out.level = shown->level < out.level ? shown->level : out.level;
            out.runs++;
            out.failed += runs[i].failed;
        }
    }
    return out;
}

static int number(const json_t *object, const char *key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

static void check_finding(const struct made_run *runs, const json_t *finding)
{
    const char *id = json_string_value(json_object_get(finding, "id"));
    struct expected wanted = expect(runs, (size_t)(id[8] - '0'));

    assert_string_equal(json_string_value(json_object_get(finding, "evidence")),
                        evidences[wanted.evidence]);
    assert_string_equal(json_string_value(json_object_get(finding, "level")), levels[wanted.level]);
    assert_int_equal(number(finding, "runs"), wanted.runs);
    assert_int_equal(number(finding, "failed_runs"), wanted.failed);
    assert_int_equal(number(finding, "count"), wanted.count);
    assert_int_equal(number(finding, "executions"), wanted.executions);
    assert_int_equal(number(finding, "cut"), wanted.cut);
    assert_int_equal(number(finding, "first_seed"), wanted.first);
}

/* Negative: the first comes first, by the rules of docs/user/hunting.md. */
static double compare(const struct made_run *runs, unsigned failed, size_t a, size_t b)
{
    struct expected one = expect(runs, a), two = expect(runs, b);
    double p = tms_fisher(RUNS, failed, one.runs, one.failed);
    double q = tms_fisher(RUNS, failed, two.runs, two.failed);

    p = p < 0.05 ? p : 1;
    q = q < 0.05 ? q : 1;
    if (p != q) {
        return p - q;
    }
    if (one.level != two.level) {
        return (double)one.level - two.level;
    }
    if (one.evidence != two.evidence) {
        return (double)one.evidence - two.evidence;
    }
    return one.runs != two.runs ? (double)one.runs - two.runs : (double)a - (double)b;
}

static void check_result(const struct made_run *runs, const struct tms_hunt *hunt)
{
    json_t *object = tms_hunt_json(hunt, false);
    const json_t *result = json_array_get(json_object_get(object, "results"), 0);
    const json_t *list = json_object_get(result, "violations");
    unsigned failed = 0, different = 0;

    for (size_t i = 0; i < RUNS; i++) {
        failed += runs[i].failed;
    }
    for (size_t id = 0; id < IDS; id++) {
        different += expect(runs, id).runs > 0;
    }
    assert_int_equal(json_array_size(list), different);
    assert_int_equal(number(json_object_get(object, "hunt"), "failed"), failed);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *finding = json_array_get(list, i);
        check_finding(runs, finding);
        if (i > 0) {
            const char *before =
                json_string_value(json_object_get(json_array_get(list, i - 1), "id"));
            const char *id = json_string_value(json_object_get(finding, "id"));
            assert_true(compare(runs, failed, (size_t)(before[8] - '0'), (size_t)(id[8] - '0')) <
                        0);
        }
    }
    json_decref(object);
}

/* Sums, evidence, levels and ranks are those of a direct count. */
static void test_sums(void **state)
{
    struct made_run runs[RUNS];

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct tms_hunt hunt;
        start(&hunt);
        for (size_t i = 0; i < RUNS; i++) {
            make_run(&runs[i]);
            add_made(&hunt, &runs[i], i);
        }
        check_result(runs, &hunt);
        tms_hunt_clear(&hunt);
    }
}

/* Parts that overlap, in any order, and through JSON, make the same result. */
static void test_merge(void **state)
{
    struct made_run runs[RUNS];

    (void)state;
    for (int round = 0; round < 100; round++) {
        struct tms_hunt whole, parts[3], merged;
        start(&whole);
        start(&merged);
        for (size_t i = 0; i < 3; i++) {
            start(&parts[i]);
        }
        for (size_t i = 0; i < RUNS; i++) {
            make_run(&runs[i]);
            add_made(&whole, &runs[i], i);
            add_made(&parts[i % 3], &runs[i], i);
            add_made(&parts[random_below(3)], &runs[i], i);
        }
        for (size_t i = 0; i < 6; i++) {
            assert_true(
                tms_hunt_merge(&merged, &parts[i < 3 ? (i + (size_t)round) % 3 : random_below(3)]));
        }
        char *one = text_of(&whole), *two = text_of(&merged);
        assert_string_equal(one, two);
        free(one);
        free(two);
        check_result(runs, &merged);
        for (size_t i = 0; i < 3; i++) {
            tms_hunt_clear(&parts[i]);
        }
        tms_hunt_clear(&whole);
        tms_hunt_clear(&merged);
    }
}

/* Shards that lack a run are listed. */
static void test_partial(void **state)
{
    struct made_run run = {0};
    struct tms_hunt hunt;

    (void)state;
    start(&hunt);
    for (uint64_t i = 0; i < RUNS; i++) {
        if (i % 3 == 0 || (i % 3 == 1 && i < 20)) {
            add_made(&hunt, &run, i);
        }
    }
    json_t *object = tms_hunt_json(&hunt, false);
    const json_t *about = json_object_get(object, "hunt");
    const json_t *partial =
        json_object_get(json_array_get(json_object_get(about, "hunts"), 0), "partial_shards");
    assert_true(json_is_false(json_object_get(about, "whole")));
    assert_int_equal(json_array_size(partial), 2);
    assert_int_equal(json_integer_value(json_array_get(partial, 0)), 1);
    assert_int_equal(json_integer_value(json_array_get(partial, 1)), 2);
    json_decref(object);
    tms_hunt_clear(&hunt);
}

/* Only errors and warnings are news, and so is stronger evidence. */
static void test_news(void **state)
{
    static const struct {
        struct shown shown;
        enum tms_news news;
    } steps[] = {
        {{true, 1, 2, 1, 1, 0}, TMS_NEWS_NONE}, {{true, 1, 1, 1, 1, 0}, TMS_NEWS_SOME},
        {{true, 0, 1, 1, 1, 1}, TMS_NEWS_SOME}, {{true, 0, 0, 1, 1, 1}, TMS_NEWS_SOME},
        {{true, 0, 0, 1, 1, 1}, TMS_NEWS_NONE},
    };
    struct tms_hunt hunt;

    (void)state;
    start(&hunt);
    for (uint64_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const struct tms_run_origin origin = {"key", i, i, "noise", ""};
        const struct tms_outcome outcome = {.kind = TMS_OUTCOME_OK};
        struct made_run run = {.shown = {steps[i].shown}};
        json_t *result = json_of(&run);
        assert_int_equal(tms_hunt_add(&hunt, tms_run_record(&origin, &outcome, result), result),
                         steps[i].news);
        json_decref(result);
    }
    tms_hunt_clear(&hunt);
}

/* Cycles are identified by blocks, since their ids contain addresses. */
static void test_keys(void **state)
{
    json_t *one =
        json_loads("{\"id\": \"AV-111111\", \"kind\": \"cycle\", \"evidence\": "
                   "\"observed\", \"not_atomic\": true, \"refuted\": [{\"label\": \"f\"}]}",
                   0, NULL);
    json_t *two = json_deep_copy(one);

    (void)state;
    json_object_set_new(two, "id", json_string("AV-222222"));
    char *a = tms_finding_key("frontier", one), *b = tms_finding_key("frontier", two);
    assert_string_equal(a, b);
    free(b);
    json_object_set_new(two, "kind", json_string("race"));
    b = tms_finding_key("frontier", two);
    assert_string_equal(b, "frontier AV-222222");
    free(a);
    free(b);
    json_decref(one);
    json_decref(two);
}

/* ---- schedules ------------------------------------------------------------------------ */

/* A run that learned two windows, one of them under a lock, and predicts something. */
static const char learned[] =
    "{\"schedule\": {\"points\": 77}, \"windows\": ["
    "{\"id\": \"AV-000001\", \"guarded\": true, \"close\": {\"site\": \"p+0x1\"}},"
    "{\"id\": \"AV-000002\", \"close\": {\"site\": \"p+0x2\"}, \"open\": {\"site\": \"p+0x3\"}},"
    "{\"id\": \"AV-000003\", \"close\": {\"location\": \"unknown\"}},"
    "{\"id\": \"AV-000004\", \"close\": {\"site\": \"p+0x4 seed 1\"}}],"
    "\"results\": [{\"engine\": \"judge\", \"violations\": [{\"id\": \"AV-000005\", "
    "\"evidence\": \"predicted\", \"level\": \"error\", \"own\": [{\"at\": {\"site\": \"p+0x5\"}}, "
    "{\"at\": {\"site\": \"p+0x6\"}}], \"foreign\": [{\"at\": {\"site\": \"p+0x7\"}}]}, "
    "{\"id\": \"AV-000006\", \"evidence\": \"predicted\", \"level\": \"note\", \"own\": [{\"at\": "
    "{\"site\": \"p+0x8\"}}, {\"at\": {\"site\": \"p+0x9\"}}]}]}]}";

static void learn(struct tms_chooser *chooser)
{
    json_t *result = json_loads(learned, 0, NULL);

    assert_non_null(result);
    assert_true(tms_chooser_learn(chooser, result));
    assert_true(tms_chooser_learn(chooser, result));
    assert_int_equal(chooser->count, 3);
    json_decref(result);
}

static void expect_choice(struct tms_chooser *chooser, const struct tms_hunt *hunt, uint64_t number,
                          const char *text)
{
    struct tms_choice choice = tms_choose(chooser, hunt, number, 40 + number);

    assert_string_equal(choice.text, text);
    free(choice.text);
}

#define HEAD "tmesis-schedule 1\nstrategy "
#define W1   "window close=p+0x1\n"
#define W2   "window close=p+0x2 open=p+0x3\n"
#define W5   "window close=p+0x6 open=p+0x5 foreign=p+0x7\n"

static void test_choices(void **state)
{
    struct tms_chooser chooser = {.strategy = TMS_HUNT_AUTO, .strength = 80};
    struct tms_hunt hunt;

    (void)state;
    start(&hunt);
    expect_choice(&chooser, &hunt, 0, HEAD "learn\nseed 40\n");
    expect_choice(&chooser, &hunt, 1, HEAD "noise\nseed 41\nstrength 80\n");
    expect_choice(&chooser, &hunt, 6, HEAD "pct\nseed 46\ndepth 2\npoints 50\n");
    learn(&chooser);
    expect_choice(&chooser, &hunt, 1, HEAD "directed\nseed 41\nbound 50\n" W5 W2 W1);
    expect_choice(&chooser, &hunt, 2, HEAD "directed\nseed 42\nbound 100\n" W5 W2 W1);
    expect_choice(&chooser, &hunt, 3, HEAD "noise\nseed 43\nstrength 80\n");
    expect_choice(&chooser, &hunt, 6, HEAD "pct\nseed 46\ndepth 2\npoints 77\n");
    json_t *pct = json_loads("{\"schedule\": {\"strategy\": \"pct\", \"points\": 60}}", 0, NULL);
    assert_true(tms_chooser_learn(&chooser, pct));
    expect_choice(&chooser, &hunt, 6, HEAD "pct\nseed 46\ndepth 2\npoints 60\n");
    json_decref(pct);
    tms_chooser_clear(&chooser);
    tms_hunt_clear(&hunt);
}

/* Observed findings are not tried again while there are others, and never by the mixture. */
static void test_observed_choices(void **state)
{
    struct tms_chooser chooser = {.strategy = TMS_HUNT_AUTO, .strength = 100};
    struct made_run run = {.shown = {[2] = {true, 0, 0, 1, 1, 1}, [5] = {true, 0, 0, 1, 1, 1}}};
    struct tms_hunt hunt;

    (void)state;
    start(&hunt);
    learn(&chooser);
    add_made(&hunt, &run, 0);
    assert_true(tms_hunt_observed(&hunt, "AV-000005"));
    assert_false(tms_hunt_observed(&hunt, "AV-000001"));
    expect_choice(&chooser, &hunt, 1, HEAD "directed\nseed 41\nbound 50\n" W1);
    run.shown[1] = run.shown[2];
    add_made(&hunt, &run, 1);
    expect_choice(&chooser, &hunt, 2, HEAD "noise\nseed 42\nstrength 100\n");
    chooser.strategy = TMS_HUNT_DIRECTED;
    expect_choice(&chooser, &hunt, 2, HEAD "directed\nseed 42\nbound 50\n" W5);
    tms_chooser_clear(&chooser);
    tms_hunt_clear(&hunt);
}

static void test_targets(void **state)
{
    static const char *const targets[] = {"AV-000002"};
    struct tms_chooser chooser = {
        .strategy = TMS_HUNT_DIRECTED, .targets = targets, .target_count = 1};
    struct tms_hunt hunt;

    (void)state;
    start(&hunt);
    expect_choice(&chooser, &hunt, 0, HEAD "learn\nseed 40\n");
    learn(&chooser);
    expect_choice(&chooser, &hunt, 0, HEAD "directed\nseed 40\nbound 50\n" W2);
    char *text = tms_chooser_text(&chooser, "AV-000005", 3);
    assert_string_equal(text, HEAD "directed\nseed 3\nbound 400\n" W5);
    assert_true(tms_chooser_is_about(&chooser, text, "AV-000005"));
    assert_false(tms_chooser_is_about(&chooser, text, "AV-000002"));
    free(text);
    assert_null(tms_chooser_text(&chooser, "AV-000009", 3));
    assert_true(tms_chooser_give(&chooser, "one", 0, 0));
    assert_true(tms_chooser_give(&chooser, "two", 2, 2));
    expect_choice(&chooser, &hunt, 5, "two");
    tms_chooser_feedback(&chooser, "two", false);
    expect_choice(&chooser, &hunt, 5, "two");
    tms_chooser_feedback(&chooser, "two", false);
    expect_choice(&chooser, &hunt, 5, "one");
    tms_chooser_clear(&chooser);
    tms_hunt_clear(&hunt);
}

static void test_text(void **state)
{
    json_t *text = tms_json_text_of("a\xff"
                                    "b");

    (void)state;
    assert_string_equal(json_string_value(text), "a?b");
    json_decref(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shard_parse),
        cmocka_unit_test(test_shards_cover),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_fisher),
        cmocka_unit_test(test_failure_text),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_news),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_observed_choices),
        cmocka_unit_test(test_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
