/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats std, rr and regiontrack: what is accepted, what is refused with which line, that a
 * round trip loses nothing, and how a format is recognized by its content.
 */
#include "unit/trace_fixture.h"

/* ---- std: what is accepted ---------------------------------------------------------------- */

static void test_std_accepts(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"\n\n", ""},
        {"T1|begin|1\nT1|w(x)|2\nT1|end|3\n", "T1|begin|1\nT1|w(x)|2\nT1|end|3\n"},
        {"T1|begin|1\r\nT1|w(x)|2\r\nT1|end\r\n", "T1|begin|1\nT1|w(x)|2\nT1|end\n"},
        {"T1|w(x)|2", "T1|w(x)|2\n"},
        {"T1|w(x)|2\r", "T1|w(x)|2\n"},
        {"T1|w(x)", "T1|w(x)\n"},
        {"T1|w(x)|", "T1|w(x)\n"},
        {"# T1|w(x)\n#\n\n \t\nT1|w(x)\n\r\n#", "T1|w(x)\n"},
        {"\xef\xbb\xbfT1|w(x)\n", "T1|w(x)\n"},
        {"T1|begin(std::f(int))|f.cc:3\n", "T1|begin(std::f(int))|f.cc:3\n"},
        {"T1|w(a)(b)\n", "T1|w(a)(b)\n"},
        {"T1|w(())\n", "T1|w(())\n"},
        {"T1|w(v[3].next->#x)\n", "T1|w(v[3].next->#x)\n"},
        {"T(1)|w(x)\n", "T(1)|w(x)\n"},
        {"T1|w(x)|two words, (and more)\n", "T1|w(x)|two words, (and more)\n"},
        {"T1|w(x)|\tt\n", "T1|w(x)|\tt\n"},
        {"T1|w(x)|0\nT1|w(x)|00\nT1|w(x)|2147483647\nT1|w(x)|2147483648\nT1|w(x)|99999999999\n",
         "T1|w(x)|0\nT1|w(x)|00\nT1|w(x)|2147483647\nT1|w(x)|2147483648\nT1|w(x)|99999999999\n"},
        {"T1|w(x)|12345678\nT1|w(x)|01234567\nT1|w(x)|1234567a\nT1|w(x)|/5\nT1|w(x)|:5\n",
         "T1|w(x)|12345678\nT1|w(x)|01234567\nT1|w(x)|1234567a\nT1|w(x)|/5\nT1|w(x)|:5\n"},
        {"12345678|w(x)\n123456789|w(x)\n1234567|w(x)\n",
         "12345678|w(x)\n123456789|w(x)\n1234567|w(x)\n"},
        {"Füße|w(ö)|Maß\n", "Füße|w(ö)|Maß\n"},
        {"T1|ar(x,acquire)|1\nT1|r(x)\nT2|fence(acq_rel)|f.c:1\n",
         "T1|ar(x,acquire)|1\nT1|r(x)\nT2|fence(acq_rel)|f.c:1\n"},
        {"T1|ar(x,consume)\nT1|fence(consume)\n", "T1|ar(x,acquire)\nT1|fence(acquire)\n"},
        {"T1|au(f(int,char),relaxed)\nT1|aw(,,release)\nT1|au(relaxed,acq_rel)\n",
         "T1|au(f(int,char),relaxed)\nT1|aw(,,release)\nT1|au(relaxed,acq_rel)\n"},
        {"T1|w(x,release)\nT1|aw(a\\x20b,seq_cst)\n", "T1|w(x,release)\nT1|aw(a b,seq_cst)\n"},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_reads(fixture, cases[i].text, cases[i].expected);
        assert_string_equal(fixture->format, "std");
    }
}

/* Lines of every length around the places where the quick way ends. */
static void test_std_line_lengths(void **state)
{
    struct fixture *fixture = *state;

    for (size_t extra = 1; extra < 140; extra++) {
        char text[1024], name[160];
        memset(name, 'n', extra);
        name[extra] = '\0';
        snprintf(text, sizeof(text),
                 "T|w(%s)|7\nT|r(x)\n%s|begin\nT|r(y)|%s\nT|au(%s,release)\nT|u(x)\n", name, name,
                 name, name);
        assert_reads(fixture, text, text);
    }
}

