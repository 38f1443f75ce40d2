/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting by numbers: the order, and what has the same number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/radix_sort.h"

#define MOST 5000

static struct tms_numbered list[MOST], spare[MOST];

/* Numbers of so many bits, of which many are the same if these are few. */
static void fill(size_t count, unsigned bits)
{
    uint64_t seed = count * 97 + bits;

    for (size_t i = 0; i < count; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t number = seed ^ seed >> 33;
        list[i] = (struct tms_numbered){bits == 0 ? 0 : number >> (64 - bits), i};
    }
}

static void check(size_t count, unsigned bits)
{
    static struct tms_numbered before[MOST];

    fill(count, bits);
    memcpy(before, list, sizeof(before));
    tms_numbered_sort(list, spare, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list[i].number, before[list[i].at].number);
        if (i > 0) { /* which also says that each is there once */
            assert_true(list[i - 1].number < list[i].number ||
                        (list[i - 1].number == list[i].number && list[i - 1].at < list[i].at));
        }
    }
}

static void test_order(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 255, 1000, MOST};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        for (unsigned bits = 0; bits <= 64; bits++) {
            check(counts[i], bits);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
    };

    return cmocka_run_group_tests_name("numbered", tests, NULL, NULL);
}
