/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spelling of memory and functions: paths into types, statements that allocate, names of
 * functions and variables. With debug information they are tested on compiled programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/allocation.h"
#include "symbol/spelling.h"
#include "symbol/statement.h"
#include "symbol/types.h"

/* ---- paths -------------------------------------------------------------------------------- */

static const struct tms_type number = {.kind = TMS_TYPE_OTHER, .name = "int", .size = 4};
static const struct tms_type row = {
    .kind = TMS_TYPE_ARRAY, .target = &number, .count = 6, .size = 24};
static const struct tms_type matrix = {
    .kind = TMS_TYPE_ARRAY, .target = &row, .count = 3, .size = 72};
static const struct tms_type open_ended = {.kind = TMS_TYPE_ARRAY, .target = &number};
static const struct tms_member choices[] = {
    {.name = "whole", .size = 4, .type = &number},
    {.name = "row", .size = 24, .type = &row},
};
static const struct tms_type choice = {
    .kind = TMS_TYPE_RECORD, .size = 24, .members = choices, .member_count = 2};
static const struct tms_member hidden_members[] = {
    {.name = "_M_start", .size = 4, .type = &number, .hidden = true},
    {.name = "_M_end", .offset = 4, .size = 4, .type = &number, .hidden = true},
};
static const struct tms_type library = {
    .kind = TMS_TYPE_RECORD, .size = 8, .members = hidden_members, .member_count = 2};
static const struct tms_member base_members[] = {{.name = "id", .size = 4, .type = &number}};
static const struct tms_type base = {
    .kind = TMS_TYPE_RECORD, .name = "base", .size = 8, .members = base_members, .member_count = 1};
static const struct tms_member members[] = {
    {.size = 8, .type = &base, .base = "base"},
    {.name = "id", .offset = 4, .size = 4, .type = &number},
    {.name = "count", .offset = 8, .size = 4, .type = &number},
    {.name = "ready", .offset = 12, .size = 1, .type = &number, .bits = true},
    {.name = "wide", .offset = 12, .size = 3, .type = &number, .bits = true},
    {.offset = 16, .size = 24, .type = &choice},
    {.name = "list", .offset = 40, .size = 8, .type = &library},
    {.name = "rest", .offset = 56, .type = &open_ended},
};
static const struct tms_type record = {.kind = TMS_TYPE_RECORD,
                                       .name = "record",
                                       .size = 56,
                                       .members = members,
                                       .member_count = 8,
                                       .open = true};

static void assert_path(const struct tms_type *type, uint64_t offset, uint64_t bytes,
                        const char *expected)
{
    char path[TMS_PATH_SIZE + 1];

    path[tms_type_path(type, offset, bytes, path)] = '\0';
    assert_string_equal(path, expected);
}

static void paths_into_types(void **state)
{
    (void)state;
    assert_path(NULL, 0, 4, "");
    assert_path(NULL, 12, 4, "+12");
    assert_path(&number, 0, 4, "");
    assert_path(&number, 2, 1, "+2");
    assert_path(&matrix, 0, 4, "[0][0]");
    assert_path(&matrix, 68, 4, "[2][5]");
    assert_path(&matrix, 24, 24, "[1]");
    assert_path(&matrix, 0, 72, "");
    assert_path(&matrix, 80, 4, "+80");
    assert_path(&record, 0, 0, ".base::id");
    assert_path(&record, 4, 4, ".id"); /* in the padding of the base */
    assert_path(&record, 8, 4, ".count");
    assert_path(&record, 12, 1, ".ready,wide");
    assert_path(&record, 13, 1, ".wide+1");
    assert_path(&record, 14, 1, ".wide+2");
    assert_path(&record, 15, 1, "+15");
    assert_path(&record, 16, 4, ".whole");
    assert_path(&record, 16, 24, ".row");
    assert_path(&record, 20, 4, ".row[1]");
    assert_path(&record, 40, 4, ".list");
    assert_path(&record, 44, 4, ".list+4");
    assert_path(&record, 48, 4, "+48");
    assert_path(&record, 64, 4, ".rest[2]");
    assert_path(&record, 0, 56, "");
}

