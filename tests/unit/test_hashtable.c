/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash table against an array with linear search: random insertion, lookup and clearing, with
 * keys whose hashes collide, and with memory that runs out at every allocation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/hashtable.h"

#define ROWS  4000u
#define STEPS 60000u

struct rows {
    struct tms_memory memory;
    struct tms_hashtable table;
    uint64_t keys[ROWS + 1]; /* from 1 on */
    uint32_t count;
    uint64_t random;
};

static uint64_t draw(struct rows *rows, uint64_t below)
{
    rows->random ^= rows->random << 13;
    rows->random ^= rows->random >> 7;
    rows->random ^= rows->random << 17;
    return rows->random % below;
}

/* Of every eight keys, all have the same hash; the others differ where slots are chosen. */
static uint64_t hash_of(uint64_t key)
{
    return tms_hash(key / 8);
}

static uint32_t search_all(const struct rows *rows, uint64_t key)
{
    for (uint32_t row = 1; row <= rows->count; row++) {
        if (rows->keys[row] == key) {
            return row;
        }
    }
    return 0;
}

static uint32_t search(const struct rows *rows, uint64_t key)
{
    struct tms_hash_walk walk;
    uint32_t row = tms_hash_first(&rows->table, hash_of(key), &walk);

    while (row != 0 && rows->keys[row] != key) {
        row = tms_hash_next(&walk);
    }
    return row;
}

static bool add(struct rows *rows, uint64_t key)
{
    if (!tms_hashtable_add(&rows->table, &rows->memory, hash_of(key), rows->count + 1)) {
        return false;
    }
    rows->keys[++rows->count] = key;
    return true;
}

static void empty(struct rows *rows)
{
    tms_hashtable_empty(&rows->table);
    rows->count = 0;
}

/* Every row is in one slot, and no slot has anything else. */
static void check_slots(const struct rows *rows)
{
    bool seen[ROWS + 1] = {false};
    uint32_t found = 0;

    for (size_t i = 0; i < rows->table.size; i++) {
        uint32_t row = tms_hashtable_row_at(&rows->table, i);
        assert_true(row <= rows->count && !(row != 0 && seen[row]));
        seen[row] = true;
        found += row != 0;
    }
    assert_int_equal(found, rows->count);
    assert_int_equal(found, rows->table.count);
    assert_true(2 * found <= rows->table.size);
}

static void work(struct rows *rows, uint64_t keys, uint64_t lifetime)
{
    for (uint32_t i = 0; i < STEPS; i++) {
        uint64_t key = draw(rows, keys);
        uint32_t row = search(rows, key);
        assert_int_equal(row, search_all(rows, key));
        if (row == 0 && rows->count < ROWS) {
            assert_true(add(rows, key));
        }
        if (draw(rows, lifetime) == 0) {
            check_slots(rows);
            empty(rows);
        }
    }
    check_slots(rows);
}

static void test_random(void **state)
{
    static const struct {
        uint64_t keys, lifetime;
    } forms[] = {{10, 5}, {100, 300}, {1000, 2000}, {3000, STEPS}};

    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        static struct rows rows;
        rows = (struct rows){.random = 88172645463325252u + i};
        work(&rows, forms[i].keys, forms[i].lifetime);
        tms_hashtable_clear(&rows.table, &rows.memory);
        assert_int_equal(rows.memory.bytes, 0);
        assert_int_equal(search(&rows, 1), 0);
    }
}

/* Numbers above the floor run out: emptying begins at 0 again, and no old slot comes to life. */
static void test_numbers_run_out(void **state)
{
    static struct rows rows;

    (void)state;
    rows = (struct rows){.random = 1};
    assert_true(add(&rows, 7));
    empty(&rows);
    assert_true(tms_hashtable_add(&rows.table, &rows.memory, hash_of(9), UINT32_MAX / 2));
    assert_true(tms_hashtable_add(&rows.table, &rows.memory, hash_of(90), UINT32_MAX - 1));
    assert_false(tms_hashtable_add(&rows.table, &rows.memory, hash_of(900), UINT32_MAX));
    empty(&rows);
    assert_int_equal(rows.table.floor, 0);
    for (uint64_t key = 0; key < 100; key++) {
        assert_int_equal(search(&rows, key), 0);
    }
    work(&rows, 100, 50);
    tms_hashtable_clear(&rows.table, &rows.memory);
}

/* A table that can't grow stays as it is, and can be used again once there is memory. */
static void test_memory_short(void **state)
{
    static struct rows rows;

    (void)state;
    for (uint64_t allowed = 1; allowed < 8; allowed++) {
        rows = (struct rows){.memory.fail_after = allowed};
        uint64_t key = 0;
        while (add(&rows, key)) {
            key++;
        }
        assert_int_equal(rows.count, allowed == 1 ? 0 : (size_t)8 << (allowed - 2));
        if (allowed > 1) {
            check_slots(&rows);
        }
        for (uint64_t i = 0; i <= key; i++) {
            assert_int_equal(search(&rows, i), i < key ? i + 1 : 0);
        }
        rows.memory.fail_after = 0;
        assert_true(add(&rows, key));
        check_slots(&rows);
        tms_hashtable_clear(&rows.table, &rows.memory);
        assert_int_equal(rows.memory.bytes, 0);
    }
}

/* An array of fixed size, half of it in use, against the order in which keys came. */
static void test_fixed(void **state)
{
    struct {
        uint64_t key;
        uint32_t value;
    } slots[256] = {{0}};

    (void)state;
    for (uint32_t i = 1; i <= 128; i++) {
        uint64_t key = (uint64_t)i << 40 | 1;
        size_t at =
            (size_t)((char *)TMS_HASH_SLOT_OF(slots, 256, key) - (char *)slots) / sizeof(slots[0]);
        assert_int_equal(slots[at].key, 0);
        slots[at].key = key;
        slots[at].value = i;
    }
    for (uint32_t i = 1; i <= 200; i++) {
        uint64_t key = (uint64_t)i << 40 | 1;
        const uint64_t *slot = TMS_HASH_SLOT_OF(slots, 256, key);
        assert_int_equal(*slot, i <= 128 ? key : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_numbers_run_out),
        cmocka_unit_test(test_memory_short),
        cmocka_unit_test(test_fixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
