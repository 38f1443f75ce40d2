/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines on a second thread: each operation reaches them once and in order, and they find what
 * they find on the feeding thread.
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

#include "analysis/engine_thread.h"
#include "tmesis/tmesis.h"
#include "trace/format.h"

/* ---- by itself ---------------------------------------------------------------------------- */

struct counter {
    uint64_t last;
    bool in_order;
    unsigned pause; /* microseconds, before each piece */
};

static void rest(const struct counter *counter)
{
    if (counter->pause > 0) {
        usleep(counter->pause);
    }
}

static void take_one(struct counter *counter, uint64_t number)
{
    counter->in_order = counter->in_order && number == counter->last + 1;
    counter->last = number;
}

static void take_ops(void *user, const struct tms_op *ops, size_t count)
{
    struct counter *counter = user;

    rest(counter);
    for (size_t i = 0; i < count; i++) {
        take_one(counter, ops[i].event);
    }
}

static uint64_t put_ops(struct tms_engine_thread *thread, uint64_t last, size_t count)
{
    static struct tms_op ops[10000];

    for (size_t i = 0; i < count; i++) {
        ops[i] = (struct tms_op){.event = last + 1 + i, .kind = TMS_OP_ACQUIRE};
    }
    tms_engine_thread_put(thread, ops, count);
    return last + count;
}

/* Pieces are small at first, and large later. */
static void put_many(struct tms_engine_thread *thread, uint64_t total)
{
    uint64_t last = 0;

    for (unsigned turn = 0; last < total; turn++) {
        size_t piece = turn < 4000 ? 1 + turn % 3 : 1 + (size_t)turn * 97 % 10000;
        size_t some = total - last < piece ? (size_t)(total - last) : piece;
        last = put_ops(thread, last, some);
    }
}

static void check_all_taken(uint64_t total, unsigned pause)
{
    struct tms_memory memory = {0};
    struct counter counter = {.in_order = true, .pause = pause};
    struct tms_engine_thread *thread = tms_engine_thread_new(&memory, take_ops, &counter);

    assert_non_null(thread);
    put_many(thread, total);
    tms_engine_thread_finish(thread);
    assert_true(counter.in_order);
    assert_int_equal(counter.last, total);
    tms_engine_thread_free(thread, &memory);
    assert_int_equal(memory.bytes, 0);
}

static void few_are_taken(void **state)
{
    (void)state;
    check_all_taken(0, 0);
    check_all_taken(1, 0);
    check_all_taken(1000, 0);
}

static void many_are_taken(void **state)
{
    (void)state;
    check_all_taken(8192, 0);
    check_all_taken(8193, 0);
    check_all_taken(1000 * 1000, 0);
}

static void a_slow_taker_is_waited_for(void **state)
{
    (void)state;
    check_all_taken(240 * 1000, 2000);
}

/* An abandoned analysis does not wait for the remaining operations. */
static void the_rest_can_be_dropped(void **state)
{
    struct tms_memory memory = {0};
    struct counter counter = {.in_order = true, .pause = 5000};
    struct tms_engine_thread *thread = tms_engine_thread_new(&memory, take_ops, &counter);

    (void)state;
    put_many(thread, 80 * 1000);
    tms_engine_thread_free(thread, &memory);
    assert_true(counter.in_order && counter.last <= 80 * 1000);
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
    char path[32];
};

static uint32_t dice(struct writer *writer, uint32_t sides)
{
    writer->seed = writer->seed * 1664525 + 1013904223;
    return (writer->seed >> 16) % sides;
}

static void put_name(struct writer *writer, unsigned thread, enum tms_event_kind kind,
                     const char *name)
{
    char who[32];
    struct tms_event *event = &writer->events[writer->count++];

    snprintf(who, sizeof(who), "T%u", thread);
    bool ordered = (tms_event_orders(kind) & 1u << TMS_ORDER_NONE) == 0;
    *event = (struct tms_event){.kind = (uint8_t)kind,
                                .order = ordered ? TMS_ORDER_RELAXED : TMS_ORDER_NONE};
    event->thread = (uint32_t)tms_intern(writer->context, TMS_CLASS_THREAD, who, strlen(who));
    event->target =
        (uint32_t)tms_intern(writer->context, tms_event_class(kind), name, strlen(name));
}

