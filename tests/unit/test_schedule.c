/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule files: what they may contain, messages about errors, sites as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "protocol/schedule.h"

#define FIRST "tmesis-schedule 1\n"

static struct tms_schedule schedule;
static struct tms_schedule_complaint complaint;

static bool parse(const char *text)
{
    return tms_schedule_parse(&schedule, text, strlen(text), &complaint);
}

static void test_all_keys(void **state)
{
    (void)state;
    assert_true(parse("# made by hand\n\n" FIRST "strategy directed # or another\r\nseed 17\n"
                      "strength 250\ndepth 3\npoints 1000\nbound 20\n"
                      "window close=bank+0x12ab\n"
                      "\twindow foreign=libx.so.1+0xffffffffffffffff open=a%20b+0x0 two-locks "
                      "close=a+0x1 until=b+0x2"));
    assert_int_equal(schedule.strategy, TMS_STRATEGY_DIRECTED);
    assert_int_equal(schedule.seed, 17);
    assert_int_equal(schedule.strength, 250);
    assert_int_equal(schedule.depth, 3);
    assert_int_equal(schedule.points, 1000);
    assert_int_equal(schedule.bound, 20);
    assert_int_equal(schedule.window_count, 2);
    assert_string_equal(schedule.windows[0].close.object, "bank");
    assert_int_equal(schedule.windows[0].close.offset, 0x12ab);
    assert_string_equal(schedule.windows[0].open.object, "");
    assert_false(schedule.windows[0].two_locks);
    assert_true(schedule.windows[1].two_locks);
    assert_string_equal(schedule.windows[1].open.object, "a%20b");
    assert_string_equal(schedule.windows[1].foreign.object, "libx.so.1");
    assert_true(schedule.windows[1].foreign.offset == UINT64_MAX);
    assert_string_equal(schedule.windows[0].until.object, "");
    assert_string_equal(schedule.windows[1].until.object, "b");
    assert_int_equal(schedule.windows[1].until.offset, 2);
}

static void test_usual_values(void **state)
{
    (void)state;
    assert_true(parse(FIRST "strategy pct"));
    assert_int_equal(schedule.strategy, TMS_STRATEGY_PCT);
    assert_int_equal(schedule.seed, 0);
    assert_int_equal(schedule.strength, 100);
    assert_int_equal(schedule.depth, 2);
    assert_int_equal(schedule.points, 50);
    assert_int_equal(schedule.bound, 200);
    assert_int_equal(schedule.window_count, 0);
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *says; /* part of the message */
    } cases[] = {
        {"", 1, "first line"},
        {"\n\n", 2, "first line"},
        {"strategy noise\n", 1, "\"tmesis-schedule 1\""},
        {"tmesis-schedule 2\n", 1, "\"tmesis-schedule 1\""},
        {"tmesis-schedule\n", 1, "\"tmesis-schedule 1\""},
        {FIRST, 1, "strategy"},
        {FIRST "strategy\n", 2, "but the line ends there"},
        {FIRST "strategy loud\n", 2, "not \"loud\""},
        {FIRST "strategy noise pct\n", 2, "the end of the line"},
        {FIRST "strategy noise\nstrategy noise\n", 3, "twice"},
        {FIRST "strategy noise\nseed -1\n", 3, "whole number"},
        {FIRST "strategy noise\nseed 18446744073709551616\n", 3, "whole number"},
        {FIRST "strategy noise\nseed 1x\n", 3, "whole number"},
        {FIRST "strategy noise\nstrength 0\n", 3, "per cent"},
        {FIRST "strategy noise\nstrength 10001\n", 3, "per cent"},
        {FIRST "strategy pct\ndepth 65\n", 3, "between 1 and 64"},
        {FIRST "strategy pct\npoints 0\n", 3, "between 1 and"},
        {FIRST "strategy directed\nbound 600001\n", 3, "milliseconds"},
        {FIRST "strategy directed\n", 2, "a window"},
        {FIRST "strategy directed\nwindow\n", 3, "close="},
        {FIRST "strategy directed\nwindow open=a+0x1\n", 3, "close="},
        {FIRST "strategy directed\nwindow close=a+0x1 close=a+0x2\n", 3, "once at most"},
        {FIRST "strategy directed\nwindow close=a+0x1 block=a\n", 3, "once at most"},
        {FIRST "strategy directed\nwindow close=a\n", 3, "a place in a file"},
        {FIRST "strategy directed\nwindow close=a+\n", 3, "a place in a file"},
        {FIRST "strategy directed\nwindow close=a+0x\n", 3, "a place in a file"},
        {FIRST "strategy directed\nwindow close=+0x1\n", 3, "a place in a file"},
        {FIRST "strategy directed\nwindow close=a+12\n", 3, "a place in a file"},
        {FIRST "strategy directed\nwindow close=a+0x10000000000000000\n", 3, "a place in a file"},
        {FIRST "strategy directed\nwindow close=\n", 3, "the line ends there"},
        {FIRST "noise\n", 2, "not \"noise\""},
        {FIRST "\x1b[31m\n", 2, "not \"?[31m\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_false(parse(cases[i].text));
        assert_int_equal(complaint.line, cases[i].line);
        if (strstr(complaint.text, cases[i].says) == NULL) {
            fail_msg("%s: %s", cases[i].text, complaint.text);
        }
    }
}

