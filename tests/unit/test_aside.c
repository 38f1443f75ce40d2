/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines that work aside, on a thread of their own: each operation reaches them once and in
 * order, and what they find is what they find when they work alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/aside.h"
#include "tmesis/tmesis.h"

/* ---- by itself ---------------------------------------------------------------------------- */

struct taker {
    uint64_t last;
    bool in_order;
    unsigned pause; /* microseconds, before each batch */
};

static void take(void *user, const struct tms_op *ops, size_t count)
{
    struct taker *taker = user;

    usleep(taker->pause);
    for (size_t i = 0; i < count; i++) {
        taker->in_order = taker->in_order && ops[i].event == taker->last + 1;
        taker->last = ops[i].event;
    }
}

/* Puts `total` operations, in pieces, every third piece by a copy with others in between. */
static void put_many(struct tms_aside *aside, uint64_t total)
{
    static const bool wanted[TMS_OP_COUNT] = {[TMS_OP_ACQUIRE] = true};
    static struct tms_op elsewhere[700];
    uint64_t event = 0;

    for (unsigned turn = 0; event < total; turn++) {
        size_t piece = 1 + turn * 97 % 700, room = piece;
        bool copy = turn % 3 == 0;
        struct tms_op *ops = copy ? elsewhere : tms_aside_room(aside, &room);
        size_t most = total - event < piece ? (size_t)(total - event) : piece;
        most = most < room ? most : room;
        for (size_t i = 0; i < most; i++) {
            bool other = copy && (i + turn) % 5 < 2;
            ops[i] = (struct tms_op){.event = other ? 0 : ++event,
                                     .kind = other ? TMS_OP_READ : TMS_OP_ACQUIRE};
        }
        if (copy) {
            tms_aside_pick(aside, wanted, ops, most);
        } else {
            tms_aside_put(aside, most);
        }
    }
}

static void check_all_taken(uint64_t total, unsigned pause)
{
    struct tms_memory memory = {0};
    struct taker taker = {.in_order = true, .pause = pause};
    struct tms_aside *aside = tms_aside_new(&memory, take, &taker);

    assert_non_null(aside);
    put_many(aside, total);
    tms_aside_finish(aside);
    assert_true(taker.in_order);
    assert_int_equal(taker.last, total);
    tms_aside_free(aside, &memory);
    assert_int_equal(memory.bytes, 0);
}

static void few_are_taken(void **state)
{
    (void)state;
    check_all_taken(0, 0);
    check_all_taken(1, 0);
    check_all_taken(16384, 0);
}

static void many_are_taken(void **state)
{
    (void)state;
    check_all_taken(16385, 0);
    check_all_taken(1000 * 1000, 0);
}

static void a_slow_taker_is_waited_for(void **state)
{
    (void)state;
    check_all_taken(240 * 1000, 2000);
}

/* Whoever gives up half-way need not wait for all that is left. */
static void the_rest_can_be_dropped(void **state)
{
    struct tms_memory memory = {0};
    struct taker taker = {.in_order = true, .pause = 1000};
    struct tms_aside *aside = tms_aside_new(&memory, take, &taker);

    (void)state;
    put_many(aside, 80 * 1000);
    tms_aside_free(aside, &memory);
    assert_true(taker.in_order && taker.last <= 80 * 1000);
    assert_int_equal(memory.bytes, 0);
}

/* ---- in an analysis ----------------------------------------------------------------------- */

#define THREADS 4
#define EVENTS  120000

struct writer {
    struct tms_context *context;
    struct tms_event *events;
    size_t count;
    uint32_t seed;
};

static uint32_t dice(struct writer *writer, uint32_t sides)
{
    writer->seed = writer->seed * 1664525 + 1013904223;
    return (writer->seed >> 16) % sides;
}

static void put(struct writer *writer, unsigned thread, enum tms_event_kind kind, const char *stem,
                uint32_t number)
{
    char name[32];
    struct tms_event *event = &writer->events[writer->count++];

    snprintf(name, sizeof(name), "T%u", thread);
    *event = (struct tms_event){.kind = (uint8_t)kind};
    event->thread = (uint32_t)tms_intern(writer->context, TMS_CLASS_THREAD, name, strlen(name));
    snprintf(name, sizeof(name), "%s%u", stem, number);
    event->target =
        (uint32_t)tms_intern(writer->context, tms_event_class(kind), name, strlen(name));
}

