/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a judge by id: they are found, visited and removed, and empty pages are released. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/judge.h"

#define LIVE 3 /* threads that live at a time */

static void threads_are_found_by_id(void **state)
{
    static const uint32_t ids[] = {0, 1, TMS_JUDGE_THREAD_PAGE - 1, TMS_JUDGE_THREAD_PAGE, 5000};
    enum { COUNT = sizeof(ids) / sizeof(ids[0]) };
    static struct tms_judge_thread all[COUNT];
    struct tms_judge_threads threads = {0};
    struct tms_memory memory = {0};
    uint32_t id = 0;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_null(tms_judge_thread_at(&threads, ids[i]));
        assert_true(tms_judge_threads_add(&threads, &memory, ids[i], &all[i]));
    }
    assert_null(tms_judge_thread_at(&threads, 2));
    assert_null(tms_judge_thread_at(&threads, UINT32_MAX));
    for (size_t i = 0; i < COUNT; i++) {
        assert_ptr_equal(tms_judge_thread_at(&threads, ids[i]), &all[i]);
        assert_ptr_equal(tms_judge_threads_from(&threads, &id), &all[i]);
        assert_int_equal(id, ids[i]);
        tms_judge_threads_remove(&threads, &memory, id);
    }
    assert_null(tms_judge_threads_from(&threads, &id));
    tms_judge_threads_clear(&threads, &memory);
    assert_int_equal(memory.bytes, 0);
}

/* A hundred thousand threads, of which a few live at a time, need few pages. */
static void memory_is_that_of_living_threads(void **state)
{
    static struct tms_judge_thread thread;
    struct tms_judge_threads threads = {0};
    struct tms_memory memory = {0};
    uint32_t last = 100000;

    (void)state;
    for (uint32_t id = 0; id < last; id++) {
        assert_true(tms_judge_threads_add(&threads, &memory, id, &thread));
        if (id >= LIVE) {
            tms_judge_threads_remove(&threads, &memory, id - LIVE);
        }
    }
    size_t index = threads.capacity * sizeof(*threads.pages);
    assert_true(memory.bytes <= index + 2 * sizeof(struct tms_judge_thread_page));
    for (uint32_t id = last - LIVE; id < last; id++) {
        tms_judge_threads_remove(&threads, &memory, id);
    }
    assert_int_equal(memory.bytes, index);
    tms_judge_threads_clear(&threads, &memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_found_by_id),
        cmocka_unit_test(memory_is_that_of_living_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
