/* SPDX-License-Identifier: Apache-2.0 */
/* Results written as JSON and read back unchanged; and input that is not a result. */
#include "made_result.h"
#include "saved/saved_result.h"

#define FIRST "{\"schema\": 1, \"tool\": \"tmesis\", \"results\": "

struct text {
    char bytes[1 << 16];
    size_t length;
};

static bool append(void *user, const char *piece, size_t length)
{
    struct text *text = user;

    assert_true(text->length + length < sizeof(text->bytes));
    memcpy(text->bytes + text->length, piece, length);
    text->length += length;
    text->bytes[text->length] = '\0';
    return true;
}

static void write_json(const struct tms_analysis *analysis, struct text *text)
{
    struct tms_report_settings settings;

    tms_report_settings_init(&settings);
    settings.path = "bank";
    settings.format = TMS_FORMAT_LIVE;
    text->length = 0;
    assert_int_equal(tms_report(analysis, "json", &settings, append, text), TMS_OK);
}

/* A judged finding with everything in it. */
static void make_full(struct made *made, struct tms_turn turns[3], struct tms_transaction *outer)
{
    struct tms_judgement *judgement = made_judged(made, "AV-efa564", "deposit", "account",
                                                  TMS_LEVEL_ERROR, TMS_PATTERN_LOST_UPDATE);
    uint32_t thread = made->findings[0].thread;
    uint32_t stack = named(made, TMS_CLASS_STACK,
                           "get\tbank.c\t26\treturn x;\ndeposit\tbank.c\t40\tint b = get();\n");

    made->findings[0].transaction.location = named(made, TMS_CLASS_LOCATION, "bank.c:38");
    turns[0] = (struct tms_turn){.event = 5,
                                 .thread = thread,
                                 .kind = TMS_EVENT_READ,
                                 .target = judgement->variable,
                                 .location = named(made, TMS_CLASS_LOCATION, "bank.c:26"),
                                 .stack = stack,
                                 .role = "first"};
    turns[1] = turns[2] = turns[0];
    turns[1].kind = TMS_EVENT_WRITE;
    turns[2].stack = 0;
    *outer = made->findings[0].transaction;
    outer->label = named(made, TMS_CLASS_LABEL, "teller");
    judgement->patterns |= 1u << TMS_PATTERN_OVERWRITTEN;
    judgement->other = named(made, TMS_CLASS_VARIABLE, "total");
    judgement->other_object = "total";
    judgement->driver = true;
    judgement->own = turns;
    judgement->own_count = 2;
    judgement->foreign = &turns[2];
    judgement->foreign_count = 1;
    judgement->culprit = made->findings[0].transaction;
    judgement->outer = outer;
    judgement->outer_count = 1;
    judgement->lock = named(made, TMS_CLASS_LOCK, "account.lock");
    judgement->given_up = turns[0];
    judgement->given_up.kind = TMS_EVENT_RELEASE;
    judgement->given_up.target = judgement->lock;
}

/* What is read back is written as the same bytes. */
static void test_round_trip(void **state)
{
    static struct text before, after;
    char reason[TMS_SAVED_REASON];
    struct tms_transaction outer;
    struct tms_turn turns[3];
    struct tms_saved saved;
    struct made made;

    (void)state;
    made_start(&made, "frontier", 0);
    make_full(&made, turns, &outer);
    write_json(made.analysis, &before);
    assert_true(tms_saved_parse(&saved, "f", before.bytes, before.length, reason));
    assert_int_equal(saved.count, 1);
    assert_true(saved.results[0].live);
    assert_false(saved.results[0].merged);
    assert_string_equal(saved.results[0].path, "bank");
    made.result->findings = saved.results[0].result.findings;
    made.analysis->context = saved.context;
    write_json(made.analysis, &after);
    assert_string_equal(after.bytes, before.bytes);
    made.analysis->context = made.context;
    tms_saved_close(&saved);
    made_stop(&made);
}

/* A cycle, of a real trace. */
static void test_cycle(void **state)
{
    static const char *const lines[] = {"A|begin(f)|a.c:1", "A|r(x)|a.c:2",   "B|begin(g)|a.c:7",
                                        "B|w(x)|a.c:8",     "B|end(g)|a.c:9", "A|w(x)|a.c:3",
                                        "A|end(f)|a.c:4"};
    static struct text before, after;
    char reason[TMS_SAVED_REASON];
    struct fixture *fixture = *state;
    struct tms_analysis *analysis;
    struct tms_reader *reader;
    struct tms_saved saved;

    FILE *out = fopen(file(fixture, "trace.std"), "w");
    for (size_t i = 0; i < LENGTH(lines); i++) {
        fprintf(out, "%s\n", lines[i]);
    }
    fclose(out);
    assert_int_equal(tms_reader_open(fixture->context, fixture->path, NULL, &reader), TMS_OK);
    assert_int_equal(tms_analysis_new(fixture->context, NULL, &analysis), TMS_OK);
    assert_int_equal(tms_analysis_read(analysis, reader), TMS_OK);
    tms_reader_close(reader);
    write_json(analysis, &before);
    assert_true(tms_saved_parse(&saved, "f", before.bytes, before.length, reason));
    analysis->runs[0].result.findings = saved.results[0].result.findings;
    analysis->context = saved.context;
    write_json(analysis, &after);
    assert_string_equal(after.bytes, before.bytes);
    analysis->context = fixture->context;
    tms_analysis_free(analysis);
    tms_saved_close(&saved);
}

