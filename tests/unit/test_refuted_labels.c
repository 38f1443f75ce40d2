/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of refinement is read back with the same meaning, whatever a label consists of: also
 * blanks and control characters, which no text format allows but the library does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/refuted_labels.h"
#include "spec/spec.h"

static uint32_t intern(struct tms_context *context, enum tms_class cls, const char *name)
{
    int64_t id = tms_intern(context, cls, name, strlen(name));
    assert_true(id > 0);
    return (uint32_t)id;
}

/* A block of that label reads, another thread writes, the block writes. */
static void check_lost_update(struct tms_checking *checking, const char *label)
{
    struct tms_context *context = tms_context_new(NULL, NULL);
    struct tms_settings settings;
    uint32_t a = intern(context, TMS_CLASS_THREAD, "A"), b = intern(context, TMS_CLASS_THREAD, "B");
    uint32_t x = intern(context, TMS_CLASS_VARIABLE, "x");
    uint32_t block = intern(context, TMS_CLASS_LABEL, label);
    uint32_t place = intern(context, TMS_CLASS_LOCATION, "a place\nwith # all");
    const struct tms_event events[] = {
        {.thread = a, .kind = TMS_EVENT_BEGIN, .target = block, .location = place},
        {.thread = a, .kind = TMS_EVENT_READ, .target = x},
        {.thread = b, .kind = TMS_EVENT_WRITE, .target = x},
        {.thread = a, .kind = TMS_EVENT_WRITE, .target = x},
    };
    tms_settings_init(&settings);
    settings.all = true;
    *checking = (struct tms_checking){.path = "made\nby hand", .context = context};
    assert_int_equal(tms_analysis_new(context, &settings, &checking->analysis), TMS_OK);
    assert_int_equal(tms_analysis_feed(checking->analysis, events, 4, NULL), TMS_OK);
    assert_int_equal(tms_analysis_finish(checking->analysis), TMS_OK);
}

static void drop_all(struct tms_drops *drops, struct tms_checking *checking)
{
    const struct tms_result *result = tms_analysis_result(checking->analysis, 0);
    assert_int_equal(result->finding_count, 1);
    assert_true(result->findings[0].not_atomic);
    assert_true(tms_drops_trace(drops, checking));
    assert_true(tms_drops_add(drops, checking, result, &result->findings[0], 1));
}

/* Writes the file of a specification with these drops, and reads it into a new one. */
static struct tms_spec *there_and_back(struct tms_context *context, const struct tms_drops *drops,
                                       const struct tms_spec *spec)
{
    char path[] = "/tmp/tmesis-dropped-XXXXXX";
    struct tms_spec *again;
    FILE *out = fdopen(mkstemp(path), "w");
    tms_drops_write(drops, spec, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(tms_spec_new(context, &again), TMS_OK);
    assert_int_equal(tms_spec_load(again, path), TMS_OK);
    unlink(path);
    return again;
}

static void any_label_survives(void **state)
{
    static const char *const labels[] = {
        " two words ", "a # b",       "#",    " ",         "\\",   "\\ ",      "a\\ ",
        "*",           "[x]",         "a\tb", "line\nend", "\x7f", "\xff\xfe", "not-atomic x",
        "\"\"",        "f(int) const"};
    (void)state;
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        struct tms_context *context = tms_context_new(NULL, NULL);
        struct tms_checking checking;
        struct tms_drops drops = {0};
        struct tms_spec *spec;
        check_lost_update(&checking, labels[i]);
        drop_all(&drops, &checking);
        assert_int_equal(tms_spec_new(context, &spec), TMS_OK);
        assert_true(tms_drops_exclude(&drops, 0, spec));
        assert_int_equal(tms_spec_ask(spec, labels[i]), TMS_SPEC_NOT_ATOMIC);
        struct tms_spec *again = there_and_back(context, &drops, spec);
        assert_int_equal(tms_spec_ask(again, labels[i]), TMS_SPEC_NOT_ATOMIC);
        assert_int_equal(tms_spec_ask(again, "another"), TMS_SPEC_DEFAULT);
        assert_null(tms_spec_unmatched(again, 0));
        tms_spec_free(again);
        tms_spec_free(spec);
        tms_drops_clear(&drops);
        tms_checking_free(&checking);
        tms_context_free(context);
    }
}

static void the_same_label_of_two_traces_is_one(void **state)
{
    struct tms_checking first, second;
    struct tms_drops drops = {0};
    (void)state;
    check_lost_update(&first, "deposit");
    check_lost_update(&second, "deposit");
    drop_all(&drops, &first);
    drop_all(&drops, &second);
    assert_int_equal(drops.count, 1);
    assert_int_equal(drops.list[0].violations, 2);
    assert_string_equal(drops.list[0].reason,
                        "cut by B's event 3 outside any block, on variable x");
    tms_drops_clear(&drops);
    tms_checking_free(&first);
    tms_checking_free(&second);
}

static void given_patterns_survive(void **state)
{
    static const char *const patterns[] = {" *x", "a #b*", "#", "x ", "a\\ ", "[ #]", "a\\#b", "*"};
    struct tms_context *context = tms_context_new(NULL, NULL);
    const struct tms_drops none = {0};
    struct tms_spec *spec;
    bool atomic;
    (void)state;
    assert_int_equal(tms_spec_new(context, &spec), TMS_OK);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        assert_int_equal(tms_spec_add(spec, i % 2, patterns[i]), TMS_OK);
    }
    struct tms_spec *again = there_and_back(context, &none, spec);
    static const char *const match[] = {" ax", "a #bc", "#", "x ", "a ", "#", "a#b", "z"};
    for (size_t i = 0; i < sizeof match / sizeof *match; i++) {
        struct tms_spec *one;
        assert_non_null(tms_spec_rule(again, i, &atomic));
        assert_int_equal(atomic, i % 2);
        assert_int_equal(tms_spec_new(context, &one), TMS_OK);
        assert_int_equal(tms_spec_add(one, false, tms_spec_rule(again, i, &atomic)), TMS_OK);
        assert_int_equal(tms_spec_ask(one, match[i]), TMS_SPEC_NOT_ATOMIC);
        tms_spec_free(one);
    }
    assert_null(tms_spec_rule(again, sizeof match / sizeof *match, &atomic));
    tms_spec_free(again);
    tms_spec_free(spec);
    tms_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_label_survives),
        cmocka_unit_test(the_same_label_of_two_traces_is_one),
        cmocka_unit_test(given_patterns_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
