/* SPDX-License-Identifier: Apache-2.0 */
/* What engines without accesses are given: events and operations, made into one stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "analysis/sync_filter.h"

/* ---- what comes out ---------------------------------------------------------------------- */

struct picked {
    struct tms_pick pick;
    char text[4096]; /* a word for each operation */
    size_t batches;
};

static const char *const names[TMS_OP_COUNT] = {
#define X(name, cls) #name,
    TMS_OPS(X)
#undef X
};

static void note(void *user, const struct tms_op *ops, size_t count)
{
    struct picked *picked = user;

    picked->batches++;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(picked->text);
        snprintf(picked->text + length, sizeof(picked->text) - length, "%s%s%u.%u/%llu ",
                 names[ops[i].kind], ops[i].flags & TMS_OP_IN_BLOCK ? "*" : "", ops[i].thread,
                 ops[i].target, (unsigned long long)ops[i].event);
    }
}

static void start(struct picked *picked, bool no_ends)
{
    memset(picked, 0, sizeof(*picked));
    tms_pick_init(&picked->pick, no_ends, note, picked);
}

static void expect(struct picked *picked, const char *text)
{
    tms_pick_flush(&picked->pick);
    assert_string_equal(picked->text, text);
    tms_pick_clear(&picked->pick);
    assert_int_equal(picked->pick.memory.bytes, 0);
}

static struct tms_event event_of(uint32_t thread, enum tms_event_kind kind, uint32_t target)
{
    return (struct tms_event){.thread = thread, .target = target, .kind = (uint8_t)kind};
}

static struct tms_op op_of(uint64_t number, uint32_t thread, enum tms_op_kind kind,
                           enum tms_event_kind from, uint32_t target, unsigned flags)
{
    return (struct tms_op){.event = number,
                           .thread = thread,
                           .target = target,
                           .kind = (uint8_t)kind,
                           .event_kind = (uint8_t)from,
                           .flags = (uint8_t)flags};
}

#define EVENTS(picked, number, ...)                                                                \
    do {                                                                                           \
        const struct tms_event list[] = {__VA_ARGS__};                                             \
        tms_pick_events(&(picked)->pick, list, sizeof(list) / sizeof(*list), number);              \
    } while (0)
#define OPS(picked, ...)                                                                           \
    do {                                                                                           \
        const struct tms_op list[] = {__VA_ARGS__};                                                \
        tms_pick_ops(&(picked)->pick, list, sizeof(list) / sizeof(*list));                         \
    } while (0)

/* ---- cases ------------------------------------------------------------------------------- */

static void accesses_are_left_out(void **state)
{
    struct picked picked;

    (void)state;
    start(&picked, false);
    EVENTS(&picked, 7, event_of(1, TMS_EVENT_READ, 1), event_of(1, TMS_EVENT_ACQUIRE, 2),
           event_of(2, TMS_EVENT_WRITE, 1), event_of(1, TMS_EVENT_RELEASE, 2),
           event_of(2, TMS_EVENT_UPDATE, 3));
    OPS(&picked, op_of(12, 1, TMS_OP_FORK, TMS_EVENT_FORK, 3, TMS_OP_IN_BLOCK));
    expect(&picked, "ACQUIRE1.2/8 RELEASE1.2/10 UPDATE2.3/11 FORK*1.3/12 ");
}

/* Those that are atomic stay, and so do their orders. */
static void atomic_accesses_stay(void **state)
{
    struct picked picked;
    const unsigned acquire = TMS_ORDER_ACQUIRE * TMS_OP_ORDER_UNIT;

    (void)state;
    start(&picked, false);
    OPS(&picked, op_of(1, 1, TMS_OP_READ, TMS_EVENT_READ, 3, TMS_OP_IN_BLOCK),
        op_of(2, 1, TMS_OP_READ, TMS_EVENT_READ, 3, acquire | TMS_OP_IN_BLOCK),
        op_of(3, 1, TMS_OP_WRITE, TMS_EVENT_WRITE, 3, 0),
        op_of(4, 2, TMS_OP_WRITE, TMS_EVENT_WRITE, 3, TMS_ORDER_RELAXED * TMS_OP_ORDER_UNIT),
        op_of(5, 2, TMS_OP_FENCE, TMS_EVENT_FENCE, 0, acquire));
    assert_int_equal(TMS_OP_ORDER_OF(&picked.pick.ops[1]), TMS_ORDER_ACQUIRE);
    assert_int_equal(TMS_OP_ORDER_OF(&picked.pick.ops[2]), TMS_ORDER_RELAXED);
    expect(&picked, "READ*1.3/2 WRITE2.3/4 ");
}

