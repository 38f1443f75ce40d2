/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte streams of every kind: files, pipes, compressed, truncated or damaged ones, full disks, and
 * memory that runs out.
 */
#include <sys/wait.h>

#include "unit/trace_fixture.h"

/* ---- input -------------------------------------------------------------------------------- */

static void test_input_refuses(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(read_all(fixture, fixture->directory), TMS_ERR_IO);
    assert_has(tms_error(fixture->context), "is a directory");
    assert_int_equal(read_all(fixture, file(fixture, "missing.std")), TMS_ERR_IO);
    assert_has(tms_error(fixture->context), "missing.std: can't be opened: No such file");
    fixture->settings.format = "xml";
    assert_int_equal(read_text(fixture, "T1|w(x)\n"), TMS_ERR_FORMAT);
    assert_has(tms_error(fixture->context), "unknown format \"xml\"");
    assert_has(tms_error(fixture->context), "regiontrack, rr, std");
    fixture->settings.format = NULL;
}

/* A child that writes the bytes into a pipe in pieces; the path of its reading end. */
static pid_t feed(const char *bytes, size_t length, size_t piece, int *end)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        while (length > 0) {
            size_t part = piece < length ? piece : length;
            ssize_t done = write(ends[1], bytes, part);
            if (done <= 0) {
                _exit(1);
            }
            bytes += done;
            length -= (size_t)done;
            if (piece < 100) {
                usleep(20);
            }
        }
        _exit(0);
    }
    close(ends[1]);
    *end = ends[0];
    return child;
}

static void test_pipe(void **state)
{
    struct fixture *fixture = *state;
    static const size_t pieces[] = {1, 7, 4096, 100000};

    for (size_t i = 0; i < LENGTH(pieces); i++) {
        size_t length;
        char *text = sample(pieces[i] < 100 ? 60 : 20000, &length);
        char path[32];
        int end, status;
        pid_t child = feed(text, length, pieces[i], &end);
        snprintf(path, sizeof(path), "/dev/fd/%d", end);
        assert_int_equal(read_all(fixture, path), TMS_OK);
        assert_string_equal(fixture->text, text);
        close(end);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        free(text);
    }
}

