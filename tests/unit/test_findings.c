/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings, added by hand: how they are grouped, which one represents its group, and their order
 * and ids.
 */
#include "analysis/findings.h"
#include "trace_fixture.h"

struct bench {
    struct tms_context *context;
    struct tms_settings settings;
    struct tms_memory memory;
    struct tms_findings *findings;
    const struct tms_finding *list;
    size_t count;
    uint64_t unlisted;
};

static void start(struct bench *bench)
{
    *bench = (struct bench){.context = tms_context_new(NULL, NULL)};
    assert_non_null(bench->context);
    tms_settings_init(&bench->settings);
    bench->findings = tms_findings_new(bench->context, &bench->settings, &bench->memory);
    assert_non_null(bench->findings);
}

static void close_all(struct bench *bench)
{
    assert_int_equal(
        tms_findings_close(bench->findings, &bench->list, &bench->count, &bench->unlisted), TMS_OK);
}

static void stop(struct bench *bench)
{
    tms_findings_free(bench->findings);
    assert_int_equal(bench->memory.bytes, 0);
    tms_context_free(bench->context);
}

static void add(struct bench *bench, uint64_t key, uint64_t event)
{
    const struct tms_violation violation = {
        .kind = "before",
        .evidence = TMS_EVIDENCE_PREDICTED,
        .event = event,
        .key = key,
        .thread = 1,
        .not_atomic = true,
        .transaction = {.begin_event = event - 1, .thread = 1},
    };

    assert_int_equal(tms_findings_add(bench->findings, &violation), TMS_OK);
}

/* As engines with keys do: a known finding is only counted. */
static void report(struct bench *bench, uint64_t key, uint64_t event)
{
    if (!tms_findings_again(bench->findings, key, event)) {
        add(bench, key, event);
    }
}

/* Violations may arrive in another order than that of their events: the earliest is shown. */
static void test_earliest(void **state)
{
    static const uint64_t events[] = {500, 700, 300, 300, 400, 200, 900};
    struct bench bench;

    (void)state;
    start(&bench);
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        report(&bench, 11, events[i]);
        report(&bench, 12, 1000 - events[i]);
    }
    close_all(&bench);
    assert_int_equal(bench.count, 2);
    assert_int_equal(bench.list[0].event, 100);
    assert_int_equal(bench.list[0].transaction.begin_event, 99);
    assert_int_equal(bench.list[0].count, 7);
    assert_int_equal(bench.list[1].event, 200);
    assert_int_equal(bench.list[1].transaction.begin_event, 199);
    assert_int_equal(bench.list[1].count, 7);
    assert_int_equal(tms_findings_total(bench.findings), 14);
    stop(&bench);
}

#define MANY 30000 /* so that some share their first six digits */

/* Labels "f0", "f1", …, as many as there are findings: each has a pattern of its own. */
static void add_labelled(struct bench *bench, uint32_t number, uint64_t event, uint32_t thread)
{
    char name[16];
    int length = snprintf(name, sizeof(name), "f%u", number);
    int64_t label = tms_intern(bench->context, TMS_CLASS_LABEL, name, (size_t)length);
    const struct tms_violation violation = {
        .kind = "before",
        .evidence = TMS_EVIDENCE_PREDICTED,
        .event = event,
        .thread = thread,
        .not_atomic = true,
        .transaction = {.begin_event = event, .thread = thread, .label = (uint32_t)label},
    };

    assert_int_equal(tms_findings_add(bench->findings, &violation), TMS_OK);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* No id begins with another, and one has more than six digits only if it needs them. */
static void check_ids(const char **ids, size_t count)
{
    size_t longer = 0;

    qsort(ids, count, sizeof(*ids), by_text);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(ids[i]);
        assert_true(length >= strlen("AV-") + 6);
        longer += length > strlen("AV-") + 6;
        assert_true(i == 0 || strncmp(ids[i - 1], ids[i], strlen(ids[i - 1])) != 0);
    }
    assert_in_range(longer, 2, count / 100);
}

/* By event, and by thread those of one event; found in another order. */
static void test_many(void **state)
{
    static const char *ids[MANY];
    struct bench bench;

    (void)state;
    start(&bench);
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t shuffled = i * 1009 % MANY;
        add_labelled(&bench, i, 1000 + shuffled / 3 * 977, 1 + shuffled % 3);
    }
    close_all(&bench);
    assert_int_equal(bench.count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(bench.list[i].event, 1000 + i / 3 * 977);
        assert_int_equal(bench.list[i].thread, 1 + i % 3);
        assert_int_equal(bench.list[i].transaction.thread, bench.list[i].thread);
        ids[i] = bench.list[i].id;
    }
    check_ids(ids, MANY);
    stop(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_earliest),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
