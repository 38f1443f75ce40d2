/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging the results of several processes: what is merged, counted and shown, and how losses are
 * reported.
 */
#include "made_result.h"

struct bench {
    struct tms_context *context;
    struct tms_analysis *merged;
};

static void start(struct bench *bench)
{
    struct tms_settings settings;

    bench->context = tms_context_new(NULL, NULL);
    tms_settings_init(&settings);
    settings.engines = "";
    assert_int_equal(tms_analysis_new(bench->context, &settings, &bench->merged), TMS_OK);
}

static void stop(struct bench *bench)
{
    tms_analysis_free(bench->merged);
    tms_context_free(bench->context);
}

static const struct tms_result *merge(struct bench *bench, struct made *made)
{
    assert_int_equal(tms_analysis_merge(bench->merged, made->analysis), TMS_OK);
    return tms_analysis_result(bench->merged, 0);
}

/* The same function and object, in an instance of a template and in a clone. */
static void test_judged(void **state)
{
    const struct tms_result *result;
    struct bench bench;
    struct made one, two;

    (void)state;
    start(&bench);
    made_start(&one, "frontier", 0);
    made_start(&two, "frontier", 3);
    made_judged(&one, "AV-111111", "push<int>", "queue", TMS_LEVEL_WARNING,
                TMS_PATTERN_STALE_DECISION);
    made_judged(&one, "AV-222222", "pop", "queue", TMS_LEVEL_NOTE, TMS_PATTERN_POLLED);
    made_judged(&two, "AV-333333", "pop", "other", TMS_LEVEL_NOTE, TMS_PATTERN_POLLED);
    made_judged(&two, "AV-111111", "push<long>.constprop.0", "queue", TMS_LEVEL_ERROR,
                TMS_PATTERN_LOST_UPDATE);
    merge(&bench, &one);
    result = merge(&bench, &two);
    made_stop(&one);
    made_stop(&two);
    assert_int_equal(result->finding_count, 3);
    const struct tms_finding *first = &result->findings[0];
    assert_string_equal(first->id, "AV-111111");
    assert_int_equal(first->count, 2);
    assert_int_equal(first->processes, 2);
    assert_int_equal(first->judgement->processes, 2);
    assert_int_equal(first->judgement->executions, 20);
    assert_int_equal(first->judgement->cut, 4);
    assert_int_equal(first->judgement->level, TMS_LEVEL_ERROR);
    assert_int_equal(first->judgement->pattern, TMS_PATTERN_LOST_UPDATE);
    assert_int_equal(first->judgement->patterns,
                     1u << TMS_PATTERN_LOST_UPDATE | 1u << TMS_PATTERN_STALE_DECISION);
    assert_string_equal(tms_name(bench.context, TMS_CLASS_LABEL, first->transaction.label, NULL),
                        "push<long>.constprop.0");
    assert_string_equal(
        tms_name(bench.context, TMS_CLASS_VARIABLE, first->judgement->variable, NULL), "queue");
    assert_int_equal(result->findings[1].judgement->processes, 1);
    assert_string_equal(result->findings[2].judgement->object, "other");
    stop(&bench);
}

/* A milder one does not replace the one that is shown; a pair has its objects in any order. */
static void test_severe_stays(void **state)
{
    const struct tms_result *result;
    struct bench bench;
    struct made one, two;

    (void)state;
    start(&bench);
    made_start(&one, "frontier", 0);
    made_start(&two, "frontier", 5);
    made_judged(&one, "AV-1", "f", "a", TMS_LEVEL_ERROR, TMS_PATTERN_INCONSISTENT_READS)
        ->other_object = "b";
    struct tms_judgement *second =
        made_judged(&two, "AV-1", "f", "b", TMS_LEVEL_NOTE, TMS_PATTERN_EXCHANGE);
    second->other_object = "a";
    two.findings[0].evidence = TMS_EVIDENCE_PREDICTED;
    merge(&bench, &one);
    result = merge(&bench, &two);
    made_stop(&one);
    made_stop(&two);
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0].judgement->level, TMS_LEVEL_ERROR);
    assert_string_equal(result->findings[0].judgement->object, "a");
    assert_int_equal(result->findings[0].evidence, TMS_EVIDENCE_OBSERVED);
    stop(&bench);
}

