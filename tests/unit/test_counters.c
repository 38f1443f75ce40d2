/* SPDX-License-Identifier: Apache-2.0 */
/* The counters that engines keep about themselves: a limited number, and no more are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine_api/engine.h"

#define MANY (TMS_COUNTERS_MOST + 4)

static void fill(struct tms_counter *counters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        counters[i] = (struct tms_counter){"name", "meaning", i};
    }
}

static void parts_follow_each_other(void **state)
{
    struct tms_counter some[3], other[2];
    struct tms_counters counters = {0};

    (void)state;
    fill(some, 3);
    fill(other, 2);
    TMS_COUNTERS_PUT(&counters, some);
    TMS_COUNTERS_PUT(&counters, other);
    assert_int_equal(counters.count, 5);
    assert_int_equal(counters.at[2].value, 2);
    assert_int_equal(counters.at[3].value, 0);
    assert_int_equal(counters.at[4].value, 1);
}

/* Bytes after the array must not change, and the count must be the number that can be read. */
static void what_is_too_many_is_left_out(void **state)
{
    struct tms_counter many[MANY];
    struct {
        struct tms_counters counters;
        uint64_t guard;
    } room = {.guard = UINT64_C(0x5a5a5a5a5a5a5a5a)};

    (void)state;
    fill(many, MANY);
    for (size_t before = 0; before <= TMS_COUNTERS_MOST; before++) {
        room.counters.count = 0;
        tms_counters_put(&room.counters, many, before);
        tms_counters_put(&room.counters, many, MANY);
        assert_int_equal(room.counters.count, TMS_COUNTERS_MOST);
        tms_counters_put(&room.counters, many, MANY);
        assert_int_equal(room.counters.count, TMS_COUNTERS_MOST);
        assert_true(room.guard == UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
}

/* An engine with more counters needs a larger TMS_COUNTERS_MOST: none may go missing. */
static void every_engine_has_room(void **state)
{
    struct tms_context *context = tms_context_new(NULL, NULL);

    (void)state;
    assert_non_null(context);
    for (size_t i = 0; tms_engines[i] != NULL; i++) {
        struct tms_settings settings;
        struct tms_analysis *analysis;
        tms_settings_init(&settings);
        settings.engines = tms_engines[i]->info.name;
        assert_int_equal(tms_analysis_new(context, &settings, &analysis), TMS_OK);
        assert_int_equal(tms_analysis_finish(analysis), TMS_OK);
        assert_true(tms_analysis_result(analysis, 0)->counter_count < TMS_COUNTERS_MOST);
        assert_true(tms_engines[i]->stats == NULL ||
                    tms_analysis_result(analysis, 0)->counter_count > 0);
        tms_analysis_free(analysis);
    }
    tms_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_follow_each_other),
        cmocka_unit_test(what_is_too_many_is_left_out),
        cmocka_unit_test(every_engine_has_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