/* A name denotes one place only, whatever is accessed there. */
static void paths_differ(void **state)
{
    char paths[96][TMS_PATH_SIZE + 1];

    (void)state;
    for (uint64_t bytes = 0; bytes <= 8; bytes += 4) {
        for (uint64_t at = 0; at < 96; at++) {
            paths[at][tms_type_path(&record, at, bytes, paths[at])] = '\0';
            for (uint64_t other = 0; other < at; other++) {
                assert_string_not_equal(paths[at], paths[other]);
            }
        }
    }
}

static void paths_into_blocks(void **state)
{
    struct tms_allocation unknown = {0}, one = {.type = &record};
    struct tms_allocation several = {.type = &row, .several = true, .skip = 8};
    char path[TMS_PATH_SIZE + 1];

    (void)state;
    path[tms_allocation_path(&unknown, 8, 4, path)] = '\0';
    assert_string_equal(path, "+8");
    path[tms_allocation_path(&one, 60, 4, path)] = '\0';
    assert_string_equal(path, ".rest[1]");
    path[tms_allocation_path(&several, 8 + 24 + 4, 4, path)] = '\0';
    assert_string_equal(path, "[1][1]");
}

/* ---- statements --------------------------------------------------------------------------- */

/* Reads the statement at a '@' in a text, which is taken out. */
static bool read_at(const char *text, const char *callee, struct tms_statement *statement,
                    char *buffer)
{
    const char *mark = strchr(text, '@');
    size_t before = mark != NULL ? (size_t)(mark - text) : 0;
    struct tms_statement_place place = {.callee = callee};

    memcpy(buffer, text, before);
    strcpy(buffer + before, mark != NULL ? mark + 1 : text);
    place.code.start = place.code.line = buffer;
    place.code.end = buffer + strlen(buffer);
    place.column = mark != NULL ? (unsigned)before + 1 : 0;
    return tms_statement_read(&place, statement);
}

static void assert_words(struct tms_words words, const char *expected)
{
    assert_int_equal(words.length, strlen(expected));
    assert_memory_equal(words.text, expected, words.length);
}

static void statements(void **state)
{
    struct tms_statement found;
    char text[256];

    (void)state;
    assert_true(read_at("f(); struct account *a = @malloc(sizeof(*a)); g();", NULL, &found, text));
    assert_words(found.target, "a");
    assert_int_equal(found.stars, 1);
    assert_int_equal(found.sized.length, 0);
    assert_true(
        read_at("if ((list->items[i + 1].head = @xmalloc(n)) == NULL) {", "xmalloc", &found, text));
    assert_words(found.target, "list->items[i + 1].head");
    assert_true(read_at("return @malloc(n * sizeof(struct account));", NULL, &found, text));
    assert_true(found.returned);
    assert_words(found.sized, "account");
    assert_true(read_at("v.push_back(@new bank::node<int>{1, 2});", NULL, &found, text));
    assert_int_equal(found.new_count, 1);
    assert_words(found.news[0], "node");
    assert_true(read_at("if (a == b) x += @calloc(1, 2);", NULL, &found, text));
    assert_int_equal(found.target.length, 0);
    assert_true(read_at("f(); p = NEW(account); g();", NULL, &found, text)); /* without a column */
    assert_words(found.target, "p");
    assert_false(read_at("p = malloc(1); q = malloc(2);", NULL, &found, text));
    assert_false(read_at("f(); g();", NULL, &found, text));
}

static void code_without_comments(void **state)
{
    char path[] = "/tmp/tmesis-code-XXXXXX";
    FILE *out = fdopen(mkstemp(path), "w");
    struct tms_symbol_texts texts;
    struct tms_source_code code;

    (void)state;
    fputs("# define x \\\n y\na /* new\n\"b */ c = \"; {\\\"\" + '\"'; // z\n d;\n", out);
    fclose(out);
    tms_symbol_texts_open(&texts);
    assert_true(tms_symbol_texts_code(&texts, path, 4, &code));
    assert_string_equal("      c = ", strndupa(code.line, 10));
    for (const char *at = code.start; at < code.end; at++) {
        assert_null(memchr("#\"'{nz", *at, 6));
    }
    assert_false(tms_symbol_texts_code(&texts, path, 9, &code));
    assert_false(tms_symbol_texts_code(&texts, "/nowhere/bank.c", 1, &code));
    tms_symbol_texts_close(&texts);
    unlink(path);
}