/* Opens or closes a block inside the running one, so that many have nothing in them. */
static void put_nested(struct writer *writer, unsigned thread, uint32_t *depth)
{
    if (*depth > 0 && dice(writer, 2) == 0) {
        put(writer, thread, TMS_EVENT_END, "inner", 0);
        --*depth;
    } else if (*depth < 3) {
        put(writer, thread, TMS_EVENT_BEGIN, "inner", dice(writer, 5));
        ++*depth;
    }
}

/* Blocks of one to three sections each, which threads take turns with: predictions of all kinds. */
static void put_sections(struct writer *writer)
{
    uint32_t left[THREADS] = {0}, depth[THREADS] = {0}, labels = 1;

    while (writer->count + 16 < EVENTS) {
        unsigned thread = dice(writer, THREADS);
        uint32_t lock = dice(writer, 3);
        if (left[thread] == 0) {
            labels += dice(writer, 100) == 0; /* now and then a name that is new */
            put(writer, thread, TMS_EVENT_BEGIN, "block", dice(writer, labels));
            left[thread] = 1 + dice(writer, 3);
        }
        if (dice(writer, 2) == 0) {
            put_nested(writer, thread, &depth[thread]);
            continue;
        }
        put(writer, thread, TMS_EVENT_ACQUIRE, "L", lock);
        put(writer, thread, TMS_EVENT_READ, "x", lock);
        put(writer, thread, TMS_EVENT_WRITE, "x", lock);
        put(writer, thread, dice(writer, 9) == 0 ? TMS_EVENT_UPDATE : TMS_EVENT_READ, "a", lock);
        put(writer, thread, TMS_EVENT_RELEASE, "L", lock);
        if (--left[thread] == 0) {
            for (; depth[thread] > 0; depth[thread]--) {
                put(writer, thread, TMS_EVENT_END, "inner", 0);
            }
            put(writer, thread, TMS_EVENT_END, "block", 0);
        }
    }
}

/* What an engine found, as text. */
static char *predictions(const struct writer *writer, const char *engines, size_t index)
{
    struct tms_settings settings;
    struct tms_analysis *analysis;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    tms_settings_init(&settings);
    settings.engines = engines;
    assert_int_equal(tms_analysis_new(writer->context, &settings, &analysis), TMS_OK);
    for (size_t at = 0, piece = 1; at < writer->count; at += piece) {
        size_t rest = writer->count - at;
        piece = rest < 1 + at % 1500 ? rest : 1 + at % 1500;
        assert_int_equal(tms_analysis_feed(analysis, &writer->events[at], piece, NULL), TMS_OK);
    }
    assert_int_equal(tms_analysis_finish(analysis), TMS_OK);
    const struct tms_result *result = tms_analysis_result(analysis, index);
    fprintf(out, "%s %llu\n", result->engine->name, (unsigned long long)result->violations);
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct tms_finding *finding = &result->findings[i];
        fprintf(out, "%s %s %llu %llu\n", finding->id, finding->kind,
                (unsigned long long)finding->count, (unsigned long long)finding->event);
    }
    fclose(out);
    tms_analysis_free(analysis);
    return text;
}

/* An engine finds the same in each company. */
static void expect_same(const struct writer *writer, const char *const engines[3],
                        const size_t index[3], size_t least)
{
    char *first = predictions(writer, engines[0], index[0]);

    assert_true(strlen(first) > least);
    for (int i = 1; i < 3; i++) {
        char *other = predictions(writer, engines[i], index[i]);
        assert_string_equal(first, other);
        free(other);
    }
    free(first);
}

static void others_change_nothing(void **state)
{
    static const char *const predicting[] = {"sidetrack", "frontier,sidetrack",
                                             "frontier,velodrome,sidetrack"};
    static const char *const observing[] = {"frontier", "frontier,sidetrack", "frontier,velodrome"};
    struct writer writer = {.context = tms_context_new(NULL, NULL),
                            .events = calloc(EVENTS, sizeof(struct tms_event)),
                            .seed = 1};

    (void)state;
    put_sections(&writer);
    expect_same(&writer, predicting, (const size_t[]){0, 1, 2}, 1000);
    expect_same(&writer, observing, (const size_t[]){0, 0, 0}, 100);
    free(writer.events);
    tms_context_free(writer.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_are_taken),
        cmocka_unit_test(many_are_taken),
        cmocka_unit_test(a_slow_taker_is_waited_for),
        cmocka_unit_test(the_rest_can_be_dropped),
        cmocka_unit_test(others_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
