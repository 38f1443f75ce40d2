/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Specifications: what a pattern matches, which rule applies, what a file may contain, messages
 * about errors, and which transactions a trace has under a specification.
 */
#include "unit/trace_fixture.h"

#include "spec/glob.h"
#include "spec/spec.h"

/* ---- patterns ----------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *text)
{
    return tms_glob_matches(pattern, text, strlen(text));
}

static void test_globs(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool wanted;
    } cases[] = {
        {"deposit", "deposit", true},
        {"deposit", "deposits", false},
        {"deposits", "deposit", false},
        {"*", "", true},
        {"*", "anything at all", true},
        {"?", "", false},
        {"?", "x", true},
        {"?", "xy", false},
        {"?", "ü", true}, /* a character, not a byte */
        {"??", "ü", false},
        {"?", "\xfc", true}, /* no UTF-8: a byte is a character */
        {"a?c", "aüc", true},
        {"*ab", "aab", true},
        {"*ab", "aba", false},
        {"a*b*c", "a-b-b-c", true},
        {"a*b*c", "a-c-b", false},
        {"**x**", "x", true},
        {"[abc]x", "bx", true},
        {"[abc]x", "dx", false},
        {"[a-cx-z]", "y", true},
        {"[a-cx-z]", "d", false},
        {"[!a-c]", "d", true},
        {"[!a-c]", "b", false},
        {"[^a-c]", "b", false},
        {"[!a]", "", false},
        {"[]x]", "]", true},
        {"[!]x]", "]", false},
        {"[a-]", "-", true},
        {"[-a]", "-", true},
        {"[z-a]", "m", false},
        {"[ä-ü]", "ö", true},
        {"[ä-ü]", "o", false},
        {"[\\]]", "]", true},
        {"[a\\-c]", "b", false},
        {"[*]", "*", true},
        {"[*]", "x", false},
        {"\\*", "*", true},
        {"\\*", "x", false},
        {"\\\\", "\\", true},
        {"a\\b", "ab", true},
        {"[abc", "[abc", true}, /* nothing closes it: itself */
        {"[abc", "a", false},
        {"operator[]", "operator[]", true},
        {"*operator[]*", "Map::operator[](int)", true},
        {"*.main([Ljava/lang/String;)V", "a/B.main([Ljava/lang/String;)V", true},
        {"*([I)*", "a/B.sum([I)J", true},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        if (matches(cases[i].pattern, cases[i].text) != cases[i].wanted) {
            fail_msg("\"%s\" on \"%s\"", cases[i].pattern, cases[i].text);
        }
    }
}

/* A text that makes a matcher with a search try everything. */
static void test_globs_are_quick(void **state)
{
    char pattern[4 * 30 + 2], text[2001];

    (void)state;
    for (size_t i = 0; i < 30; i++) {
        memcpy(pattern + 4 * i, "*a?a", 4);
    }
    memcpy(pattern + sizeof(pattern) - 2, "b", 2);
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_false(matches(pattern, text));
    text[sizeof(text) - 2] = 'b';
    assert_true(matches(pattern, text));
}

/* The definition, for patterns of letters, `*` and `?`. */
static bool defined(const char *pattern, const char *text)
{
    if (*pattern == '*') {
        return defined(pattern + 1, text) || (*text != '\0' && defined(pattern, text + 1));
    }
    if (*pattern == '\0' || *text == '\0') {
        return *pattern == *text;
    }
    return (*pattern == '?' || *pattern == *text) && defined(pattern + 1, text + 1);
}

static void fill(char *out, size_t most, const char *letters, uint64_t *seed)
{
    size_t length = (*seed >> 33) % (most + 1);

    for (size_t i = 0; i < length; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        out[i] = letters[(*seed >> 33) % strlen(letters)];
    }
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    out[length] = '\0';
}

static void test_random_globs(void **state)
{
    uint64_t seed = 1;
    unsigned matching = 0;

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        char pattern[9], text[9];
        fill(pattern, 8, "ab*?", &seed);
        fill(text, 8, "ab", &seed);
        bool wanted = defined(pattern, text);
        matching += wanted;
        if (matches(pattern, text) != wanted) {
            fail_msg("\"%s\" on \"%s\"", pattern, text);
        }
    }
    assert_in_range(matching, 10000, 90000);
}