static void blocks_nest(void **state)
{
    struct picked picked;

    (void)state;
    start(&picked, false);
    EVENTS(&picked, 1, event_of(1, TMS_EVENT_BEGIN, 5), event_of(2, TMS_EVENT_ACQUIRE, 1),
           event_of(1, TMS_EVENT_ENTER, 6), event_of(1, TMS_EVENT_ACQUIRE, 2),
           event_of(1, TMS_EVENT_EXIT, 6), event_of(1, TMS_EVENT_END, 0),
           event_of(1, TMS_EVENT_RELEASE, 2));
    expect(&picked, "BEGIN*1.5/1 ACQUIRE2.1/2 NEST*1.6/3 ACQUIRE*1.2/4 UNNEST*1.6/5 END*1.5/6 "
                    "RELEASE1.2/7 ");
}

/* Blocks that operations open and close, also not in the order of their nesting. */
static void operations_are_followed(void **state)
{
    struct picked picked;

    (void)state;
    start(&picked, false);
    OPS(&picked, op_of(1, 40, TMS_OP_BEGIN, TMS_EVENT_BEGIN, 5, TMS_OP_IN_BLOCK),
        op_of(2, 40, TMS_OP_NEST, TMS_EVENT_ENTER, 6, TMS_OP_IN_BLOCK),
        op_of(3, 40, TMS_OP_NEST, TMS_EVENT_ENTER, 7, TMS_OP_IN_BLOCK),
        op_of(4, 40, TMS_OP_UNNEST, TMS_EVENT_END, 5, TMS_OP_IN_BLOCK));
    EVENTS(&picked, 5, event_of(40, TMS_EVENT_EXIT, 0), event_of(40, TMS_EVENT_EXIT, 0),
           event_of(40, TMS_EVENT_ENTER, 8));
    expect(&picked, "BEGIN*40.5/1 NEST*40.6/2 NEST*40.7/3 UNNEST*40.5/4 UNNEST*40.7/5 "
                    "END*40.6/6 BEGIN*40.8/7 ");
}

static void splits_leave_blocks_open(void **state)
{
    const unsigned split = TMS_OP_IN_BLOCK | TMS_OP_SYNTHETIC;
    struct picked picked;

    (void)state;
    start(&picked, false);
    EVENTS(&picked, 1, event_of(1, TMS_EVENT_BEGIN, 5), event_of(1, TMS_EVENT_BEGIN, 6));
    OPS(&picked, op_of(3, 1, TMS_OP_END, TMS_EVENT_WAIT, 5, split),
        op_of(3, 1, TMS_OP_BEGIN, TMS_EVENT_WAIT, 5, split),
        op_of(3, 1, TMS_OP_STEP, TMS_EVENT_WAIT, 0, TMS_OP_IN_BLOCK));
    EVENTS(&picked, 4, event_of(1, TMS_EVENT_END, 0), event_of(1, TMS_EVENT_END, 0));
    expect(&picked, "BEGIN*1.5/1 NEST*1.6/2 END*1.5/3 BEGIN*1.5/3 STEP*1.0/3 UNNEST*1.6/4 "
                    "END*1.5/5 ");
}

static void what_is_empty_need_not_begin(void **state)
{
    struct picked picked;

    (void)state;
    start(&picked, true);
    EVENTS(&picked, 1, event_of(1, TMS_EVENT_BEGIN, 5), event_of(1, TMS_EVENT_ENTER, 6),
           event_of(1, TMS_EVENT_ENTER, 7), event_of(1, TMS_EVENT_READ, 1),
           event_of(1, TMS_EVENT_EXIT, 7), event_of(1, TMS_EVENT_EXIT, 6),
           event_of(1, TMS_EVENT_ENTER, 8), event_of(2, TMS_EVENT_ACQUIRE, 1),
           event_of(1, TMS_EVENT_EXIT, 8), event_of(1, TMS_EVENT_END, 5));
    OPS(&picked, op_of(11, 3, TMS_OP_BEGIN, TMS_EVENT_BEGIN, 5, TMS_OP_IN_BLOCK),
        op_of(12, 3, TMS_OP_END, TMS_EVENT_END, 5, TMS_OP_IN_BLOCK));
    expect(&picked, "BEGIN*1.5/1 NEST*1.8/7 ACQUIRE2.1/8 UNNEST*1.8/9 BEGIN*3.5/11 ");
}