static void test_std_every_kind(void **state)
{
    struct fixture *fixture = *state;
    size_t length;
    char *text = sample(5000, &length);

    assert_reads(fixture, text, text);
    free(text);
}

static void test_std_where(void **state)
{
    struct fixture *fixture = *state;
    const char *text = "# c\n\nT1|w(x)\n# c\nT1|w(y)\nT1|w(a location with blanks)\n";
    struct tms_reader *reader;
    const struct tms_event *events;
    char expected[400];

    const char *path = spill(fixture, "trace", text, strlen(text));
    assert_int_equal(tms_reader_open(fixture->context, path, NULL, &reader), TMS_OK);
    assert_int_equal(tms_reader_next(reader, &events), TMS_ERR_SYNTAX);
    tms_reader_close(reader);

    fixture->settings.lenient = true;
    assert_int_equal(tms_reader_open(fixture->context, path, &fixture->settings, &reader), TMS_OK);
    assert_int_equal(tms_reader_next(reader, &events), 2);
    snprintf(expected, sizeof(expected), "%s:3", path);
    assert_string_equal(tms_reader_where(reader, 0), expected);
    snprintf(expected, sizeof(expected), "%s:5", path);
    assert_string_equal(tms_reader_where(reader, 1), expected);
    assert_string_equal(tms_reader_path(reader), path);
    uint64_t size;
    assert_int_equal(tms_reader_position(reader, &size), strlen(text));
    assert_int_equal(size, strlen(text));
    tms_reader_close(reader);
    fixture->settings.lenient = false;
}

/* The lines of events in the second and later batches are right, too. */
static void test_std_where_later(void **state)
{
    struct fixture *fixture = *state;
    struct tms_reader *reader;
    const struct tms_event *events;
    size_t length;
    char *text = sample(4000, &length);
    uint64_t line = 0;
    int64_t count;

    const char *path = spill(fixture, "trace", text, length);
    assert_int_equal(tms_reader_open(fixture->context, path, NULL, &reader), TMS_OK);
    while ((count = tms_reader_next(reader, &events)) > 0) {
        for (int64_t i = 0; i < count; i++) {
            char expected[400];
            snprintf(expected, sizeof(expected), "%s:%llu", path, (unsigned long long)++line);
            assert_string_equal(tms_reader_where(reader, (size_t)i), expected);
        }
    }
    assert_int_equal(line, 4000);
    tms_reader_close(reader);
    free(text);
}

/* ---- std: what is refused ----------------------------------------------------------------- */

