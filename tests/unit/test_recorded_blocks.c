/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap blocks of a spool: which one was nearest to a record, and that the locks in one block don't
 * slow each other down.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "spool/object_names.h"

#define BLOCK UINT64_C(0x10000)

/* A spool that was not read from a file. */
struct fixture {
    struct tms_context *context;
    struct tms_spool spool;
    struct tms_spool_names names;
};

static void set_up(struct fixture *fixture)
{
    *fixture = (struct fixture){.context = tms_context_new(NULL, NULL)};
    assert_non_null(fixture->context);
    assert_int_equal(tms_spool_names_open(&fixture->names, &fixture->spool, fixture->context),
                     TMS_OK);
}

static void tear_down(struct fixture *fixture)
{
    for (size_t type = 0; type < TMS_SPOOL_TYPES; type++) {
        struct tms_spool_list *list = &fixture->spool.lists[type];
        for (size_t i = 0; i < list->count; i++) {
            free((void *)(uintptr_t)list->entries[i].record);
        }
    }
    tms_spool_names_close(&fixture->names);
    tms_spool_close(&fixture->spool);
    tms_context_free(fixture->context);
}

static void add(struct fixture *fixture, enum tms_spool_type type, const void *record, size_t size,
                uint32_t sequence)
{
    struct tms_spool_list *list = &fixture->spool.lists[type];
    struct tms_spool_record *copy = malloc(size);

    assert_non_null(copy);
    assert_true(TMS_RESERVE(NULL, &list->entries, &list->capacity, list->count + 1, 64));
    memcpy(copy, record, size);
    *copy = (struct tms_spool_record){type, (uint32_t)size};
    list->entries[list->count++] = (struct tms_spool_entry){.record = copy, .sequence = sequence};
}

static void add_block(struct fixture *fixture, uint32_t sequence, uint64_t address, uint64_t size,
                      uint32_t site)
{
    const struct tms_spool_heap heap = {.address = address, .size = size, .site = site};

    add(fixture, TMS_SPOOL_HEAP, &heap, sizeof(heap), sequence);
}

/* ---- the nearest one ----------------------------------------------------------------------- */

/* The sequence of the block that is nearest to a record; 0: there is none. */
static uint32_t nearest(struct fixture *fixture, uint32_t sequence, uint64_t address)
{
    const struct tms_recorded_block *block =
        tms_recorded_block_near(&fixture->names, sequence, address);

    return block != NULL ? block->sequence : 0;
}

static void blocks_may_take_turns_at_an_address(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    add_block(&fixture, 10, BLOCK, 64, 1);
    add_block(&fixture, 20, BLOCK, 64, 2);
    add_block(&fixture, 30, BLOCK, 64, 1);
    add_block(&fixture, 40, BLOCK, 16, 1); /* it was made smaller */
    add_block(&fixture, 50, BLOCK, 64, 1);
    add_block(&fixture, 24, BLOCK - 32, 48, 3);
    const struct {
        uint32_t sequence, wanted;
        uint64_t offset;
    } cases[] = {
        {1, 10, 0},   {14, 10, 63}, {16, 20, 63}, {21, 20, 8},      {23, 24, 8},     {23, 20, 16},
        {26, 30, 16}, {39, 40, 15}, {39, 30, 16}, {44, 40, 0},      {46, 50, 0},     {46, 50, 16},
        {99, 50, 0},  {30, 0, 64},  {30, 0, 100}, {30, 24, -32ull}, {30, 0, -33ull},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(nearest(&fixture, cases[i].sequence, BLOCK + cases[i].offset),
                         cases[i].wanted);
    }
    tear_down(&fixture);
}

/* The distance of the nearest block that contains the address, of all of them. */
static uint32_t least_distance(const struct tms_recorded_blocks *recorded, uint32_t sequence,
                               uint64_t address)
{
    uint32_t least = UINT32_MAX;

    for (size_t i = 0; i < recorded->count; i++) {
        const struct tms_recorded_block *block = &recorded->by_address[i];
        uint32_t distance =
            (uint32_t)labs((long)block->sequence - (long)sequence); /* both are small */
        if (address - block->address < block->size && distance < least) {
            least = distance;
        }
    }
    return least;
}

static void the_nearest_of_many_blocks_is_found(void **state)
{
    struct fixture fixture;
    uint64_t seed = 1;

    (void)state;
    set_up(&fixture);
    for (uint32_t i = 1; i <= 2000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        add_block(&fixture, 3 * i, BLOCK + (seed >> 33) % 8 * 16, 16 + (seed >> 40) % 3 * 16,
                  (uint32_t)(seed >> 50) % 3);
    }
    for (uint32_t sequence = 0; sequence < 6100; sequence += 7) {
        uint64_t address = BLOCK + sequence % 170;
        const struct tms_recorded_block *block =
            tms_recorded_block_near(&fixture.names, sequence, address);
        uint32_t wanted = least_distance(&fixture.names.recorded, sequence, address);
        if (block == NULL) {
            assert_int_equal(wanted, UINT32_MAX);
            continue;
        }
        assert_true(address - block->address < block->size);
        assert_int_equal(labs((long)block->sequence - (long)sequence), wanted);
    }
    tear_down(&fixture);
}

/* ---- many locks in one block --------------------------------------------------------------- */

#define LOCKS 100000

/* Each lock comes with a record of the block: looking at all of them for each takes a while. */
static void a_block_may_contain_many_locks(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture);
    for (uint32_t i = 0; i < LOCKS; i++) {
        const struct tms_spool_lock lock = {.id = i + 1,
                                            .address = BLOCK + UINT64_C(40) * i,
                                            .heap_address = BLOCK,
                                            .heap_size = UINT64_C(40) * LOCKS};
        add(&fixture, TMS_SPOOL_LOCK, &lock, sizeof(lock), i + 1);
    }
    const struct tms_lock_names *locks = tms_lock_names(&fixture.names);
    assert_non_null(locks);
    for (uint32_t i = 0; i < LOCKS; i += LOCKS / 10) {
        char wanted[64];
        snprintf(wanted, sizeof(wanted), i == 0 ? "heap#1" : "heap#1+%" PRIu32, 40 * i);
        assert_string_equal(tms_name(fixture.context, TMS_CLASS_LOCK, locks->names[i], NULL),
                            wanted);
    }
    tear_down(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_may_take_turns_at_an_address),
        cmocka_unit_test(the_nearest_of_many_blocks_is_found),
        cmocka_unit_test(a_block_may_contain_many_locks),
    };

    return cmocka_run_group_tests_name("recorded blocks", tests, NULL, NULL);
}
