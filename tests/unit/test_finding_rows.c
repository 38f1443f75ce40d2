/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of results, against one that looks at every pair of rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/finding_rows.h"

#define BLOCKS 4
#define ROWS   8
#define CASES  3000

static uint64_t state = 1;

static unsigned below(unsigned bound)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % bound;
}

static void make(struct tms_finding_rows *rows)
{
    static const char *const blocks[BLOCKS] = {"", "deposit", "move_in", "sell"};
    static const char *const ids[BLOCKS] = {"AV-1", "AV-2", "AV-3", "AV-4"};

    for (unsigned count = below(ROWS + 1); count > 0; count--) {
        struct tms_finding_row row = {.id = ids[below(BLOCKS)],
                                      .block = blocks[below(BLOCKS)],
                                      .variable = "x",
                                      .patterns = "",
                                      .place = "",
                                      .level = (enum tms_level)below(3),
                                      .evidence = (enum tms_evidence)below(3),
                                      .suppressed = below(6) == 0};
        assert_true(tms_finding_rows_add(rows, &row));
    }
}

static const char *key_of(const struct tms_finding_row *row)
{
    return row->block[0] != '\0' ? row->block : row->id;
}

/* The highest level of a block among the compared rows; -1: it is not there. */
static int level_in(const struct tms_finding_rows *rows, const char *key,
                    const struct tms_row_filter *filter)
{
    int level = -1;

    for (size_t i = 0; i < rows->count; i++) {
        const struct tms_finding_row *row = &rows->at[i];
        bool part = !row->suppressed && (row->level != TMS_LEVEL_NOTE || filter->notes) &&
                    (row->evidence == TMS_EVIDENCE_OBSERVED || filter->predicted);
        if (part && strcmp(key_of(row), key) == 0 && (int)row->level > level) {
            level = (int)row->level;
        }
    }
    return level;
}

static enum tms_row_change change_of(int before, int after)
{
    return after < 0        ? TMS_ROW_GONE
           : before < 0     ? TMS_ROW_NEW
           : after > before ? TMS_ROW_WORSE
                            : TMS_ROW_STILL;
}

/* How many blocks of two tables there are. */
static size_t count_blocks(const struct tms_finding_rows *before,
                           const struct tms_finding_rows *after,
                           const struct tms_row_filter *filter)
{
    static const char *const keys[] = {"deposit", "move_in", "sell", "AV-1",
                                       "AV-2",    "AV-3",    "AV-4"};
    size_t count = 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        count += level_in(before, keys[i], filter) >= 0 || level_in(after, keys[i], filter) >= 0;
    }
    return count;
}

static void check(const struct tms_finding_rows *before, const struct tms_finding_rows *after,
                  const struct tms_row_filter *filter)
{
    struct tms_row_differences differences;

    assert_true(tms_finding_rows_compare(before, after, filter, &differences));
    assert_int_equal(differences.count, count_blocks(before, after, filter));
    for (size_t i = 0; i < differences.count; i++) {
        const struct tms_row_difference *it = &differences.at[i];
        int old = level_in(before, key_of(it->row), filter);
        int new = level_in(after, key_of(it->row), filter);
        assert_int_equal(it->change, change_of(old, new));
        assert_int_equal(it->row->level, new >= 0 ? new : old);
        assert_true(i == 0 || differences.at[i - 1].change <= it->change);
    }
    free(differences.at);
}

static void test_random_tables(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < CASES; i++) {
        struct tms_finding_rows before = {0}, after = {0};
        make(&before);
        make(&after);
        check(&before, &after,
              &(struct tms_row_filter){.notes = below(2) != 0, .predicted = below(2) != 0});
        tms_finding_rows_clear(&before);
        tms_finding_rows_clear(&after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_tables)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