static void put(struct writer *writer, unsigned thread, enum tms_event_kind kind, const char *stem,
                uint32_t number)
{
    char name[32];

    snprintf(name, sizeof(name), "%s%u", stem, number);
    put_name(writer, thread, kind, name);
}

/* What is open inside the block of a thread: blocks, functions, and one that is not atomic. */
struct nested {
    uint32_t blocks, functions;
};

static void put_opening(struct writer *writer, unsigned thread, struct nested *nested)
{
    switch (dice(writer, 5)) {
    case 0:
        put_name(writer, thread, TMS_EVENT_ENTER, "main"); /* which is not atomic */
        nested->functions++;
        break;
    case 1:
        put(writer, thread, TMS_EVENT_ENTER, "inner", dice(writer, 5));
        nested->functions++;
        break;
    default:
        put(writer, thread, TMS_EVENT_BEGIN, "inner", dice(writer, 5));
        nested->blocks++;
    }
}

/* Not always the innermost: blocks and functions are closed each for themselves. */
static void put_closing(struct writer *writer, unsigned thread, struct nested *nested)
{
    if (nested->functions > 0 && (nested->blocks == 0 || dice(writer, 2) == 0)) {
        put(writer, thread, TMS_EVENT_EXIT, "inner", 0);
        nested->functions--;
    } else {
        put(writer, thread, TMS_EVENT_END, "inner", 0);
        nested->blocks--;
    }
}

/* Opens or closes something inside the running block; many have nothing in them. */
static void put_nested(struct writer *writer, unsigned thread, struct nested *nested)
{
    uint32_t depth = nested->blocks + nested->functions;

    if (depth > 0 && dice(writer, 2) == 0) {
        put_closing(writer, thread, nested);
    } else if (depth < 3) {
        put_opening(writer, thread, nested);
    }
}

static void put_section(struct writer *writer, unsigned thread, uint32_t lock)
{
    put(writer, thread, TMS_EVENT_ACQUIRE, "L", lock);
    put(writer, thread, TMS_EVENT_READ, "x", lock);
    put(writer, thread, TMS_EVENT_WRITE, "x", lock);
    put(writer, thread, dice(writer, 9) == 0 ? TMS_EVENT_UPDATE : TMS_EVENT_READ, "a", lock);
    if (dice(writer, 40) == 0) {
        put(writer, thread, dice(writer, 2) == 0 ? TMS_EVENT_ATOMIC_READ : TMS_EVENT_ATOMIC_WRITE,
            "flag", dice(writer, 3));
    }
    if (dice(writer, 50) == 0) {
        put(writer, thread, TMS_EVENT_WAIT, "L", lock); /* begins another transaction */
    }
    put(writer, thread, TMS_EVENT_RELEASE, "L", lock);
}

/* Blocks of one to three sections each, which threads take turns with: predictions of all kinds. */
static void put_sections(struct writer *writer)
{
    struct nested nested[THREADS] = {0};
    uint32_t left[THREADS] = {0}, labels = 1;

    while (writer->count + 16 < EVENTS) {
        unsigned thread = dice(writer, THREADS);
        if (left[thread] == 0) {
            labels += dice(writer, 100) == 0; /* now and then a name that is new */
            put(writer, thread, TMS_EVENT_BEGIN, "block", dice(writer, labels));
            left[thread] = 1 + dice(writer, 3);
        }
        if (dice(writer, 2) == 0) {
            put_nested(writer, thread, &nested[thread]);
            continue;
        }
        put_section(writer, thread, dice(writer, 3));
        if (--left[thread] == 0) {
            while (nested[thread].blocks + nested[thread].functions > 0) {
                put_closing(writer, thread, &nested[thread]);
            }
            put(writer, thread, TMS_EVENT_END, "block", 0);
        }
    }
}

/* A file with the same events. */
static void write_file(struct writer *writer)
{
    struct tms_writer_settings settings;
    struct tms_writer *file;

    close(mkstemp(writer->path));
    tms_writer_settings_init(&settings);
    settings.format = "tms";
    assert_int_equal(tms_writer_open(writer->context, writer->path, &settings, &file), TMS_OK);
    assert_int_equal(tms_writer_write(file, writer->events, writer->count), TMS_OK);
    assert_int_equal(tms_writer_close(file), TMS_OK);
}