static void test_std_refuses(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text;
        unsigned line;
        const char *part;
    } cases[] = {
        {"T1|begin\nT1|foo(a)|2\n", 2, "unknown operation \"foo\""},
        {"T1|begin(m)|1\nT1|beginfoo|1\n", 2, "unknown operation \"beginfoo\""},
        {"T1||1\n", 1, "unknown operation \"\""},
        {"T1|(x)|1\n", 1, "unknown operation \"\""},
        {"T1|W(x)\n", 1, "unknown operation \"W\""},
        {"T1|w()|1\n", 1, "the name of the variable is empty"},
        {"T1|begin()\n", 1, "the name of the label is empty"},
        {"T1|w|1\n", 1, "without operand"},
        {"T1|acq\n", 1, "expected \"acq(lock)\""},
        {"T1|w(x|1\n", 1, "expected \")\""},
        {"T1|w(\n", 1, "expected \")\""},
        {"T1|w(x)y|1\n", 1, "expected \")\""},
        {"T1|begin\nT1|w(a|b)|2\n", 2, "too many fields"},
        {"T1|w(x)|1|\n", 1, "too many fields"},
        {"T1|w(x)|1|2|3|4\n", 1, "too many fields"},
        {" T1 | w(x) | 1\n", 1, "expected a thread name without blanks"},
        {"T1|w(a b)|1\n", 1, "expected a variable name without blanks"},
        {"T1| w(x)|1\n", 1, "unknown operation \" w\""},
        {"T1|w(x) |1\n", 1, "expected \")\""},
        {"T1|w(x\ty)\n", 1, "expected a variable name without blanks"},
        {"|w(x)|1\n", 1, "the name of the thread is empty"},
        {"# fine\n\nT1\n", 3, "expected THREAD|OPERATION|LOCATION"},
        {"T1|w(x)\rT1|w(y)\n", 1, "expected \")\""},
        {"hello world\n", 1, "found \"hello world\""},
        {"T1|r(x)\nT1|w(x", 2, "expected \")\""},
        {"T1|ar(x)\n", 1, "expected \"ar(variable,ORDER)\" with one of the orders relaxed acquire"},
        {"T1|ar(x,release)\n", 1, "relaxed acquire seq_cst, found \"ar(x,release)\""},
        {"T1|aw(x,acquire)\n", 1, "relaxed release seq_cst, found \"aw(x,acquire)\""},
        {"T1|au(x,sometime)\n", 1, "relaxed acquire release acq_rel seq_cst, found"},
        {"T1|au(relaxed)\n", 1, "found \"au(relaxed)\""},
        {"T1|au(,relaxed)\n", 1, "the name of the variable is empty"},
        {"T1|au(x ,relaxed)\n", 1, "expected a variable name without blanks"},
        {"T1|aw(x, release)\n", 1, "found \"aw(x, release)\""},
        {"T1|ar\n", 1, "expected \"ar(variable,ORDER)\""},
        {"T1|fence\n", 1, "expected \"fence(ORDER)\""},
        {"T1|fence()\n", 1, "expected \"fence(ORDER)\""},
        {"T1|fence(x,seq_cst)\n", 1, "expected \"fence(ORDER)\""},
        {"T1|fence(seq_cst\n", 1, "expected \")\""},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        char place[400];
        assert_int_equal(read_text(fixture, cases[i].text), TMS_ERR_SYNTAX);
        snprintf(place, sizeof(place), "%s:%u: ", fixture->path, cases[i].line);
        assert_has(tms_error(fixture->context), place);
        assert_has(tms_error(fixture->context), cases[i].part);
    }
}

static void test_std_zero_byte(void **state)
{
    struct fixture *fixture = *state;
    static const char text[] = "T1|w(x)|1\nT1|w(\0)|2\n";

    assert_int_equal(read_all(fixture, spill(fixture, "trace", text, sizeof(text) - 1)),
                     TMS_ERR_SYNTAX);
    assert_has(tms_error(fixture->context), ":2: a zero byte");
}

static void test_std_long_line(void **state)
{
    struct fixture *fixture = *state;
    size_t size = 3u << 20;
    char *text = malloc(size);

    memset(text, 'x', size);
    memcpy(text, "T1|w(a)\nT1|w(", 13);
    memcpy(text + size - 10, "\nT1|r(bb)\n", 10);
    const char *path = spill(fixture, "trace", text, size);
    assert_int_equal(read_all(fixture, path), TMS_ERR_SYNTAX);
    assert_has(tms_error(fixture->context), ":2: a line longer than 1 MiB");
    fixture->settings.lenient = true;
    assert_int_equal(read_all(fixture, path), TMS_OK);
    assert_string_equal(fixture->text, "T1|w(a)\nT1|r(bb)\n");
    assert_string_equal(fixture->loss, "1 line was left out because it could not be read");
    fixture->settings.lenient = false;

    size = (1u << 20) - 1; /* the longest that there may be, and its line end */
    memcpy(text, "T1|w(", 5);
    memset(text + 5, 'x', size);
    text[size - 1] = ')';
    text[size] = '\n';
    path = spill(fixture, "trace", text, size + 1);
    assert_int_equal(read_all(fixture, path), TMS_OK);
    assert_int_equal(fixture->text_length, size + 1);
    assert_memory_equal(fixture->text, text, size + 1);
    char from[320];
    snprintf(from, sizeof(from), "%s", path);
    assert_int_equal(convert(fixture, from, file(fixture, "copy.std"), NULL), TMS_OK);
    size_t length;
    char *copy = slurp(fixture->path, &length);
    assert_int_equal(length, size + 1);
    assert_memory_equal(copy, text, length);
    free(copy);
    free(text);
}