static void test_standard_input(void **state)
{
    struct fixture *fixture = *state;
    int end, status;
    int saved = dup(STDIN_FILENO);
    pid_t child = feed("T1|w(x)|1\nbad\n", 14, 14, &end);

    assert_int_equal(dup2(end, STDIN_FILENO), STDIN_FILENO);
    close(end);
    assert_int_equal(read_all(fixture, "-"), TMS_ERR_SYNTAX);
    assert_has(tms_error(fixture->context), "standard input:2: ");
    assert_string_equal(fixture->text, "");
    assert_int_equal(waitpid(child, &status, 0), child);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

/* ---- compression -------------------------------------------------------------------------- */

static const char *const packings[] = {"gz", "zst"};

/* Packs a text with our own writer's output layer: a std trace in a file of that ending. */
static char *pack(struct fixture *fixture, const char *text, const char *packing, size_t *length)
{
    char from[320], to[320];

    snprintf(from, sizeof(from), "%s", spill(fixture, "plain.std", text, strlen(text)));
    snprintf(to, sizeof(to), "%s/packed.std.%s", fixture->directory, packing);
    assert_int_equal(convert(fixture, from, to, NULL), TMS_OK);
    return slurp(to, length);
}

static void test_packed(void **state)
{
    struct fixture *fixture = *state;
    size_t length;
    char *text = sample(30000, &length);

    for (size_t i = 0; i < LENGTH(packings); i++) {
        size_t size;
        char *packed = pack(fixture, text, packings[i], &size);
        assert_true(size < length / 2);
        assert_int_equal(read_all(fixture, spill(fixture, "t", packed, size)), TMS_OK);
        assert_string_equal(fixture->text, text);
        assert_string_equal(fixture->loss, "");
        free(packed);
    }
    free(text);
}

/* Members of both kinds one after the other, empty ones among them, split anywhere in a line. */
static void test_packed_concatenated(void **state)
{
    struct fixture *fixture = *state;
    static const char *const parts[] = {"T1|w(x)|1\n", "", "T1|w(y)|2\nT2|r(z)|3\n"};
    static const char skippable[] = "\x50\x2a\x4d\x18\x04\0\0\0abcd";
    char all[4096];
    size_t used = 0;

    for (size_t i = 0; i < 2 * LENGTH(parts); i++) {
        size_t size;
        char *packed = pack(fixture, parts[i / 2], packings[i % 2], &size);
        memcpy(all + used, packed, size);
        used += size;
        free(packed);
    }
    memcpy(all + used, skippable, sizeof(skippable) - 1);
    used += sizeof(skippable) - 1;
    assert_int_equal(read_all(fixture, spill(fixture, "t", all, used)), TMS_OK);
    assert_string_equal(fixture->text, "T1|w(x)|1\nT1|w(x)|1\nT1|w(y)|2\nT2|r(z)|3\n"
                                       "T1|w(y)|2\nT2|r(z)|3\n");
    assert_string_equal(fixture->loss, "");

    memcpy(all + used, "more", 4);
    assert_int_equal(read_all(fixture, spill(fixture, "t", all, used + 4)), TMS_ERR_SYNTAX);
    assert_has(tms_error(fixture->context), "something that is not compressed follows");
}

/* Truncated anywhere, a compressed trace yields whole lines of its beginning, and says so. */
static void test_packed_cut(void **state)
{
    struct fixture *fixture = *state;
    size_t length;
    char *text = sample(60, &length);

    for (size_t i = 0; i < LENGTH(packings); i++) {
        size_t size;
        char *packed = pack(fixture, text, packings[i], &size);
        for (size_t cut = 4; cut < size; cut++) {
            assert_int_equal(read_all(fixture, spill(fixture, "t", packed, cut)), TMS_OK);
            assert_has(fixture->loss, "the compressed data is cut off");
            assert_true(fixture->text_length <= length);
            assert_memory_equal(fixture->text, text, fixture->text_length);
        }
        /* a second member cut in its magic number */
        char *twice = malloc(size + 1);
        memcpy(twice, packed, size);
        twice[size] = packed[0];
        assert_int_equal(read_all(fixture, spill(fixture, "t", twice, size + 1)), TMS_OK);
        assert_string_equal(fixture->text, text);
        assert_has(fixture->loss, "the compressed data is cut off");
        free(twice);
        free(packed);
    }
    free(text);
}

/* Damaged anywhere, a compressed trace is refused or unchanged; in the middle it is refused. */
static void test_packed_damaged(void **state)
{
    struct fixture *fixture = *state;
    size_t length;
    char *text = sample(60, &length);

    for (size_t i = 0; i < LENGTH(packings); i++) {
        size_t size;
        char *packed = pack(fixture, text, packings[i], &size);
        for (size_t at = 4; at < size; at++) {
            packed[at] ^= 0x55;
            int code = read_all(fixture, spill(fixture, "t", packed, size));
            packed[at] ^= 0x55;
            if (code == TMS_OK && fixture->loss[0] == '\0') {
                assert_string_equal(fixture->text, text);
            }
            if (at == size / 2) {
                assert_int_equal(code, TMS_ERR_SYNTAX);
                assert_has(tms_error(fixture->context), "data is damaged");
            }
        }
        free(packed);
    }
    free(text);
}

/* ---- writers ------------------------------------------------------------------------------ */

static void test_std_round_trip(void **state)
{
    struct fixture *fixture = *state;
    static const char *const endings[] = {"std", "std.gz", "std.zst"};
    size_t length, size;
    char *text = sample(20000, &length);
    char from[320];

    snprintf(from, sizeof(from), "%s", spill(fixture, "from", text, length));
    for (size_t i = 0; i < LENGTH(endings); i++) {
        char name[32], first[320], second[320];
        snprintf(name, sizeof(name), "to.%s", endings[i]);
        snprintf(first, sizeof(first), "%s", file(fixture, name));
        snprintf(second, sizeof(second), "%s", file(fixture, "back.std"));
        assert_int_equal(convert(fixture, from, first, NULL), TMS_OK);
        assert_int_equal(convert(fixture, first, second, NULL), TMS_OK);
        char *back = slurp(second, &size);
        assert_int_equal(size, length);
        assert_memory_equal(back, text, length);
        free(back);
    }
    free(text);
}

static void test_std_writer_escapes(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *thread, *target, *location, *line;
    } cases[] = {
        {"T 1", "x", NULL, "T\\x201|w(x)\n"},
        {"#1", "#x", "a\r", "\\x231|w(#x)|a\\x0d\n"},
        {"T1", "a|b", "one|two", "T1|w(a\\x7cb)|one\\x7ctwo\n"},
        {"T1", "#x", "#a b\rc\t", "T1|w(#x)|#a b\rc\t\n"},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t length = strlen(cases[i].line), size;
        struct tms_event event =
            event_of(fixture, cases[i].thread, TMS_EVENT_WRITE, cases[i].target, cases[i].location);
        assert_int_equal(write_one(fixture, "t.std", event), TMS_OK);
        char *text = slurp(fixture->path, &size);
        assert_int_equal(size, 2 * length); /* write_one writes it twice */
        assert_memory_equal(text + length, cases[i].line, length);
        free(text);
    }
}

static void test_writer_checks_events(void **state)
{
    struct fixture *fixture = *state;
    struct tms_event good = event_of(fixture, "T1", TMS_EVENT_WRITE, "x", NULL);
    struct tms_event bad[5] = {good, good, good, good, good};
    struct tms_writer *writer;

    bad[0].kind = TMS_EVENT_COUNT;
    bad[1].thread = 0;
    bad[2].thread = 1000000;
    bad[3].target = 0;
    bad[4].location = 1000000;
    assert_int_equal(tms_writer_open(fixture->context, file(fixture, "t.std"), NULL, &writer),
                     TMS_OK);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(tms_writer_write(writer, &bad[i], 1), TMS_ERR_ARGUMENT);
    }
    assert_int_equal(tms_writer_write(writer, &good, 1), TMS_OK);
    assert_int_equal(tms_writer_close(writer), TMS_OK);
}

