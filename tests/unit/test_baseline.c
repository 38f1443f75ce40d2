/* SPDX-License-Identifier: Apache-2.0 */
/* Baselines: what is new, by blocks and levels. */
#include "made_result.h"

struct bench {
    struct tms_context *context;
    struct tms_baseline *baseline;
};

static void start(struct bench *bench)
{
    bench->context = tms_context_new(NULL, NULL);
    assert_int_equal(tms_baseline_new(bench->context, &bench->baseline), TMS_OK);
}

static void stop(struct bench *bench)
{
    tms_baseline_free(bench->baseline);
    tms_context_free(bench->context);
}

static void learn(struct bench *bench, struct made *made)
{
    for (size_t i = 0; i < made->result->finding_count; i++) {
        assert_int_equal(tms_baseline_add(bench->baseline, made->context, &made->findings[i]),
                         TMS_OK);
    }
    made_stop(made);
}

/* Marks the made analysis by way of a merged one; the bits say which findings are known. */
static unsigned marked(struct bench *bench, struct made *made)
{
    struct tms_settings settings;
    struct tms_analysis *merged;
    unsigned known = 0;

    for (size_t i = 0; i < made->result->finding_count; i++) {
        made->findings[i].event = i;
    }
    tms_settings_init(&settings);
    settings.engines = "";
    assert_int_equal(tms_analysis_new(made->context, &settings, &merged), TMS_OK);
    assert_int_equal(tms_analysis_merge(merged, made->analysis), TMS_OK);
    int64_t count = tms_baseline_mark(bench->baseline, merged);
    const struct tms_result *result = tms_analysis_result(merged, 0);
    assert_int_equal(result->known, count);
    assert_int_equal(result->finding_count + result->known, made->result->finding_count);
    for (size_t i = 0; i < made->result->finding_count; i++) {
        assert_int_equal(result->findings[i].known, i >= result->finding_count);
    }
    for (size_t i = 0; i < made->result->finding_count; i++) { /* by their events */
        known |= result->findings[i].known ? 1u << result->findings[i].event : 0;
    }
    assert_int_equal(tms_analysis_merge(merged, made->analysis), TMS_ERR_ARGUMENT);
    assert_int_equal(tms_baseline_mark(bench->baseline, merged), count); /* and once more */
    tms_analysis_free(merged);
    made_stop(made);
    return known;
}

static void test_levels(void **state)
{
    struct bench bench;
    struct made old, new;

    (void)state;
    start(&bench);
    made_start(&old, "frontier", 0);
    made_judged(&old, "AV-1", "f<int>", "a", TMS_LEVEL_WARNING, TMS_PATTERN_STALE_DECISION);
    made_judged(&old, "AV-2", "g", "a", TMS_LEVEL_NOTE, TMS_PATTERN_POLLED);
    learn(&bench, &old);
    made_start(&new, "frontier", 4);
    made_judged(&new, "AV-3", "f<long>", "b", TMS_LEVEL_WARNING, TMS_PATTERN_INTERLEAVED_WRITES);
    made_judged(&new, "AV-4", "f.cold", "c", TMS_LEVEL_NOTE, TMS_PATTERN_POLLED);
    made_judged(&new, "AV-5", "f", "a", TMS_LEVEL_ERROR, TMS_PATTERN_LOST_UPDATE);
    made_judged(&new, "AV-6", "g", "a", TMS_LEVEL_WARNING, TMS_PATTERN_STALE_DECISION);
    made_judged(&new, "AV-7", "h", "a", TMS_LEVEL_NOTE, TMS_PATTERN_POLLED);
    assert_int_equal(marked(&bench, &new), 3);
    stop(&bench);
}

/* All refuted blocks must be known, and with evidence as strong; `judge` knows them as well. */
static void test_cycles(void **state)
{
    struct bench bench;
    struct made old, new;

    (void)state;
    start(&bench);
    made_start(&old, "frontier", 0);
    made_cycle(&old, "AV-1", "f");
    made_cycle(&old, "AV-2", "g")->evidence = TMS_EVIDENCE_PREDICTED;
    made_judged(&old, "AV-3", "h", "a", TMS_LEVEL_NOTE, TMS_PATTERN_POLLED);
    learn(&bench, &old);
    made_start(&new, "frontier", 4);
    made_cycle(&new, "AV-4", "f")->evidence = TMS_EVIDENCE_POTENTIAL;
    made_cycle(&new, "AV-5", "g");
    made_cycle(&new, "AV-6", "h");
    struct tms_transaction both[2] = {new.findings[0].transaction, new.findings[1].transaction};
    struct tms_finding *nested = made_cycle(&new, "AV-7", "f");
    nested->refuted = both;
    nested->refuted_count = 2;
    made_cycle(&new, "AV-1", "i");
    assert_int_equal(marked(&bench, &new), 1 | 4);
    stop(&bench);
}

static void test_races(void **state)
{
    struct bench bench;
    struct made old, new;

    (void)state;
    start(&bench);
    made_start(&old, "fasttrack", 0);
    made_cycle(&old, "AV-1", "f")->kind = "race";
    learn(&bench, &old);
    made_start(&new, "fasttrack", 1);
    made_cycle(&new, "AV-1", "g")->kind = "race";
    made_cycle(&new, "AV-2", "f")->kind = "race";
    assert_int_equal(marked(&bench, &new), 1);
    stop(&bench);
}

/* An analysis of our own, and a baseline that is empty. */
static void test_observed(void **state)
{
    struct tms_observation observation = {0};
    struct tms_analysis *analysis;
    struct bench bench;
    struct made made;

    (void)state;
    start(&bench);
    made_start(&made, "frontier", 0);
    observation.findings = made_cycle(&made, "AV-1", "f");
    observation.finding_count = 1;
    assert_int_equal(tms_analysis_observed(made.context, NULL, &observation, &analysis), TMS_OK);
    const struct tms_result *result = tms_analysis_result(analysis, 0);
    assert_int_equal(tms_baseline_mark(bench.baseline, analysis), 0);
    assert_false(result->findings[0].known);
    assert_int_equal(tms_baseline_add(bench.baseline, made.context, made.findings), TMS_OK);
    assert_int_equal(tms_baseline_mark(bench.baseline, analysis), 1);
    assert_true(result->findings[0].known);
    assert_int_equal(result->finding_count, 0);
    tms_analysis_free(analysis);
    made_stop(&made);
    stop(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_observed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