static void test_lenient_counts(void **state)
{
    struct fixture *fixture = *state;
    char text[4096] = "T1|w(x)\n";

    fixture->settings.lenient = true;
    fixture->complaints = 0;
    assert_int_equal(read_text(fixture, "T1|w(x)\nbad\nT1|r(x)\n"), TMS_OK);
    assert_string_equal(fixture->text, "T1|w(x)\nT1|r(x)\n");
    assert_string_equal(fixture->loss, "1 line was left out because it could not be read");
    assert_int_equal(fixture->complaints, 1);
    assert_has(fixture->complaint, ":2: expected THREAD|OPERATION|LOCATION");

    fixture->complaints = 0;
    for (int i = 0; i < 15; i++) {
        strcat(text, "T1|oops(x)\n");
    }
    strcat(text, "T1|r(x)\n");
    assert_int_equal(read_text(fixture, text), TMS_OK);
    assert_string_equal(fixture->text, "T1|w(x)\nT1|r(x)\n");
    assert_string_equal(fixture->loss, "15 lines were left out because they could not be read");
    assert_int_equal(fixture->complaints, 11);
    assert_has(fixture->complaint, "further complaints are counted, not shown");
    fixture->settings.lenient = false;
}

/* ---- regiontrack -------------------------------------------------------------------------- */

static void put_record(unsigned char *at, int32_t thread, int32_t opcode, int32_t operand)
{
    int32_t words[] = {thread, opcode, operand};

    for (int i = 0; i < 12; i++) {
        at[i] = (unsigned char)((uint32_t)words[i / 4] >> (24 - 8 * (i % 4)));
    }
}

static void test_regiontrack(void **state)
{
    struct fixture *fixture = *state;
    static const int32_t numbers[] = {0, 1, 7, -1, INT32_MIN, INT32_MAX, 123456, 4096, 8192};
    unsigned char bytes[12 * 6000];
    char from[320], to[320];
    size_t length;

    for (size_t i = 0; i < 6000; i++) {
        put_record(bytes + 12 * i, numbers[i % 9], 20 + (int32_t)(i % 6), numbers[i * 31 / 7 % 9]);
    }
    snprintf(from, sizeof(from), "%s", spill(fixture, "from", bytes, sizeof(bytes)));
    snprintf(to, sizeof(to), "%s", file(fixture, "to.rt"));
    assert_int_equal(convert(fixture, from, to, NULL), TMS_OK);
    char *back = slurp(to, &length);
    assert_int_equal(length, sizeof(bytes));
    assert_memory_equal(back, bytes, length);
    free(back);

    put_record(bytes, 3, 20, 5);
    put_record(bytes + 12, 3, 22, -9);
    put_record(bytes + 24, 3, 24, 2);
    put_record(bytes + 36, 3, 25, 2);
    put_record(bytes + 48, 4, 23, -9);
    put_record(bytes + 60, 3, 21, 5);
    assert_int_equal(read_all(fixture, spill(fixture, "t", bytes, 72)), TMS_OK);
    assert_string_equal(fixture->format, "regiontrack");
    assert_string_equal(fixture->text, "3|begin(5)\n3|r(-9)\n3|acq(2)\n3|rel(2)\n4|w(-9)\n"
                                       "3|end(5)\n");
    for (size_t cut = 12; cut < 72; cut++) {
        assert_int_equal(read_all(fixture, spill(fixture, "t", bytes, cut)), TMS_OK);
        if (cut % 12 == 0) {
            assert_string_equal(fixture->loss, "");
        } else {
            assert_has(fixture->loss, "the file ends in the middle of record");
        }
    }
    put_record(bytes + 24, 3, 77, 2);
    fixture->settings.format = "regiontrack";
    assert_int_equal(read_all(fixture, spill(fixture, "t", bytes, 72)), TMS_ERR_SYNTAX);
    assert_has(tms_error(fixture->context), "event 3: unknown opcode 77");
    fixture->settings.lenient = true;
    assert_int_equal(read_all(fixture, fixture->path), TMS_OK);
    assert_string_equal(fixture->loss, "1 record was left out because it could not be read");
    fixture->settings.lenient = false;
    fixture->settings.format = NULL;
}