/* The begin of another block, or of another thread's, is not its own. */
static void a_block_that_goes_on_has_begun(void **state)
{
    struct picked picked;

    (void)state;
    start(&picked, true);
    EVENTS(&picked, 1, event_of(1, TMS_EVENT_BEGIN, 5), event_of(1, TMS_EVENT_BEGIN, 6),
           event_of(2, TMS_EVENT_BEGIN, 5), event_of(2, TMS_EVENT_BEGIN, 6),
           event_of(1, TMS_EVENT_END, 6));
    expect(&picked, "BEGIN*1.5/1 NEST*1.6/2 BEGIN*2.5/3 NEST*2.6/4 UNNEST*1.6/5 ");
    start(&picked, true);
    EVENTS(&picked, 1, event_of(1, TMS_EVENT_BEGIN, 5), event_of(1, TMS_EVENT_ENTER, 6),
           event_of(1, TMS_EVENT_BEGIN, 7));
    OPS(&picked, op_of(4, 1, TMS_OP_UNNEST, TMS_EVENT_EXIT, 6, TMS_OP_IN_BLOCK));
    EVENTS(&picked, 5, event_of(1, TMS_EVENT_ACQUIRE, 1), event_of(1, TMS_EVENT_END, 7));
    expect(&picked, "BEGIN*1.5/1 NEST*1.6/2 NEST*1.7/3 UNNEST*1.6/4 ACQUIRE*1.1/5 UNNEST*1.7/6 ");
}

/* What has been handed on can't be taken back. */
static void a_nested_block_across_batches_is_told(void **state)
{
    struct picked picked;

    (void)state;
    start(&picked, true);
    EVENTS(&picked, 1, event_of(1, TMS_EVENT_BEGIN, 5), event_of(1, TMS_EVENT_ENTER, 6));
    tms_pick_flush(&picked.pick);
    EVENTS(&picked, 3, event_of(1, TMS_EVENT_EXIT, 6), event_of(1, TMS_EVENT_END, 5));
    expect(&picked, "BEGIN*1.5/1 NEST*1.6/2 UNNEST*1.6/3 ");
}

static void many_come_in_batches(void **state)
{
    static struct tms_event events[3 * TMS_PICK_BATCH];
    static struct picked picked;

    (void)state;
    start(&picked, false);
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        events[i] = event_of(1, i % 2 == 0 ? TMS_EVENT_ACQUIRE : TMS_EVENT_RELEASE, 1);
    }
    tms_pick_events(&picked.pick, events, sizeof(events) / sizeof(*events), 1);
    assert_int_equal(picked.batches, 2);
    tms_pick_flush(&picked.pick);
    assert_int_equal(picked.batches, 3);
    tms_pick_clear(&picked.pick);
}

static void without_memory_it_stops(void **state)
{
    (void)state;
    for (uint64_t after = 1; after <= 2; after++) {
        struct picked picked;
        start(&picked, false);
        picked.pick.memory.fail_after = after;
        EVENTS(&picked, 1, event_of(1, TMS_EVENT_BEGIN, 5), event_of(1, TMS_EVENT_ACQUIRE, 1));
        assert_true(picked.pick.failed);
        OPS(&picked, op_of(3, 1, TMS_OP_FORK, TMS_EVENT_FORK, 3, 0));
        expect(&picked, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_are_left_out),
        cmocka_unit_test(atomic_accesses_stay),
        cmocka_unit_test(blocks_nest),
        cmocka_unit_test(operations_are_followed),
        cmocka_unit_test(splits_leave_blocks_open),
        cmocka_unit_test(what_is_empty_need_not_begin),
        cmocka_unit_test(a_block_that_goes_on_has_begun),
        cmocka_unit_test(a_nested_block_across_batches_is_told),
        cmocka_unit_test(many_come_in_batches),
        cmocka_unit_test(without_memory_it_stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