/* ---- spelling ----------------------------------------------------------------------------- */

static void functions(void **state)
{
    static const char *const cases[][3] = {
        {"deposit", "deposit", "deposit"},
        {"deposit.constprop.0", "deposit", "deposit"},
        {"deposit.part.0.cold", "deposit", "deposit"},
        {"bank::open(int) const [clone .isra.0]", "bank::open(int) const", "bank::open"},
        {"void put<int>(std::__cxx11::basic_string<char, std::char_traits<char>, "
         "std::allocator<char> > const&)",
         "void put<int>(std::string const&)", "put"},
        {"(anonymous namespace)::run(int)", "(anonymous namespace)::run(int)", "run"},
        {"main::{lambda(int)#2}::operator()(int) const", "main::{lambda#2}(int) const",
         "main::lambda"},
        {"main::$_1::operator()(int) const", "main::{lambda#2}(int) const", "main::lambda"},
        {"set::operator<(set const&) const", "set::operator<(set const&) const", "set::operator<"},
        {"list<int>::operator()(int)", "list<int>::operator()(int)", "list::operator()"},
        {"operator new(unsigned long)", "operator new(unsigned long)", "operator new"},
        {"__cxx_global_var_init.3", "__cxx_global_var_init.3", "static-initializer"},
    };
    struct tms_symbol_texts texts;

    (void)state;
    tms_symbol_texts_open(&texts);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(tms_spelling_function(&texts, cases[i][0]), cases[i][1]);
        assert_string_equal(tms_spelling_brief(&texts, cases[i][1]), cases[i][2]);
    }
    tms_symbol_texts_close(&texts);
}

static void variables(void **state)
{
    struct tms_symbol_texts texts;

    (void)state;
    tms_symbol_texts_open(&texts);
    assert_string_equal(tms_spelling_variable(&texts, "bank::total[abi:cxx11]"), "bank::total");
    assert_string_equal(tms_spelling_variable(&texts, "f(int)::count"), "count");
    assert_string_equal(tms_spelling_variable(&texts, "(anonymous namespace)::secret"), "secret");
    tms_symbol_texts_close(&texts);
}

static void lock_wrappers(void **state)
{
    static const char *const yes[] = {"nni_mtx_lock", "Table::Lock(int)", "lockTable",
                                      "unlock",       "acquire_it",       "MutexUnlock"};
    static const char *const no[] = {"block_read", "deposit_locked", "clock", "run(lock*)", "",
                                     "_"};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        assert_true(tms_spelling_locks(yes[i]));
        assert_false(tms_spelling_locks(no[i]));
    }
}

static void paths_with_detours(void **state)
{
    char directory[] = "/tmp/tmesis-path-XXXXXX", path[256];
    struct tms_symbol_texts texts;

    (void)state;
    assert_non_null(mkdtemp(directory));
    tms_symbol_texts_open(&texts);
    snprintf(path, sizeof(path), "%s/../%s", directory, directory + strlen("/tmp/"));
    assert_string_equal(tms_symbol_texts_path(&texts, path, NULL), directory);
    assert_string_equal(tms_symbol_texts_path(&texts, "/nowhere/x/../bank.c", NULL),
                        "/nowhere/x/../bank.c");
    tms_symbol_texts_close(&texts);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_into_types),
        cmocka_unit_test(paths_differ),
        cmocka_unit_test(paths_into_blocks),
        cmocka_unit_test(statements),
        cmocka_unit_test(code_without_comments),
        cmocka_unit_test(functions),
        cmocka_unit_test(variables),
        cmocka_unit_test(lock_wrappers),
        cmocka_unit_test(paths_with_detours),
    };

    return cmocka_run_group_tests_name("symbol names", tests, NULL, NULL);
}