/* Names that are no numbers get some that nothing else has. */
static void test_regiontrack_numbers(void **state)
{
    struct fixture *fixture = *state;
    const char *text = "A|w(x)\n1|w(1)\nB|w(01)\nA|begin\nA|end\n2|w(x)\n";
    char from[320], to[320];

    snprintf(from, sizeof(from), "%s", spill(fixture, "from.std", text, strlen(text)));
    snprintf(to, sizeof(to), "%s", file(fixture, "to.rt"));
    struct fixture fresh = *fixture; /* names of other tests would take numbers */
    fresh.context = tms_context_new(on_complaint, fixture);
    fresh.text = NULL;
    assert_int_equal(convert(&fresh, from, to, NULL), TMS_OK);
    assert_int_equal(read_all(&fresh, to), TMS_OK);
    assert_string_equal(fresh.text, "3|w(2)\n1|w(1)\n4|w(3)\n3|begin(0)\n3|end(0)\n2|w(2)\n");
    free(fresh.text);
    tms_context_free(fresh.context);
}

static void test_regiontrack_refuses(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(write_one(fixture, "t.rt", event_of(fixture, "1", TMS_EVENT_FORK, "2", NULL)),
                     TMS_ERR_FORMAT);
    assert_has(tms_error(fixture->context), "event 1, fork(2), can't be written as regiontrack");
    assert_has(tms_error(fixture->context), "write tms or std instead");
    fixture->complaints = 0;
    assert_int_equal(write_one(fixture, "t.rt", event_of(fixture, "1", TMS_EVENT_READ, "2", "9")),
                     TMS_OK);
    assert_int_equal(fixture->complaints, 1);
    assert_has(fixture->complaint, "regiontrack has no locations");
    fixture->complaints = 0;
    assert_int_equal(
        write_one(fixture, "t.rt", event_of(fixture, "1", TMS_EVENT_ATOMIC_READ, "2", NULL)),
        TMS_OK);
    assert_int_equal(fixture->complaints, 1);
    assert_has(fixture->complaint, "regiontrack has no atomic accesses");
    assert_int_equal(read_all(fixture, fixture->path), TMS_OK);
    assert_string_equal(fixture->text, "1|r(2)\n1|r(2)\n");
    assert_int_equal(
        write_one(fixture, "t.rt", event_of(fixture, "1", TMS_EVENT_ATOMIC_UPDATE, "2", NULL)),
        TMS_ERR_FORMAT);
}

/* ---- rr ----------------------------------------------------------------------------------- */