static void test_most_windows(void **state)
{
    static char text[TMS_SCHEDULE_WINDOWS * 32 + 256];

    (void)state;
    strcpy(text, FIRST "strategy directed\n");
    for (unsigned i = 0; i < TMS_SCHEDULE_WINDOWS; i++) {
        strcat(text, "window close=a+0x1\n");
    }
    assert_true(parse(text));
    assert_int_equal(schedule.window_count, TMS_SCHEDULE_WINDOWS);
    strcat(text, "window close=a+0x1\n");
    assert_false(parse(text));
    assert_int_equal(complaint.line, TMS_SCHEDULE_WINDOWS + 3);
}

static void test_sites(void **state)
{
    char text[TMS_SITE_SIZE], path[2 * TMS_SITE_OBJECT] = "/usr/lib/";
    struct tms_schedule_site site = {.object = "a%20b%23%25%2b"};

    (void)state;
    assert_int_equal(tms_site_write("/x/bank", 0x12ab, text), strlen("bank+0x12ab"));
    assert_string_equal(text, "bank+0x12ab");
    tms_site_write("/x y/a b#%+", 1, text);
    assert_string_equal(text, "a%20b%23%25%2b+0x1");
    assert_true(tms_site_is_in(&site, "/elsewhere/a b#%+"));
    assert_false(tms_site_is_in(&site, "/elsewhere/a b#%"));
    memset(path + strlen(path), 'n', sizeof(path) - strlen(path) - 1);
    assert_true(tms_site_write(path, UINT64_MAX, text) < TMS_SITE_SIZE);
    char whole[TMS_SITE_SIZE + 64];
    snprintf(whole, sizeof(whole), FIRST "strategy directed\nwindow close=%s\n", text);
    assert_true(parse(whole));
    assert_true(tms_site_is_in(&schedule.windows[0].close, path));
}

/* A round trip preserves names, whatever their bytes. */
static void test_any_names(void **state)
{
    uint32_t random = 1;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        char name[40], site[TMS_SITE_SIZE], text[TMS_SITE_SIZE + 64];
        size_t length = 1 + (size_t)i % 38;
        for (size_t k = 0; k < length; k++) {
            random = random * 1664525u + 1013904223u;
            char c = (char)(random >> 24);
            name[k] = c == '\0' || c == '/' ? 'x' : c;
        }
        name[length] = '\0';
        tms_site_write(name, random, site);
        snprintf(text, sizeof(text), FIRST "strategy directed\nwindow close=%s\n", site);
        assert_true(parse(text));
        assert_true(tms_site_is_in(&schedule.windows[0].close, name));
        assert_int_equal(schedule.windows[0].close.offset, random);
    }
}

/* Damaged files are refused or read, without access outside the text. */
static void test_damaged(void **state)
{
    static const char good[] = FIRST "strategy directed\nseed 12\nstrength 50\n"
                                     "window close=a+0x1 open=b+0x2 foreign=c+0x3 # all\n";
    uint32_t random = 7;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t length = sizeof(good) - 1;
        char *copy = malloc(length);
        memcpy(copy, good, length);
        for (int k = 0; k < 1 + i % 3; k++) {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % length] = (char)(random >> 24);
        }
        length = i % 5 == 0 ? (random >> 4) % length : length;
        char *exact = malloc(length + (length == 0));
        memcpy(exact, copy, length);
        if (!tms_schedule_parse(&schedule, exact, length, &complaint)) {
            assert_true(complaint.line >= 1 && complaint.text[0] != '\0');
        }
        free(exact);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_keys),  cmocka_unit_test(test_usual_values),
        cmocka_unit_test(test_bad_files), cmocka_unit_test(test_most_windows),
        cmocka_unit_test(test_sites),     cmocka_unit_test(test_any_names),
        cmocka_unit_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