/* By id, or by block; findings that differ within one process stay separate. */
static void test_cycles(void **state)
{
    const struct tms_result *result;
    struct bench bench;
    struct made one, two;

    (void)state;
    start(&bench);
    made_start(&one, "frontier", 0);
    made_start(&two, "frontier", 2);
    made_cycle(&one, "AV-aaaaaa", "f");
    made_cycle(&one, "AV-bbbbbb", "g");
    made_cycle(&two, "AV-cccccc", "g");
    made_cycle(&two, "AV-dddddd", "g");
    made_cycle(&two, "AV-eeeeee", "h")->same_as = "AV-dddddd";
    merge(&bench, &one);
    result = merge(&bench, &two);
    made_stop(&one);
    made_stop(&two);
    assert_int_equal(result->finding_count, 3);
    assert_int_equal(result->findings[0].processes, 1);
    assert_int_equal(result->findings[1].processes, 2);
    assert_int_equal(result->findings[1].count, 3);
    assert_int_equal(result->violations, 5);
    assert_string_equal(result->findings[2].same_as, "AV-bbbbbb");
    stop(&bench);
}

static void test_races_by_id(void **state)
{
    const struct tms_result *result;
    struct bench bench;
    struct made one, two;

    (void)state;
    start(&bench);
    made_start(&one, "fasttrack", 0);
    made_start(&two, "fasttrack", 2);
    made_cycle(&one, "AV-aaaaaa", "f")->kind = "race";
    made_cycle(&two, "AV-bbbbbb", "f")->kind = "race";
    made_cycle(&two, "AV-aaaaaa", "f")->kind = "race";
    merge(&bench, &one);
    result = merge(&bench, &two);
    assert_int_equal(result->finding_count, 2);
    assert_int_equal(result->findings[0].processes, 2);
    made_stop(&one);
    made_stop(&two);
    stop(&bench);
}

/* Each kind of loss once, and the worst verdict. */
static void test_losses(void **state)
{
    const struct tms_result *result = NULL;
    struct bench bench;
    struct made made[4];

    (void)state;
    start(&bench);
    for (size_t i = 0; i < LENGTH(made); i++) {
        made_start(&made[i], i == 3 ? "sidetrack" : "frontier", 0);
        made[i].analysis->summary.transactions = 5;
        if (i == 0 || i == 2) {
            made[i].result->loss = "it ended without warning";
            made[i].result->complete = false;
            made[i].result->verdict = TMS_VERDICT_INCOMPLETE;
        }
        result = merge(&bench, &made[i]);
        made_stop(&made[i]);
    }
    assert_int_equal(result->verdict, TMS_VERDICT_INCOMPLETE);
    assert_false(result->complete);
    assert_string_equal(result->loss, "2 of 4 processes: it ended without warning");
    const struct tms_result *other = tms_analysis_result(bench.merged, 1);
    assert_string_equal(other->engine->name, "sidetrack");
    assert_true(other->complete);
    assert_null(other->loss);
    assert_null(tms_analysis_result(bench.merged, 2));
    struct tms_trace_summary summary;
    tms_analysis_summary(bench.merged, &summary);
    assert_int_equal(summary.transactions, 20);
    stop(&bench);
}

static void test_refused(void **state)
{
    struct bench bench;
    struct made made;

    (void)state;
    start(&bench);
    made_start(&made, "frontier", 0);
    assert_int_equal(tms_analysis_merge(made.analysis, bench.merged), TMS_ERR_ARGUMENT);
    made.analysis->finished = false;
    assert_int_equal(tms_analysis_merge(bench.merged, made.analysis), TMS_ERR_ARGUMENT);
    made.analysis->finished = true;
    made_stop(&made);
    stop(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judged), cmocka_unit_test(test_severe_stays),
        cmocka_unit_test(test_cycles), cmocka_unit_test(test_races_by_id),
        cmocka_unit_test(test_losses), cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