static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        {"", "f is empty; expected a result of tmesis"},
        {" \n", "f is empty"},
        {"{", "f: line 1 is not JSON (string or '}' expected near end of file)"},
        {"\n\n{\"a\": 1, \"a\": 2}", "f: line 3 is not JSON (duplicate object key"},
        {"[]", "f: object 1: \"tool\" should be \"tmesis\""},
        {"7", "f: line 1 is not JSON"},
        {"{\"tool\": \"other\"}", "\"tool\" should be \"tmesis\""},
        {"{\"tool\": \"tmesis\", \"schema\": 2}", "\"schema\" should be 1"},
        {"{\"tool\": \"tmesis\", \"schema\": 1}", "\"results\" should be a list"},
        {FIRST "{}}", "\"results\" should be a list"},
        {FIRST "[]}{", "f: line 1 is not JSON"},
        {FIRST "[]} " FIRST "[1]}", "f: object 2: \"engine\" should be a string"},
        {FIRST "[{\"engine\": \"frontier\", \"verdict\": \"good\"}]}",
         "\"verdict\" should be one of serializable, violation"},
        {FIRST "[{\"engine\": \"frontier\", \"verdict\": \"violation\", \"violations\": [{}]}]}",
         "\"id\" should be a string"},
        {FIRST "[{\"engine\": \"frontier\", \"verdict\": \"violation\", \"violations\": "
               "[{\"id\": \"AV-1\", \"kind\": \"cycle\", \"evidence\": \"observed\", "
               "\"count\": -1}]}]}",
         "finding AV-1: \"count\" should be a non-negative integer"},
    };
    char reason[TMS_SAVED_REASON];
    struct tms_saved saved;

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_false(tms_saved_parse(&saved, "f", cases[i][0], strlen(cases[i][0]), reason));
        if (strstr(reason, cases[i][1]) == NULL) {
            fail_msg("%s", reason);
        }
        tms_saved_close(&saved);
    }
}

/* Deeper than any result is: refused, not a stack that overflows. */
static void test_deep(void **state)
{
    static char deep[1 << 20];
    char reason[TMS_SAVED_REASON];
    struct tms_saved saved;

    (void)state;
    memset(deep, '[', sizeof(deep));
    assert_false(tms_saved_parse(&saved, "f", deep, sizeof(deep), reason));
    assert_non_null(strstr(reason, "maximum parsing depth"));
    tms_saved_close(&saved);
}

/* An engine of another version, unknown members, a trace that could not be read. */
static void test_lenient(void **state)
{
    static const char text[] = FIRST "[{\"engine\": \"crystal-ball\", \"verdict\": \"maybe\"}, "
                                     "{\"engine\": \"frontier\", \"verdict\": \"serializable\", "
                                     "\"new\": [[1]]}], \"merged\": true}\n\n"
                                     "{\"schema\": 1, \"tool\": \"tmesis\", \"trace\": "
                                     "{\"path\": \"x\"}, \"error\": {\"message\": \"no\"}}\n";
    char reason[TMS_SAVED_REASON] = "";
    struct tms_saved saved;

    (void)state;
    assert_true(tms_saved_parse(&saved, "f", text, sizeof(text) - 1, reason));
    assert_int_equal(saved.count, 1);
    assert_true(saved.results[0].merged);
    assert_string_equal(saved.results[0].result.engine->name, "frontier");
    assert_int_equal(saved.object_count, 2);
    assert_null(saved.objects[0].unread);
    assert_string_equal(saved.objects[1].unread, "no");
    tms_saved_close(&saved);
}

static void test_files(void **state)
{
    char reason[TMS_SAVED_REASON];
    struct fixture *fixture = *state;
    struct tms_saved saved;

    assert_false(tms_saved_open(&saved, file(fixture, "none"), reason));
    assert_non_null(strstr(reason, "can't be read: No such file"));
    tms_saved_close(&saved);
    assert_false(tms_saved_open(&saved, fixture->directory, reason));
    assert_non_null(strstr(reason, "can't be read: Is a directory"));
    tms_saved_close(&saved);
    assert_false(tms_saved_open(&saved, "/dev/zero", reason));
    assert_non_null(strstr(reason, "can't be read: it has more than 1 GiB"));
    tms_saved_close(&saved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test_setup_teardown(test_cycle, setup, teardown),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_lenient),
        cmocka_unit_test_setup_teardown(test_files, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
