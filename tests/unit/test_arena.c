/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: blocks are disjoint and aligned, and all memory is counted and released. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/arena.h"

#define PIECES 3000

struct piece {
    unsigned char *at;
    size_t bytes;
};

/* All sizes, including 0, and now and then one that fits no chunk. */
static size_t size_of_piece(size_t number)
{
    return number % 1000 == 999 ? 700000 : number * 37 % 301;
}

static void take_pieces(struct tms_arena *arena, struct tms_memory *memory, struct piece *pieces)
{
    for (size_t i = 0; i < PIECES; i++) {
        size_t bytes = size_of_piece(i);
        pieces[i] = (struct piece){tms_arena_take(arena, memory, bytes), bytes};
        assert_non_null(pieces[i].at);
        assert_int_equal((uintptr_t)pieces[i].at % 8, 0);
        memset(pieces[i].at, (int)(i % 251), bytes);
    }
}

/* The contents of a piece are intact after all others have been written. */
static void test_apart(void **state)
{
    static struct piece pieces[PIECES];
    struct tms_memory memory = {0};
    struct tms_arena arena = {0};
    size_t sum = 0;

    (void)state;
    take_pieces(&arena, &memory, pieces);
    for (size_t i = 0; i < PIECES; i++) {
        sum += pieces[i].bytes;
        for (size_t j = 0; j < pieces[i].bytes; j++) {
            assert_int_equal(pieces[i].at[j], i % 251);
        }
    }
    assert_true(memory.bytes >= sum && memory.bytes < 2 * sum);
    tms_arena_clear(&arena, &memory);
    assert_int_equal(memory.bytes, 0);
}

/* Those that begin with a cache line are apart from others as well, zero, and leave no gaps. */
static void test_lines(void **state)
{
    struct tms_memory memory = {0};
    struct tms_arena arena = {0};
    char *last = NULL;
    size_t adjacent = 0;

    (void)state;
    for (size_t i = 0; i < PIECES; i++) {
        size_t bytes = i % 100 == 99 ? 300000 : TMS_LINE * (1 + i % 3);
        char *piece = tms_arena_take_line(&arena, &memory, bytes);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % TMS_LINE, 0);
        for (size_t j = 0; j < bytes; j++) {
            assert_int_equal(piece[j], 0);
        }
        memset(piece, 1, bytes);
        adjacent += piece == last;
        last = piece + bytes;
        if (i % 7 == 6) {
            memset(tms_arena_take(&arena, &memory, 24), 2, 24);
        }
    }
    assert_true(adjacent > PIECES / 2);
    tms_arena_clear(&arena, &memory);
    assert_int_equal(memory.bytes, 0);
}

/* A few pieces take little memory, many take few allocations. */
static void test_growth(void **state)
{
    struct tms_memory memory = {0};
    struct tms_arena arena = {0};
    size_t chunks = 0;

    (void)state;
    assert_non_null(tms_arena_take(&arena, &memory, 1));
    assert_true(memory.bytes <= 2048);
    for (size_t i = 0; i < 100000; i++) {
        uint64_t before = memory.bytes;
        assert_non_null(tms_arena_take(&arena, &memory, 16));
        chunks += memory.bytes != before;
    }
    assert_in_range(chunks, 2, 20);
    tms_arena_clear(&arena, &memory);
    assert_int_equal(memory.bytes, 0);
}

static void test_cleared(void **state)
{
    struct tms_memory memory = {0};
    struct tms_arena arena = {0};

    (void)state;
    tms_arena_clear(&arena, &memory);
    for (int i = 0; i < 3; i++) {
        memset(tms_arena_take(&arena, &memory, 100), i, 100);
        tms_arena_clear(&arena, &memory);
        assert_int_equal(memory.bytes, 0);
    }
}

/* Memory that was allocated already stays valid, and can be freed. */
static void test_out_of_memory(void **state)
{
    struct tms_memory memory = {.fail_after = 2};
    struct tms_arena arena = {0};

    (void)state;
    unsigned char *piece = tms_arena_take(&arena, &memory, 500);
    assert_non_null(piece);
    memset(piece, 7, 500);
    assert_null(tms_arena_take(&arena, &memory, 5000));
    assert_non_null(tms_arena_take(&arena, &memory, 8)); /* there still is room for it */
    assert_int_equal(piece[499], 7);
    tms_arena_clear(&arena, &memory);
    assert_int_equal(memory.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apart),         cmocka_unit_test(test_lines),
        cmocka_unit_test(test_growth),        cmocka_unit_test(test_cleared),
        cmocka_unit_test(test_out_of_memory),
    };

    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