static void test_rr(void **state)
{
    struct fixture *fixture = *state;

    assert_reads(fixture,
                 "[main: loading test.Main]\n"
                 "@ main started .\n"
                 "@  Enter(0,test/Main.main([Ljava/lang/String;)V) from NullLoc\n"
                 "@   Wr(0,null.test/Main.count_I)  Final  Main.java:50:7\n"
                 "@   Rd(0,@05.test/Main.next_Ltest/Main;)[@06(\"a)b\")]  [W=0:1 R=(2:3)]  "
                 "Main.java:51\n"
                 "@\tAcquire(0,@03)\r\n"
                 "@   test acquire @03\n"
                 "@   VWr(0,@05.test/Main.flag_Z)  Volatile\n"
                 "@   VRd(0,@05.test/Main.flag_Z)\n"
                 "@   ARd(0,@07[13])  Final  Main.java:60:9\n"
                 "@   AWr(0,@07[14])  Final  Main.java:61:9\n"
                 "@   Release(0,@03)\n"
                 "@   Notify(0,@03,true)\n"
                 "@   Sleep(0)\n"
                 "output of the program | with a bar\n"
                 "@  Start(0,1)\n"
                 "@ Enter(1,test/Main.run()V) from Thread.java:9\n"
                 "@ Exit(1,test/Main.run()V)\n"
                 "@  Join(0,1)\n"
                 "@  Exit(0,test/Main.main([Ljava/lang/String;)V)",
                 "0|enter(test/Main.main([Ljava/lang/String;)V)\n"
                 "0|w(null.test/Main.count_I)|Main.java:50:7\n"
                 "0|r(@05.test/Main.next_Ltest/Main;)|Main.java:51\n"
                 "0|acq(@03)\n"
                 "0|w(@05.test/Main.flag_Z)\n"
                 "0|r(@05.test/Main.flag_Z)\n"
                 "0|r(@07[13])|Main.java:60:9\n"
                 "0|w(@07[14])|Main.java:61:9\n"
                 "0|rel(@03)\n"
                 "0|fork(1)\n"
                 "1|enter(test/Main.run()V)|Thread.java:9\n"
                 "1|exit(test/Main.run()V)\n"
                 "0|join(1)\n"
                 "0|exit(test/Main.main([Ljava/lang/String;)V)\n");
    assert_string_equal(fixture->format, "rr");
}

/* Operations that print one line before and one after them. */
static void test_rr_halves(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        /* the join waits for its second line, and the thread may go on until then */
        {"@ Start(0,1)\n@ Start(0,1)\n@ Join(0,1)\n@ Wr(1,x)\n@ Join(0,1)\n@ Rd(0,x)\n",
         "0|fork(1)\n1|w(x)\n0|join(1)\n0|r(x)\n"},
        /* the child may run before the second Start */
        {"@ Start(0,1)\n@ Wr(1,x)\n@ Start(0,1)\n", "0|fork(1)\n1|w(x)\n"},
        /* two children, joined one after the other */
        {"@ Start(0,1)\n@ Start(0,1)\n@ Start(0,2)\n@ Start(0,2)\n@ Join(0,1)\n@ Join(0,1)\n"
         "@ Join(0,2)\n@ Join(0,2)\n",
         "0|fork(1)\n0|fork(2)\n0|join(1)\n0|join(2)\n"},
        /* a second line that is missing: the next line of the thread shows that it is over */
        {"@ Start(0,1)\n@ Start(0,1)\n@ Start(0,2)\n@ Start(0,2)\n@ Join(0,1)\n@ Join(0,2)\n"
         "@ Rd(0,x)\n",
         "0|fork(1)\n0|fork(2)\n0|join(1)\n0|join(2)\n0|r(x)\n"},
        /* the log ends before the join returns */
        {"@ Start(0,1)\n@ Start(0,1)\n@ Join(0,1)\n@ Rd(1,x)\n", "0|fork(1)\n1|r(x)\n"},
        {"@ Start(0,1)\n@ Start(0,1)\n@ Join(0,1)\n", "0|fork(1)\n"},
        /* a log with single lines */
        {"@ Start(0,1)\n@ Wr(0,x)\n@ Join(0,1)\n@ Wr(2,y)\n@ Rd(0,x)\n",
         "0|fork(1)\n0|w(x)\n0|join(1)\n2|w(y)\n0|r(x)\n"},
        {"@ Start(0,1)\n@ Start(0,2)\n", "0|fork(1)\n0|fork(2)\n"},
        /* waits */
        {"@ Acquire(0,m)\n@ Wait(0,m)\n@ Acquire(1,m)\n@ Release(1,m)\n@ Wait(0,m)\n@ Wait(0,m)\n"
         "@ Wait(0,m)\n@ Release(0,m)\n",
         "0|acq(m)\n0|rel(m)\n0|wait(m)\n1|acq(m)\n1|rel(m)\n0|acq(m)\n0|rel(m)\n0|wait(m)\n"
         "0|acq(m)\n0|rel(m)\n"},
        {"@ Acquire(0,m)\n@ Wait(0,m)\n@ Release(0,m)\n",
         "0|acq(m)\n0|rel(m)\n0|wait(m)\n0|acq(m)\n0|rel(m)\n"},
        /* a number used again is another thread */
        {"@ Start(0,1)\n@ Wr(1,x)\n@ Join(0,1)\n@ Rd(0,x)\n@ Start(0,1)\n@ Wr(1,x)\n@ Join(0,1)\n",
         "0|fork(1)\n1|w(x)\n0|join(1)\n0|r(x)\n0|fork(1#2)\n1#2|w(x)\n0|join(1#2)\n"},
        {"@ Barrier(0,b,Enter)\n@ Barrier(1,b,Enter)\n@ Barrier(0,b,Exit)\n@ Barrier(1,b,Exit)\n",
         "0|arrive(b)\n1|arrive(b)\n0|depart(b)\n1|depart(b)\n"},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_reads(fixture, cases[i].text, cases[i].expected);
    }
}