static void test_writer_choices(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *name, *format, *compression;
        int level, code;
        const char *part;
    } cases[] = {
        {"t.rr", NULL, NULL, 0, TMS_ERR_FORMAT, "\"rr\" can be read only; write one of tms"},
        {"t", "rr", NULL, 0, TMS_ERR_FORMAT, "\"rr\" can be read only"},
        {"t.txt", NULL, NULL, 0, TMS_ERR_FORMAT, "does not say which format"},
        {".std", NULL, NULL, 0, TMS_OK, ""},
        {"t.gz", NULL, NULL, 0, TMS_ERR_FORMAT, "does not say which format"},
        {"t.tms.gz", NULL, NULL, 0, TMS_ERR_FORMAT, "compressed by itself"},
        {"t.std", NULL, "xz", 0, TMS_ERR_ARGUMENT, "unknown compression \"xz\""},
        {"t.std.gz", NULL, NULL, 10, TMS_ERR_ARGUMENT, "level 10 is out of range"},
        {"t.std.zst", NULL, NULL, -1, TMS_ERR_ARGUMENT, "level -1 is out of range"},
        {"t.xyz", "xyz", NULL, 0, TMS_ERR_FORMAT, "unknown format \"xyz\""},
        {"none/t.std", NULL, NULL, 0, TMS_ERR_IO, "can't be created: No such file"},
        {"t.txt", "std", NULL, 0, TMS_OK, ""},
        {"t.std.gz", NULL, NULL, 9, TMS_OK, ""},
        {"t.std", NULL, "zst", 19, TMS_OK, ""},
        {"t.rt.zst", NULL, NULL, 1, TMS_OK, ""},
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tms_writer_settings settings;
        struct tms_writer *writer;
        tms_writer_settings_init(&settings);
        settings.format = cases[i].format;
        settings.compression = cases[i].compression;
        settings.level = cases[i].level;
        int code =
            tms_writer_open(fixture->context, file(fixture, cases[i].name), &settings, &writer);
        assert_int_equal(code, cases[i].code);
        if (code == TMS_OK) {
            assert_int_equal(tms_writer_close(writer), TMS_OK);
        } else {
            assert_null(writer);
            assert_has(tms_error(fixture->context), cases[i].part);
        }
    }
}

static void test_full_disk(void **state)
{
    struct fixture *fixture = *state;
    static const char *const compressions[] = {"none", "gz", "zst"};
    size_t length;
    char *text = sample(60000, &length);
    char from[320];

    if (access("/dev/full", W_OK) != 0) {
        free(text);
        skip();
    }
    snprintf(from, sizeof(from), "%s", spill(fixture, "from", text, length));
    free(text);
    for (size_t i = 0; i < LENGTH(compressions); i++) {
        struct tms_writer_settings settings = {.format = "std", .compression = compressions[i]};
        assert_int_equal(convert(fixture, from, "/dev/full", &settings), TMS_ERR_IO);
        assert_has(tms_error(fixture->context), "/dev/full: can't be written: No space left");
    }
}

/* ---- failing allocations ------------------------------------------------------------------ */

static void test_memory_failures(void **state)
{
    struct fixture *fixture = *state;
    static const char *const endings[] = {"std", "std.gz", "std.zst", "rt"};
    const char *text = "1|begin(a)|f.c:1\n2|w(x)|2\n1|r(x)|3\n1|acq(m)\n1|rel(m)\n1|end\n";
    const char *log = "@ Start(0,1)\n@ Rd(1,x) s A.java:3\n@ Join(0,1)\n";
    char from[320], other[320], to[320];

    snprintf(from, sizeof(from), "%s", spill(fixture, "from.std", text, strlen(text)));
    snprintf(other, sizeof(other), "%s", spill(fixture, "from.rr", log, strlen(log)));
    for (size_t i = 0; i < LENGTH(endings) + 1; i++) {
        bool rr = i == LENGTH(endings);
        snprintf(to, sizeof(to), "%s/to.%s", fixture->directory, rr ? "std" : endings[i]);
        int code = TMS_ERR_MEMORY;
        uint64_t allowed = 0;
        while (code != TMS_OK) {
            struct fixture fresh = *fixture;
            fresh.context = tms_context_new(on_complaint, fixture);
            fresh.context->memory.fail_after = ++allowed;
            code = convert(&fresh, rr ? other : from, to, NULL);
            assert_true(code == TMS_OK || code == TMS_ERR_MEMORY);
            tms_context_free(fresh.context);
            assert_true(allowed < 1000);
        }
        assert_true(allowed > 5);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_input_refuses),       cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_standard_input),      cmocka_unit_test(test_packed),
        cmocka_unit_test(test_packed_concatenated), cmocka_unit_test(test_packed_cut),
        cmocka_unit_test(test_packed_damaged),      cmocka_unit_test(test_std_round_trip),
        cmocka_unit_test(test_std_writer_escapes),  cmocka_unit_test(test_writer_checks_events),
        cmocka_unit_test(test_writer_choices),      cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_memory_failures),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