static void feed(const struct writer *writer, struct tms_analysis *analysis)
{
    for (size_t at = 0, piece = 1; at < writer->count; at += piece) {
        size_t rest = writer->count - at;
        piece = rest < 1 + at % 1500 ? rest : 1 + at % 1500;
        assert_int_equal(tms_analysis_feed(analysis, &writer->events[at], piece, NULL), TMS_OK);
    }
    assert_int_equal(tms_analysis_finish(analysis), TMS_OK);
}

/* The same from the file. */
static void read_file(const struct writer *writer, struct tms_analysis *analysis)
{
    struct tms_reader *reader;

    assert_int_equal(tms_reader_open(writer->context, writer->path, NULL, &reader), TMS_OK);
    assert_int_equal(tms_analysis_read(analysis, reader), TMS_OK);
    tms_reader_close(reader);
}

/* What an engine found, as text. */
static char *found_by(const struct writer *writer, const char *engines, size_t index, bool parallel,
                      void give(const struct writer *, struct tms_analysis *))
{
    struct tms_settings settings;
    struct tms_analysis *analysis;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    tms_settings_init(&settings);
    settings.engines = engines;
    settings.parallel = parallel;
    assert_int_equal(tms_analysis_new(writer->context, &settings, &analysis), TMS_OK);
    give(writer, analysis);
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

/*
 * An engine finds the same on its own (in the fused lane, if it has one), beside others, and on the
 * second thread, from memory and from a file. `engines` are lists with the engine at the index.
 */
static void expect_same(const struct writer *writer, const char *const engines[3],
                        const size_t index[3], size_t least)
{
    char *first = found_by(writer, engines[0], index[0], false, feed);

    assert_true(strlen(first) > least);
    for (int i = 1; i < 12; i++) {
        char *other = found_by(writer, engines[i / 4], index[i / 4], i % 2 == 1,
                               i / 2 % 2 == 0 ? feed : read_file);
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
    static const char *const ordering[] = {"goodlock", "frontier,goodlock",
                                           "frontier,sidetrack,goodlock"};
    /* It draws on the results of others, so these stay the same. */
    static const char *const judging[] = {"frontier,judge,sidetrack", "frontier,judge,sidetrack",
                                          "frontier,judge,goodlock,sidetrack"};
    struct writer writer = {.context = tms_context_new(NULL, NULL),
                            .events = calloc(EVENTS, sizeof(struct tms_event)),
                            .seed = 1,
                            .path = "/tmp/tmesis-thread-XXXXXX"};

    (void)state;
    put_sections(&writer);
    write_file(&writer);
    expect_same(&writer, predicting, (const size_t[]){0, 1, 2}, 1000);
    expect_same(&writer, observing, (const size_t[]){0, 0, 0}, 100);
    expect_same(&writer, ordering, (const size_t[]){0, 1, 2}, 10);
    expect_same(&writer, judging, (const size_t[]){1, 1, 1}, 1000);
    unlink(writer.path);
    free(writer.events);
    tms_context_free(writer.context);
}

/* A reader that an analysis gave up is still good, without the analysis. */
static void the_reader_can_go_on(void **state)
{
    struct writer writer = {.context = tms_context_new(NULL, NULL),
                            .events = calloc(EVENTS, sizeof(struct tms_event)),
                            .seed = 1,
                            .path = "/tmp/tmesis-thread-XXXXXX"};
    struct tms_settings settings;
    struct tms_analysis *analysis;
    struct tms_reader *reader;
    const struct tms_event *events;
    int64_t count;
    uint64_t rest = 0;

    (void)state;
    put_sections(&writer);
    writer.events[EVENTS / 2].kind = TMS_EVENT_FORK; /* of a thread that has begun */
    writer.events[EVENTS / 2].target = writer.events[0].thread;
    write_file(&writer);
    tms_settings_init(&settings);
    settings.engines = "frontier,sidetrack";
    settings.parallel = true;
    assert_int_equal(tms_analysis_new(writer.context, &settings, &analysis), TMS_OK);
    assert_int_equal(tms_reader_open(writer.context, writer.path, NULL, &reader), TMS_OK);
    assert_int_equal(tms_analysis_read(analysis, reader), TMS_ERR_MALFORMED);
    tms_analysis_free(analysis);
    while ((count = tms_reader_next(reader, &events)) > 0) {
        rest += (uint64_t)count;
    }
    assert_in_range(rest, EVENTS / 2 - 3000, EVENTS / 2);
    tms_reader_close(reader);
    unlink(writer.path);
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
        cmocka_unit_test(the_reader_can_go_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