static void test_parameters(void **state)
{
    static const struct {
        const char *label, *bare;
    } cases[] = {
        {"deposit", "deposit"},
        {"", ""},
        {"deposit(int)", "deposit"},
        {"deposit(int) const", "deposit"},
        {"deposit()", "deposit"},
        {"deposit (account 5)", "deposit"},
        {"apply(void (*)(int), int)", "apply"},
        {"Bank::apply(std::function<void (int)>)", "Bank::apply"},
        {"Call::operator()", "Call::operator()"},
        {"Call::operator()(int)", "Call::operator()"},
        {"Call::operator()() const", "Call::operator()"},
        {"Map::operator[](int)", "Map::operator[]"},
        {"operator*(A, B)", "operator*"},
        {"operator->()", "operator->"},
        {"operator bool() const", "operator bool"},
        {"(anonymous namespace)::f", "(anonymous namespace)::f"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"f(int)::{lambda(char)#1}", "f(int)::{lambda(char)#1}"},
        {"f(int)::{lambda(char)#1}::operator()(char) const",
         "f(int)::{lambda(char)#1}::operator()"},
        {"g<(Kind)1>", "g<(Kind)1>"},
        {"g<(Kind)1>(int)", "g<(Kind)1>"},
        {"f(int) [clone .isra.0]", "f"},
        {"a/B.main([Ljava/lang/String;)V", "a/B.main"},
        {"a/B.<init>(I)V", "a/B.<init>"},
        {"a/B.get()Ljava/lang/Object;", "a/B.get"},
        {"(int)", "(int)"},
        {" (int)", " (int)"},
        {"f(int", "f(int"},
        {"int)", "int)"},
        {")(", ")("},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t length = tms_glob_bare_length(cases[i].label);
        if (length != strlen(cases[i].bare) || memcmp(cases[i].label, cases[i].bare, length) != 0) {
            fail_msg("\"%s\" without its parameters is \"%.*s\"", cases[i].label, (int)length,
                     cases[i].label);
        }
    }
}

/* ---- rules -------------------------------------------------------------------------------- */

/* A specification from a text in the syntax of files; NULL if it is refused. */
static struct tms_spec *spec_of(struct fixture *fixture, const char *text, size_t length)
{
    struct tms_spec *spec;

    assert_int_equal(tms_spec_new(fixture->context, &spec), TMS_OK);
    if (tms_spec_load(spec, spill(fixture, "rules", text, length)) != TMS_OK) {
        assert_null(tms_spec_unmatched(spec, 0));
        tms_spec_free(spec);
        return NULL;
    }
    return spec;
}

static void assert_answer(struct fixture *fixture, const char *rules, const char *label,
                          enum tms_spec_answer wanted)
{
    struct tms_spec *spec = spec_of(fixture, rules, strlen(rules));

    assert_non_null(spec);
    if (tms_spec_ask(spec, label) != wanted) {
        fail_msg("\"%s\" under\n%s", label, rules);
    }
    tms_spec_free(spec);
}