static void test_rr_refuses(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text;
        unsigned line;
        const char *part;
    } cases[] = {
        {"talk\n@ Foo(0,x)\n", 2, "unknown operation \"Foo\""},
        {"@ Rd(0,x)\n@ Rd 0,x\n", 2, "expected \"Rd(THREAD,NAME)\""},
        {"@ Rd(0,x\n", 1, "expected \"Rd(THREAD,NAME)\""},
        {"@ Rd(0, x)\n", 1, "expected \"Rd(THREAD,NAME)\""},
        {"@ Rd(0)\n", 1, "expected THREAD,NAME, found \"0\""},
        {"@ Rd(0,)\n", 1, "the name of the variable is empty"},
        {"@ Rd(,x)\n", 1, "expected a thread number"},
        {"@ Rd(0,x,y)\n", 1, "expected two names"},
        {"@ Barrier(0,x)\n", 1, "expected three names"},
        {"@ Barrier(0,x,In)\n", 1, "Enter"},
        {"@ Join(0,-1)\n", 1, "expected a thread number, found \"-1\""},
    };

    fixture->settings.format = "rr";
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char place[400];
        assert_int_equal(read_text(fixture, cases[i].text), TMS_ERR_SYNTAX);
        snprintf(place, sizeof(place), "%s:%u: ", fixture->path, cases[i].line);
        assert_has(tms_error(fixture->context), place);
        assert_has(tms_error(fixture->context), cases[i].part);
    }
    assert_int_equal(read_all(fixture, spill(fixture, "t", "@ Rd(0,\0)\n", 10)), TMS_ERR_SYNTAX);
    assert_has(tms_error(fixture->context), ":1: a zero byte");
    assert_int_equal(read_text(fixture, "nothing of interest\n"), TMS_ERR_SYNTAX);
    assert_has(tms_error(fixture->context), "no line is an event");
    assert_reads(fixture, "", "");
    fixture->settings.format = NULL;
}

/* Batches end between lines, however many events these have. */
static void test_rr_many(void **state)
{
    struct fixture *fixture = *state;
    char *text, *expected;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (int i = 0; i < 3000; i++) {
        fputs(i % 5 == 0 ? "@ Wait(0,m)\n@ Sleep(0)\n" : "@ Rd(0,x)\n", out);
    }
    fclose(out);
    out = open_memstream(&expected, &length);
    for (int i = 0; i < 3000; i++) {
        fputs(i % 5 == 0   ? "0|rel(m)\n0|wait(m)\n"
              : i % 5 == 1 ? "0|acq(m)\n0|r(x)\n"
                           : "0|r(x)\n",
              out);
    }
    fclose(out);
    assert_reads(fixture, text, expected);
    free(text);
    free(expected);
}

