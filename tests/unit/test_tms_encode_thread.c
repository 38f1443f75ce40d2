/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of the native format, encoded on a second thread and on the calling one: the same bytes,
 * or out of memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "trace/tms_encode_thread.h"

#define EVENTS 1000u
#define LEVEL  1

static void fill(struct tms_encode_thread *encoding, uint32_t salt)
{
    struct tms_encode_block *block = tms_encode_thread_filling(encoding);

    block->before = salt;
    block->count = EVENTS;
    for (uint32_t i = 0; i < EVENTS; i++) {
        block->events[i] = (struct tms_event){
            .thread = 1 + i % 3, .target = 1 + i * salt % 50, .kind = TMS_EVENT_WRITE};
    }
}

/* Two blocks, on a thread or in place; the results, one after the other. */
static bool encode_two(struct tms_encode_thread *encoding, bool beside, struct tms_bytes *sections)
{
    for (uint32_t i = 1; i <= 3; i++) {
        uint64_t before;
        const struct tms_bytes *section = tms_encode_thread_wait(encoding, &before);
        if (encoding->failed) {
            return false;
        }
        if (section != NULL) {
            uint8_t *room = tms_bytes_room(sections, section->length);
            assert_non_null(room);
            memcpy(room, section->data, section->length);
            sections->length += section->length;
            assert_int_equal(before, i - 1);
        }
        if (i < 3) {
            fill(encoding, i);
            tms_encode_thread_hand_over(encoding, !beside);
        }
    }
    return true;
}

/* Encoding runs out of memory after so many allocations; 0: never. */
static bool encoded(bool beside, uint64_t fail_after, struct tms_bytes *sections)
{
    struct tms_memory memory = {0};
    struct tms_encode_thread *encoding = calloc(1, sizeof(*encoding));

    assert_non_null(encoding);
    encoding->memory.fail_after = fail_after;
    bool done =
        tms_encode_thread_init(encoding, &memory, LEVEL) && encode_two(encoding, beside, sections);
    assert_true(encoding->worker.runs == (beside && encoding->encoder != NULL));
    tms_encode_thread_free(encoding);
    assert_int_equal(memory.bytes, 0);
    assert_int_equal(encoding->memory.bytes, 0);
    free(encoding);
    return done;
}

static void same_bytes_both_ways(void **state)
{
    struct tms_memory memory = {0};
    struct tms_bytes beside = {.memory = &memory}, here = {.memory = &memory};

    (void)state;
    assert_true(encoded(true, 0, &beside));
    assert_true(encoded(false, 0, &here));
    assert_int_equal(beside.length, here.length);
    assert_memory_equal(beside.data, here.data, here.length);
    tms_bytes_free(&beside);
    tms_bytes_free(&here);
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (int beside = 0; beside < 2; beside++) {
        struct tms_memory memory = {0};
        struct tms_bytes sections = {.memory = &memory};
        uint64_t refused = 0;
        while (!encoded(beside != 0, refused + 1, &sections)) {
            refused++;
            sections.length = 0;
        }
        assert_true(refused > 1); /* by the encoder, and by what it writes to */
        tms_bytes_free(&sections);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_both_ways),
        cmocka_unit_test(memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