static void test_which_rule_counts(void **state)
{
    struct fixture *fixture = *state;

    assert_answer(fixture, "", "f", TMS_SPEC_DEFAULT);
    assert_answer(fixture, "atomic f", "f", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic f", "g", TMS_SPEC_NOT_ATOMIC);
    assert_answer(fixture, "not-atomic f", "f", TMS_SPEC_NOT_ATOMIC);
    assert_answer(fixture, "not-atomic f", "g", TMS_SPEC_DEFAULT);
    assert_answer(fixture, "atomic *\nnot-atomic f*\natomic fine", "fine", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic *\nnot-atomic f*\natomic fine", "foul", TMS_SPEC_NOT_ATOMIC);
    assert_answer(fixture, "atomic fine\nnot-atomic f*", "fine", TMS_SPEC_NOT_ATOMIC);
    assert_answer(fixture, "not-atomic f\natomic f\nnot-atomic f", "f", TMS_SPEC_NOT_ATOMIC);
    assert_answer(fixture, "atomic *", "", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "not-atomic \"\"", "", TMS_SPEC_NOT_ATOMIC);
    assert_answer(fixture, "not-atomic \"\"", "f", TMS_SPEC_DEFAULT);
    assert_answer(fixture, "not-atomic ?*", "", TMS_SPEC_DEFAULT);
}

static void test_labels_with_parameters(void **state)
{
    struct fixture *fixture = *state;

    assert_answer(fixture, "atomic Bank::deposit", "Bank::deposit(int)", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic Bank::deposit(int)", "Bank::deposit(int)", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic Bank::deposit(long)", "Bank::deposit(int)", TMS_SPEC_NOT_ATOMIC);
    assert_answer(fixture, "atomic *::deposit", "Bank::deposit(int) const", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic C::operator()", "C::operator()(int)", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "not-atomic a/B.main([Ljava/lang/String;)V",
                  "a/B.main([Ljava/lang/String;)V", TMS_SPEC_NOT_ATOMIC);
    assert_answer(fixture, "not-atomic a/B.main", "a/B.main([Ljava/lang/String;)V",
                  TMS_SPEC_NOT_ATOMIC);
    /* As globs these would match neither label. */
    assert_answer(fixture, "atomic f(int [3])", "f(int [3])", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic f[abi:cxx11]", "f[abi:cxx11](int)", TMS_SPEC_ATOMIC);
}

static void test_unmatched(void **state)
{
    struct fixture *fixture = *state;
    char wanted[400];
    static const char rules[] = "# a\natomic f\n\natomic g\tx  # b\nnot-atomic f*";
    struct tms_spec *spec = spec_of(fixture, rules, strlen(rules));

    assert_non_null(spec);
    assert_int_equal(tms_spec_add(spec, false, "h"), TMS_OK);
    assert_string_equal(tms_spec_unmatched(spec, 3), "not-atomic \"h\"");
    assert_null(tms_spec_unmatched(spec, 4));
    /* The last one decides, but the first one matched too. */
    assert_int_equal(tms_spec_ask(spec, "f"), TMS_SPEC_NOT_ATOMIC);
    snprintf(wanted, sizeof(wanted), "atomic \"g?x\" (%s:4)", fixture->path);
    assert_string_equal(tms_spec_unmatched(spec, 0), wanted);
    assert_string_equal(tms_spec_unmatched(spec, 1), "not-atomic \"h\"");
    assert_null(tms_spec_unmatched(spec, 2));
    tms_spec_free(spec);
}

static void test_wrong_patterns(void **state)
{
    struct fixture *fixture = *state;
    struct tms_spec *spec;

    assert_int_equal(tms_spec_new(fixture->context, &spec), TMS_OK);
    assert_int_equal(tms_spec_add(spec, true, ""), TMS_ERR_ARGUMENT);
    assert_string_equal(tms_error(fixture->context),
                        "the pattern \"\" is empty; * matches every label");
    assert_int_equal(tms_spec_add(spec, true, "f\\"), TMS_ERR_ARGUMENT);
    assert_string_equal(tms_error(fixture->context),
                        "the pattern \"f\\\" ends with a single backslash; write \\\\ for a "
                        "backslash itself");
    assert_int_equal(tms_spec_add(spec, true, "f\\\\"), TMS_OK);
    assert_int_equal(tms_spec_ask(spec, "f\\"), TMS_SPEC_ATOMIC);
    tms_spec_free(spec);
    tms_spec_free(NULL);
}

/* ---- files -------------------------------------------------------------------------------- */

static void test_files(void **state)
{
    struct fixture *fixture = *state;

    assert_answer(fixture, "atomic f\r\n", "f", TMS_SPEC_ATOMIC);
    assert_answer(fixture,
                  "\xef\xbb\xbf"
                  "atomic f\n",
                  "f", TMS_SPEC_ATOMIC);
    assert_answer(fixture, " \tatomic \t f\t \n", "f", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "# atomic g\n\n   \n  # atomic g\natomic f", "f", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "# atomic f\n", "f", TMS_SPEC_DEFAULT);
    assert_answer(fixture, "atomic f(unsigned int)", "f(unsigned int)", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic f#1 # the first", "f#1", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic f \\#1", "f #1", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic f\\ ", "f ", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic f\\\\ ", "f\\", TMS_SPEC_ATOMIC);
    assert_answer(fixture, "atomic atomic", "atomic", TMS_SPEC_ATOMIC);
}

/* Refused with this sentence, which follows "…/rules:LINE: ". */
static void assert_refused(struct fixture *fixture, const char *text, size_t length, unsigned line,
                           const char *sentence)
{
    char wanted[TMS_MESSAGE_SIZE];

    assert_null(spec_of(fixture, text, length));
    snprintf(wanted, sizeof(wanted), "%s:%u: %s", fixture->path, line, sentence);
    assert_string_equal(tms_error(fixture->context), wanted);
}

static void test_wrong_files(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text;
        unsigned line;
        const char *sentence;
    } cases[] = {
        {"atomic f\n\nf\n", 3,
         "expected \"atomic PATTERN\" or \"not-atomic PATTERN\", found \"f\""},
        {"atomics f\n", 1,
         "expected \"atomic PATTERN\" or \"not-atomic PATTERN\", found \"atomics f\""},
        {"atomic\n", 1, "expected a pattern after \"atomic\", found the end of the line"},
        {"not-atomic  # f\n", 1,
         "expected a pattern after \"not-atomic\", found the end of the line"},
        {"atomic f\natomic f\\\n", 2,
         "the pattern \"f\\\" ends with a single backslash; write \\\\ for a backslash itself"},
        {"\x1b[1mf\n", 1, "expected \"atomic PATTERN\" or \"not-atomic PATTERN\", found \"?[1mf\""},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_refused(fixture, cases[i].text, strlen(cases[i].text), cases[i].line,
                       cases[i].sentence);
    }
    assert_refused(fixture, "atomic f\natomic \0g", 17, 2,
                   "expected lines of text, found a zero byte; this is not a specification");
}

static void test_long_lines(void **state)
{
    struct fixture *fixture = *state;
    size_t size = 3u << 20;
    char *text = malloc(size);

    memset(text, 'x', size);
    memcpy(text, "atomic ", 7);
    assert_refused(fixture, text, size, 1,
                   "expected a rule, found a line longer than 1 MiB; this is not a specification");
    text[1u << 20] = '\0';
    struct tms_spec *spec = spec_of(fixture, text, 1u << 20);
    assert_non_null(spec);
    assert_int_equal(tms_spec_ask(spec, text + 7), TMS_SPEC_ATOMIC);
    assert_int_equal(tms_spec_ask(spec, text + 8), TMS_SPEC_NOT_ATOMIC);
    tms_spec_free(spec);
    free(text);
}

static void test_missing_files(void **state)
{
    struct fixture *fixture = *state;
    struct tms_spec *spec;

    assert_int_equal(tms_spec_new(fixture->context, &spec), TMS_OK);
    assert_int_equal(tms_spec_load(spec, file(fixture, "nowhere")), TMS_ERR_IO);
    assert_non_null(strstr(tms_error(fixture->context), "/nowhere: can't be opened: "));
    assert_int_equal(tms_spec_load(spec, fixture->directory), TMS_ERR_IO);
    assert_non_null(strstr(tms_error(fixture->context), ": is a directory; "));
    tms_spec_free(spec);
}

/* A wrong file adds nothing, and earlier rules stay. */
static void test_all_or_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct tms_spec *spec = spec_of(fixture, "atomic f", 8);
    static const char wrong[] = "not-atomic f\natomic g\nwhat is this\n";

    assert_non_null(spec);
    assert_int_equal(tms_spec_load(spec, spill(fixture, "wrong", wrong, strlen(wrong))),
                     TMS_ERR_SYNTAX);
    assert_int_equal(tms_spec_ask(spec, "f"), TMS_SPEC_ATOMIC);
    assert_int_equal(tms_spec_ask(spec, "g"), TMS_SPEC_NOT_ATOMIC);
    tms_spec_free(spec);
}

/* ---- transactions ------------------------------------------------------------------------- */

static struct tms_trace_summary check(struct fixture *fixture, const char *trace, const char *rules)
{
    struct tms_settings settings;
    struct tms_reader *reader;
    struct tms_analysis *analysis;
    struct tms_trace_summary summary;
    struct tms_context *context = tms_context_new(NULL, NULL);

    assert_non_null(context);
    tms_settings_init(&settings);
    settings.spec = spec_of(fixture, rules, strlen(rules));
    assert_non_null(settings.spec);
    const char *path = spill(fixture, "trace", trace, strlen(trace));
    assert_int_equal(tms_reader_open(context, path, NULL, &reader), TMS_OK);
    assert_int_equal(tms_analysis_new(context, &settings, &analysis), TMS_OK);
    assert_int_equal(tms_analysis_read(analysis, reader), TMS_OK);
    tms_analysis_summary(analysis, &summary);
    tms_analysis_free(analysis);
    tms_reader_close(reader);
    tms_context_free(context);
    tms_spec_free(settings.spec);
    return summary;
}

static void assert_blocks(struct fixture *fixture, const char *trace, const char *rules,
                          uint64_t transactions, uint64_t not_atomic, uint64_t unary)
{
    struct tms_trace_summary summary = check(fixture, trace, rules);

    assert_int_equal(summary.transactions, transactions);
    assert_int_equal(summary.not_atomic, not_atomic);
    assert_int_equal(summary.unary, unary);
}

static void test_transactions(void **state)
{
    struct fixture *fixture = *state;
    static const char nested[] = "A|begin(outer)\nA|w(x)\nA|begin(inner)\nA|w(x)\nA|end\n"
                                 "A|begin(inner)\nA|end\nA|end\nA|begin\nA|end\n";
    static const char calls[] = "A|enter(main)\nA|enter(f)\nA|w(x)\nA|exit(f)\nA|exit(main)\n";

    assert_blocks(fixture, nested, "", 2, 0, 0);
    assert_blocks(fixture, nested, "not-atomic outer", 3, 1, 3);
    assert_blocks(fixture, nested, "not-atomic inner", 2, 2, 0);
    assert_blocks(fixture, nested, "atomic inner", 2, 2, 5);
    assert_blocks(fixture, nested, "not-atomic *", 0, 4, 10);
    assert_blocks(fixture, nested, "not-atomic \"\"", 1, 1, 2);
    assert_blocks(fixture, calls, "", 1, 1, 2);
    assert_blocks(fixture, calls, "atomic *", 1, 0, 0);
    assert_blocks(fixture, calls, "atomic main", 1, 1, 0);
    assert_blocks(fixture, calls, "not-atomic f", 0, 2, 5);
}

static void test_out_of_memory(void **state)
{
    struct fixture *fixture = *state;
    static const char rules[] = "atomic f\nnot-atomic g\n";
    char path[320];
    int code = TMS_ERR_MEMORY;
    uint64_t allowed = 0;

    snprintf(path, sizeof(path), "%s", spill(fixture, "rules", rules, strlen(rules)));
    while (code != TMS_OK) {
        struct tms_context *context = tms_context_new(NULL, NULL);
        struct tms_spec *spec;
        context->memory.fail_after = ++allowed;
        code = tms_spec_new(context, &spec);
        code = code == TMS_OK ? tms_spec_add(spec, true, "h") : code;
        code = code == TMS_OK ? tms_spec_load(spec, path) : code;
        if (code != TMS_OK) {
            assert_int_equal(code, TMS_ERR_MEMORY);
            assert_string_equal(tms_error(context), "out of memory");
        }
        tms_spec_free(spec);
        tms_context_free(context);
    }
    assert_in_range(allowed, 6, 50);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_globs),
        cmocka_unit_test(test_globs_are_quick),
        cmocka_unit_test(test_random_globs),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_which_rule_counts),
        cmocka_unit_test(test_labels_with_parameters),
        cmocka_unit_test(test_unmatched),
        cmocka_unit_test(test_wrong_patterns),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_missing_files),
        cmocka_unit_test(test_all_or_nothing),
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_out_of_memory),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