/* ---- detection ---------------------------------------------------------------------------- */

static void test_detection(void **state)
{
    struct fixture *fixture = *state;
    static const char elf[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\76\0";
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    char text[8192];

    assert_int_equal(read_all(fixture, spill(fixture, "t", elf, sizeof(elf))), TMS_ERR_FORMAT);
    assert_has(tms_error(fixture->context), "is a program, not a trace");
    assert_int_equal(read_all(fixture, spill(fixture, "t", png, sizeof(png))), TMS_ERR_FORMAT);
    assert_int_equal(read_text(fixture, ""), TMS_OK);
    assert_string_equal(fixture->format, "std");

    /* an event of a RoadRunner log after a lot of other lines */
    memset(text, 'a', sizeof(text));
    for (size_t i = 50; i < 4000; i += 50) {
        text[i] = '\n';
    }
    strcpy(text + 4000, "\n@    Rd(0,x)\n");
    assert_reads(fixture, text, "0|r(x)\n");
    assert_string_equal(fixture->format, "rr");

    /* what the user says wins */
    fixture->settings.format = "std";
    assert_int_equal(read_text(fixture, "@ Rd(0,x)\n"), TMS_ERR_SYNTAX);
    fixture->settings.format = "regiontrack";
    assert_int_equal(read_text(fixture, "T1|w(x)|1234\n"), TMS_ERR_SYNTAX);
    assert_has(tms_error(fixture->context), "event 1: unknown opcode");
    fixture->settings.format = NULL;

    size_t count = 0;
    while (tms_format_info(count) != NULL) {
        assert_non_null(tms_format_info(count)->name);
        assert_int_equal(tms_format_info(count)->extension[0], '.');
        count++;
    }
    assert_int_equal(count, 5);
}

/* An incomplete trace is marked as such in every format. */
static void test_loss_is_kept(void **state)
{
    static const struct {
        const char *name, *loss;
    } formats[] = {
        {"t.std", "room ran out here"}, {"t.tms", "room ran out here"}, {"t.rt", "record 2"}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < LENGTH(formats); i++) {
        struct tms_event event = {.kind = TMS_EVENT_WRITE};
        struct tms_writer *writer;
        event.thread = (uint32_t)tms_intern(fixture->context, TMS_CLASS_THREAD, "T1", 2);
        event.target = (uint32_t)tms_intern(fixture->context, TMS_CLASS_VARIABLE, "x", 1);
        const char *path = file(fixture, formats[i].name);
        assert_int_equal(tms_writer_open(fixture->context, path, NULL, &writer), TMS_OK);
        assert_int_equal(tms_writer_write(writer, &event, 1), TMS_OK);
        tms_writer_lost(writer, "room ran out\nhere");
        assert_int_equal(tms_writer_close(writer), TMS_OK);
        assert_int_equal(read_all(fixture, path), TMS_OK);
        assert_has(fixture->text, "|w(");
        assert_has(fixture->loss, formats[i].loss);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_std_accepts),
        cmocka_unit_test(test_std_line_lengths),
        cmocka_unit_test(test_std_every_kind),
        cmocka_unit_test(test_std_where),
        cmocka_unit_test(test_std_where_later),
        cmocka_unit_test(test_std_refuses),
        cmocka_unit_test(test_std_zero_byte),
        cmocka_unit_test(test_std_long_line),
        cmocka_unit_test(test_lenient_counts),
        cmocka_unit_test(test_regiontrack),
        cmocka_unit_test(test_regiontrack_numbers),
        cmocka_unit_test(test_regiontrack_refuses),
        cmocka_unit_test(test_rr),
        cmocka_unit_test(test_rr_halves),
        cmocka_unit_test(test_rr_refuses),
        cmocka_unit_test(test_rr_many),
        cmocka_unit_test(test_detection),
        cmocka_unit_test(test_loss_is_kept),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
