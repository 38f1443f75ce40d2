/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording that is not full leaves out: begins and calls in which nothing happens. A scene
 * is a list of events of one thread, as letters: ( ) a block begins and ends, d it is demoted, < >
 * a call and a return, r a read, t a retry, c a clear, s a delay, f a fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spool/prune.h"

static const struct {
    char letter;
    uint8_t kind;
} letters[] = {
    {'(', TMS_EVENT_BEGIN},  {')', TMS_EVENT_END},  {'d', TMS_EVENT_DEMOTE}, {'<', TMS_EVENT_CALL},
    {'>', TMS_EVENT_RETURN}, {'r', TMS_EVENT_READ}, {'t', TMS_EVENT_RETRY},  {'c', TMS_EVENT_CLEAR},
    {'s', TMS_EVENT_DELAY},  {'f', TMS_EVENT_FORK},
};
#define LETTERS (sizeof(letters) / sizeof(letters[0]))

struct output {
    char text[64];
    size_t length;
};

static int take(void *user, const struct tms_event *event)
{
    struct output *output = user;

    for (size_t i = 0; i < LETTERS; i++) {
        if (letters[i].kind == event->kind) {
            output->text[output->length++] = letters[i].letter;
        }
    }
    return TMS_OK;
}

static void assert_left(const char *scene, bool full, const char *expected)
{
    struct tms_prune prune = {.off = full};
    struct output output = {0};

    for (const char *at = scene; *at != '\0'; at++) {
        struct tms_event event = {.thread = 1};
        for (size_t i = 0; i < LETTERS; i++) {
            event.kind = letters[i].letter == *at ? letters[i].kind : event.kind;
        }
        struct tms_prune_thread *thread = tms_prune_thread(&prune, 1);
        assert_non_null(thread);
        assert_int_equal(tms_prune_event(thread, &event, take, &output), TMS_OK);
    }
    assert_string_equal(output.text, expected);
    tms_prune_free(&prune);
}

static void blocks_inside_blocks_need_an_event(void **state)
{
    (void)state;
    assert_left("(())", false, "()");
    assert_left("((r)())", false, "((r))");
    assert_left("(f()())", false, "(f())"); /* what follows on a fork stays */
}

static void calls_need_an_event(void **state)
{
    (void)state;
    assert_left("<<>>", false, "");
    assert_left("<<r><>>", false, "<<r>>");
    assert_left("<(r)>", false, "<(r)>");
    assert_left("(<>)", false, "()");
    assert_left("(<(r)>)", false, "(<(r)>)");
    assert_left("(<)>", false, "()"); /* they need not be nested */
    assert_left("((<)r>)", false, "(<r>)");
}

static void a_block_that_is_demoted_ends_there(void **state)
{
    (void)state;
    assert_left("(rdr>", false, "(rdr>");
    assert_left("(d>", false, "(d>");
    assert_left("((d>)", false, "()"); /* it has never begun */
    assert_left("((dr>)", false, "(<r>)");
    assert_left("((<dr>>)", false, "(<<r>>)");
}

/* A read of the thread's own memory stays where it is the only event. */
static void what_is_for_judge_is_no_event_of_the_thread(void **state)
{
    const struct tms_event clear = {.thread = 1, .kind = TMS_EVENT_CLEAR};
    const struct tms_event fork = {.thread = 1, .kind = TMS_EVENT_FORK};
    struct tms_prune prune = {0};
    struct output output = {0};

    (void)state;
    assert_left("((c)s)", false, "(cs)");
    assert_left("((s))", false, "((s))");
    assert_left("((trt))", false, "((trt))");
    struct tms_prune_thread *thread = tms_prune_thread(&prune, 1);
    assert_non_null(thread);
    tms_prune_event(thread, &clear, take, &output);
    assert_true(tms_prune_keeps(thread));
    tms_prune_event(thread, &fork, take, &output);
    tms_prune_event(thread, &clear, take, &output);
    assert_true(tms_prune_keeps(thread));
    tms_prune_free(&prune);
}

static void a_full_recording_keeps_all(void **state)
{
    (void)state;
    assert_left("<(()<>)(d><c>)>", true, "<(()<>)(d><c>)>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_inside_blocks_need_an_event),
        cmocka_unit_test(calls_need_an_event),
        cmocka_unit_test(a_block_that_is_demoted_ends_there),
        cmocka_unit_test(what_is_for_judge_is_no_event_of_the_thread),
        cmocka_unit_test(a_full_recording_keeps_all),
    };

    return cmocka_run_group_tests_name("prune", tests, NULL, NULL);
}
