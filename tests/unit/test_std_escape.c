/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes of the std format: which bytes are escaped, which texts with backslashes are not, and
 * that every trace comes back with the same names, whatever is in them.
 */
#include "trace/std_escape.h"

#include "unit/trace_fixture.h"

#define LONGEST 100

/* The name with escapes, and whether it comes back. */
static void assert_written(enum tms_class cls, const char *name, const char *expected)
{
    size_t length = strlen(name);
    char written[TMS_STD_ESCAPE_SIZE * LONGEST + 1], back[TMS_STD_ESCAPE_SIZE * LONGEST + 1];

    assert_true(length <= LONGEST);
    *tms_std_escape(cls, name, length, written) = '\0';
    back[tms_std_unescape(written, strlen(written), back)] = '\0';
    assert_string_equal(back, name);
    assert_int_equal(tms_std_is_plain(cls, name, length), strcmp(written, name) == 0);
    if (expected != NULL) {
        assert_string_equal(written, expected);
    }
}

static void test_what_is_escaped(void **state)
{
    static const struct {
        enum tms_class cls;
        const char *name, *written;
    } cases[] = {
        {TMS_CLASS_LABEL, "f(int, char)", "f(int,\\x20char)"},
        {TMS_CLASS_VARIABLE, "a|b", "a\\x7cb"},
        {TMS_CLASS_VARIABLE, "a\tb\n", "a\\x09b\\x0a"},
        {TMS_CLASS_VARIABLE, "\\x20", "\\x5cx20"},
        {TMS_CLASS_VARIABLE, "\\ \\x7C", "\\\\x20\\x5cx7C"},
        {TMS_CLASS_VARIABLE, "#x", "#x"},
        {TMS_CLASS_THREAD, "#1", "\\x231"},
        {TMS_CLASS_THREAD, "1#1", "1#1"},
        {TMS_CLASS_THREAD, "\xef\xbb\xbfT", "\\xef\xbb\xbfT"},
        {TMS_CLASS_THREAD, "\xef\xac\x81", "\xef\xac\x81"},
        {TMS_CLASS_LOCATION, "my file.c:3", "my file.c:3"},
        {TMS_CLASS_LOCATION, "a|b\n\rc\r", "a\\x7cb\\x0a\rc\\x0d"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_written(cases[i].cls, cases[i].name, cases[i].written);
    }
}

/* Backslashes of other tools are read literally. */
static void test_backslashes_that_stay(void **state)
{
    static const char *const names[] = {"\\",      "C:\\xml\\a.c", "a\\nb", "\\\\",  "\\x41",
                                        "\\x00x",  "\\x2",         "\\x2g", "\\X20", "\\x",
                                        "\\u0020", "x20",          "\\x7f", "\\xff", "%20"};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < LENGTH(names); i++) {
        char text[128];
        assert_written(TMS_CLASS_VARIABLE, names[i], names[i]);
        snprintf(text, sizeof(text), "%s|w(%s)|%s\n", names[i], names[i], names[i]);
        assert_reads(fixture, text, text);
    }
}

static void test_reader_undoes_escapes(void **state)
{
    struct fixture *fixture = *state;

    assert_reads(fixture,
                 "T\\x201|w(a\\x7cb)\nT|begin(f(int,\\x20char))|a\\x7cb\n\\x23|begin|\\x31\\x20\n",
                 "T 1|w(a|b)\nT|begin(f(int, char))|a|b\n#|begin|\\x31 \n");
}

/* ---- whatever the names are --------------------------------------------------------------- */

static uint32_t next_random(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*random >> 33);
}

/* Made of bytes with a meaning in the format, and some others. */
static void make_name(uint64_t *random, char *name)
{
    static const char *const pieces[] = {
        "\\", "x", "2",   "0",     "7",    "c",    " ",    "|",    "\t",   "\r",   "\n", "#",
        "(",  ")", "\\x", "\\x20", "\x01", "\xef", "\xbb", "\xbf", "\x7f", "\xff", "5",  "C"};
    size_t count = 1 + next_random(random) % 12;

    name[0] = '\0';
    while (count-- > 0) {
        strcat(name, pieces[next_random(random) % LENGTH(pieces)]);
    }
}

static void test_any_name(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        char name[LONGEST];
        make_name(&random, name);
        assert_written(TMS_CLASS_THREAD, name, NULL);
        assert_written(TMS_CLASS_LABEL, name, NULL);
        assert_written(TMS_CLASS_LOCATION, name, NULL);
    }
}

/* Reads the file into the same context, so that the same names have the same ids. */
static void assert_same_events(struct fixture *fixture, const struct tms_event *events,
                               size_t expected)
{
    struct tms_reader *reader;
    const struct tms_event *batch;
    size_t seen = 0;
    int64_t count;

    assert_int_equal(tms_reader_open(fixture->context, fixture->path, NULL, &reader), TMS_OK);
    while ((count = tms_reader_next(reader, &batch)) > 0) {
        for (int64_t i = 0; i < count; i++, seen++) {
            assert_true(seen < expected);
            assert_int_equal(batch[i].thread, events[seen].thread);
            assert_int_equal(batch[i].target, events[seen].target);
            assert_int_equal(batch[i].location, events[seen].location);
            assert_int_equal(batch[i].kind, events[seen].kind);
            assert_int_equal(batch[i].order, events[seen].order);
        }
    }
    assert_int_equal(count, 0);
    assert_int_equal(seen, expected);
    tms_reader_close(reader);
}

#define EVENTS 4000

static void test_any_trace(void **state)
{
    struct fixture *fixture = *state;
    static struct tms_event events[EVENTS];
    uint64_t random = 2;
    struct tms_writer *writer;

    for (size_t i = 0; i < EVENTS; i++) {
        char thread[LONGEST], target[LONGEST], location[LONGEST];
        make_name(&random, thread);
        make_name(&random, target);
        make_name(&random, location);
        events[i] =
            event_of(fixture, thread, (enum tms_event_kind)(next_random(&random) % TMS_EVENT_COUNT),
                     target, next_random(&random) % 2 ? location : NULL);
    }
    assert_int_equal(tms_writer_open(fixture->context, file(fixture, "any.std"), NULL, &writer),
                     TMS_OK);
    assert_int_equal(tms_writer_write(writer, events, EVENTS), TMS_OK);
    assert_int_equal(tms_writer_close(writer), TMS_OK);
    assert_same_events(fixture, events, EVENTS);
}

/* ---- what can't be written ---------------------------------------------------------------- */

static void test_line_too_long(void **state)
{
    struct fixture *fixture = *state;
    size_t length = 400u << 10;
    char *name = malloc(length + 1);

    memset(name, ' ', length);
    name[length] = '\0';
    struct tms_event event = event_of(fixture, "T", TMS_EVENT_WRITE, name, NULL);
    assert_int_equal(write_one(fixture, "long.std", event), TMS_ERR_FORMAT);
    assert_non_null(strstr(tms_error(fixture->context), "longer than 1 MiB"));
    memset(name, 'n', length);
    event = event_of(fixture, "T", TMS_EVENT_WRITE, name, NULL);
    assert_int_equal(write_one(fixture, "long.std", event), TMS_OK);
    assert_int_equal(read_all(fixture, fixture->path), TMS_OK);
    free(name);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_escaped),
        cmocka_unit_test(test_backslashes_that_stay),
        cmocka_unit_test(test_reader_undoes_escapes),
        cmocka_unit_test(test_any_name),
        cmocka_unit_test(test_any_trace),
        cmocka_unit_test(test_line_too_long),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
