/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a process ends, the judge copies the state of threads that still run. A copy that was torn
 * by its thread is refused and changes nothing, until it is repaired.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/judge.h"

#define OUTER 1
#define INNER 2

/* A thread with two open activations, one of them of a function that has run before. */
struct scene {
    struct tms_memory memory;
    struct tms_judge judge;
    struct tms_judge_thread *t, copy;
    struct tms_judge_open open[8];
    struct tms_judge_function functions[64];
};

static uint32_t object_of(void *user, uint32_t variable)
{
    (void)user;
    return variable;
}

static void set_up(struct scene *scene)
{
    static const struct tms_judge_port port = {.object_of = object_of};

    memset(scene, 0, sizeof(*scene));
    tms_judge_init(&scene->judge, &scene->memory, &port);
    scene->t = tms_judge_thread(&scene->judge, 1);
    assert_non_null(scene->t);
    tms_judge_open(&scene->judge, scene->t, INNER, 0, 1, 0);
    tms_judge_close(&scene->judge, scene->t, 0, 2);
    tms_judge_open(&scene->judge, scene->t, OUTER, 0, 3, 0);
    tms_judge_open(&scene->judge, scene->t, INNER, 0, 4, 0);
    assert_int_not_equal(tms_judge_block(&scene->judge, scene->t, 5), 0); /* makes its node */
    assert_true(scene->t->open_count == 2 && scene->t->function_capacity <= 64);
    scene->copy = *scene->t;
    memcpy(scene->open, scene->t->open, 2 * sizeof(scene->open[0]));
    memcpy(scene->functions, scene->t->functions,
           scene->t->function_capacity * sizeof(scene->functions[0]));
    scene->copy.open = scene->open;
    scene->copy.functions = scene->functions;
}

static struct tms_judge_function *inner_of(struct scene *scene)
{
    return &scene->functions[scene->open[1].function];
}

static bool finishes(struct scene *scene)
{
    bool finished = tms_judge_finish_copy(&scene->judge, &scene->copy, 9);

    tms_judge_clear(&scene->judge);
    return finished;
}

static void a_whole_copy_is_finished(void **state)
{
    struct scene scene;

    (void)state;
    set_up(&scene);
    assert_true(finishes(&scene));
    assert_int_equal(inner_of(&scene)->ended, 2);
}

/* The activation ended after the list was copied, and before its function was. */
static void an_end_between_is_noticed(void **state)
{
    struct scene scene;

    (void)state;
    set_up(&scene);
    inner_of(&scene)->ended++;
    assert_false(finishes(&scene));
    assert_int_equal(inner_of(&scene)->ended, 2);
}

static void counts_that_contradict_each_other_are_noticed(void **state)
{
    struct scene scene;

    (void)state;
    set_up(&scene);
    inner_of(&scene)->counted = inner_of(&scene)->ended + 1;
    assert_false(finishes(&scene));
    set_up(&scene);
    inner_of(&scene)->busy = inner_of(&scene)->ended + 1;
    assert_false(finishes(&scene));
}

static void numbers_out_of_range_are_noticed(void **state)
{
    struct scene scene;

    (void)state;
    set_up(&scene);
    scene.open[1].function = (uint32_t)scene.copy.function_capacity;
    assert_false(finishes(&scene));
    set_up(&scene);
    scene.open[1].node = (uint32_t)scene.judge.nodes.count + 1;
    assert_false(finishes(&scene));
    set_up(&scene);
    scene.copy.busy = scene.copy.open_count + 1;
    assert_false(finishes(&scene));
}

static void an_end_with_a_node_is_noticed(void **state)
{
    struct scene scene;

    (void)state;
    set_up(&scene);
    assert_int_not_equal(scene.open[1].node, 0);
    scene.judge.nodes.at[scene.open[1].node].end = 8;
    inner_of(&scene)->executions++;
    assert_false(finishes(&scene));
    set_up(&scene);
    scene.open[0].node = scene.open[1].node;
    assert_false(finishes(&scene));
}

/* The counts of the functions after a repair. */
static void finishes_repaired(struct scene *scene, uint64_t outer_ended, uint64_t inner_ended)
{
    tms_judge_repair_copy(&scene->judge, &scene->copy);
    assert_true(tms_judge_finish_copy(&scene->judge, &scene->copy, 9));
    assert_int_equal(scene->judge.functions[OUTER].executions, 1);
    assert_int_equal(scene->judge.functions[OUTER].ended, outer_ended);
    assert_int_equal(scene->judge.functions[INNER].executions, 2);
    assert_int_equal(scene->judge.functions[INNER].ended, inner_ended);
    tms_judge_clear(&scene->judge);
}

static void a_whole_copy_needs_no_repair(void **state)
{
    struct scene scene;

    (void)state;
    set_up(&scene);
    finishes_repaired(&scene, 1, 2);
}

static void a_torn_copy_is_repaired(void **state)
{
    struct scene scene;

    (void)state;
    set_up(&scene);
    inner_of(&scene)->ended++;
    finishes_repaired(&scene, 1, 2);
    set_up(&scene);
    inner_of(&scene)->counted = inner_of(&scene)->busy = 7;
    finishes_repaired(&scene, 1, 2);
    set_up(&scene);
    scene.open[0].function = (uint32_t)scene.copy.function_capacity;
    finishes_repaired(&scene, 0, 2);
    set_up(&scene);
    scene.judge.nodes.at[scene.open[1].node].end = 8;
    finishes_repaired(&scene, 1, 1);
    set_up(&scene);
    scene.open[0].node = scene.open[1].node;
    finishes_repaired(&scene, 1, 1);
    set_up(&scene);
    scene.open[2] = scene.open[1]; /* with an activation that has no node between the two */
    scene.open[1] = scene.open[0];
    scene.open[1].node = 0;
    scene.open[0] = scene.open[2];
    scene.copy.open_count = 3;
    finishes_repaired(&scene, 1, 2);
    set_up(&scene);
    scene.copy.busy = scene.copy.settled = 9;
    finishes_repaired(&scene, 1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_copy_is_finished),
        cmocka_unit_test(an_end_between_is_noticed),
        cmocka_unit_test(counts_that_contradict_each_other_are_noticed),
        cmocka_unit_test(numbers_out_of_range_are_noticed),
        cmocka_unit_test(an_end_with_a_node_is_noticed),
        cmocka_unit_test(a_whole_copy_needs_no_repair),
        cmocka_unit_test(a_torn_copy_is_repaired),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
