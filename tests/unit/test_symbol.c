/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolizing addresses: of this very program, by its symbol table, and of files that are missing
 * or not programs. Debug information is tested with compiled programs.
 */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/symbol_text.h"
#include "symbol/symbols.h"

int test_variable[4];
uintptr_t test_where(void);

/* Returns an address inside itself. */
__attribute__((noinline)) uintptr_t test_where(void)
{
    return (uintptr_t)&test_where + 2;
}

static int take_bias(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uint64_t *)user = info->dlpi_addr;
    return 1; /* the first is the program itself */
}

static struct tms_symbols *open_self(const char *path)
{
    struct tms_symbols *symbols = tms_symbols_new();
    uint64_t bias = 0;

    assert_non_null(symbols);
    dl_iterate_phdr(take_bias, &bias);
    assert_true(tms_symbols_module(symbols, path, 0, UINT64_MAX, bias));
    return symbols;
}

static void this_program(void **state)
{
    struct tms_symbols *symbols = open_self("/proc/self/exe");
    const struct tms_frame *frames, *again;
    struct tms_datum datum;

    (void)state;
    assert_int_equal(tms_symbols_frames(symbols, test_where(), &frames), 1);
    assert_string_equal(frames[0].function, "test_where");
    assert_false(frames[0].bare);
    assert_int_equal(tms_symbols_frames(symbols, test_where(), &again), 1);
    assert_ptr_equal(frames, again);
    assert_true(tms_symbols_datum(symbols, (uintptr_t)&test_variable[2], &datum));
    assert_string_equal(datum.name, "test_variable");
    assert_int_equal(datum.offset, 2 * sizeof(int));
    assert_false(tms_symbols_datum(symbols, test_where(), &datum));
    tms_symbols_free(symbols);
}

static void files_that_tell_nothing(void **state)
{
    static const char *const paths[] = {"/nowhere/program", "/dev/null", "/proc/self/status", ""};

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct tms_symbols *symbols = tms_symbols_new();
        const struct tms_frame *frames;
        struct tms_datum datum;
        assert_true(tms_symbols_module(symbols, paths[i], 0x10000, 0x20000, 0x10000));
        assert_int_equal(tms_symbols_frames(symbols, 0x11234, &frames), 1);
        assert_true(frames[0].bare);
        assert_non_null(strstr(frames[0].function, "+0x1234"));
        assert_false(tms_symbols_datum(symbols, 0x11234, &datum));
        tms_symbols_free(symbols);
    }
}

/* The file that a damaged spool names may be a pipe without a writer. */
static void files_that_must_not_be_opened(void **state)
{
    struct tms_symbols *symbols = tms_symbols_new();
    const struct tms_frame *frames;
    char directory[] = "/tmp/tmesis-test-XXXXXX", path[64];

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/pipe", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(tms_symbols_module(symbols, path, 0x10000, 0x20000, 0x10000));
    alarm(20);
    assert_int_equal(tms_symbols_frames(symbols, 0x11234, &frames), 1);
    alarm(0);
    assert_true(frames[0].bare);
    tms_symbols_free(symbols);
    unlink(path);
    rmdir(directory);
}

static void addresses_outside_of_all_files(void **state)
{
    struct tms_symbols *symbols = tms_symbols_new();
    const struct tms_frame *frames;

    (void)state;
    for (uint64_t pc = 1; pc < 2000; pc++) {
        assert_int_equal(tms_symbols_frames(symbols, pc << 12, &frames), 1);
    }
    assert_string_equal(frames[0].function, "0x7cf000");
    tms_symbols_free(symbols);
}

static void paths_are_made_short(void **state)
{
    struct tms_symbol_texts texts;
    char path[512];

    (void)state;
    tms_symbol_texts_open(&texts);
    assert_non_null(texts.directory);
    snprintf(path, sizeof(path), "%.400s/./src//bank.c", texts.directory);
    assert_string_equal(tms_symbol_texts_path(&texts, path, NULL), "src/bank.c");
    assert_string_equal(tms_symbol_texts_path(&texts, "/x/y/bank.c", "/x/y"), "bank.c");
    assert_string_equal(tms_symbol_texts_path(&texts, "/x/yy/bank.c", "/x/y"), "/x/yy/bank.c");
    assert_string_equal(tms_symbol_texts_path(&texts, "bank.c", NULL), "bank.c");
    tms_symbol_texts_close(&texts);
}

static void source_lines(void **state)
{
    char path[] = "/tmp/tmesis-source-XXXXXX";
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");
    struct tms_symbol_texts texts;

    (void)state;
    fputs("first\n\n\t  third \x1b[31m line\t\r\nlast", out);
    fclose(out);
    tms_symbol_texts_open(&texts);
    assert_string_equal(tms_symbol_texts_source(&texts, path, 1), "first");
    assert_null(tms_symbol_texts_source(&texts, path, 2));
    assert_string_equal(tms_symbol_texts_source(&texts, path, 3), "third  [31m line");
    assert_string_equal(
        tms_symbol_texts_source(&texts, tms_symbol_texts_full_path(&texts, path + 5, "/tmp"), 4),
        "last");
    assert_null(tms_symbol_texts_source(&texts, path, 5));
    assert_null(tms_symbol_texts_source(&texts, path, 0));
    assert_null(tms_symbol_texts_source(&texts, "/nowhere/bank.c", 1));
    assert_null(tms_symbol_texts_source(&texts, "/tmp", 1));
    tms_symbol_texts_close(&texts);
    unlink(path);
}

static void names_of_other_languages(void **state)
{
    struct tms_symbol_texts texts;

    (void)state;
    tms_symbol_texts_open(&texts);
    assert_string_equal(tms_symbol_texts_demangle(&texts, "deposit"), "deposit");
    assert_string_equal(tms_symbol_texts_demangle(&texts, "_Znonsense"), "_Znonsense");
    if (texts.demangle != NULL) {
        assert_string_equal(tms_symbol_texts_demangle(&texts, "_ZN4bank7depositEi"),
                            "bank::deposit(int)");
    }
    texts.demangle = NULL;
    assert_string_equal(tms_symbol_texts_demangle(&texts, "_ZN4bank7depositEi"),
                        "_ZN4bank7depositEi");
    tms_symbol_texts_close(&texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_program),
        cmocka_unit_test(files_that_tell_nothing),
        cmocka_unit_test(files_that_must_not_be_opened),
        cmocka_unit_test(addresses_outside_of_all_files),
        cmocka_unit_test(paths_are_made_short),
        cmocka_unit_test(source_lines),
        cmocka_unit_test(names_of_other_languages),
    };

    return cmocka_run_group_tests_name("symbol", tests, NULL, NULL);
}
