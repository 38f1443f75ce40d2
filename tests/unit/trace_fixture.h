/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by tests of traces: a temporary directory, whole traces as text, copies from one format to
 * another, and a trace with every kind of event.
 */
#ifndef TMS_TESTS_TRACE_FIXTURE_H
#define TMS_TESTS_TRACE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "tmesis/tmesis.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct fixture {
    char directory[256];
    char path[320]; /* the last one made by file() */
    struct tms_context *context;
    struct tms_reader_settings settings;
    unsigned complaints;
    char complaint[TMS_MESSAGE_SIZE]; /* the last one */
    char *text;                       /* events of the last read_all, a line each */
    size_t text_length;
    char loss[TMS_MESSAGE_SIZE]; /* of the last read_all, "" if none */
    char format[32];             /* as detected */
};

static inline void on_complaint(void *user, const char *message)
{
    struct fixture *fixture = user;

    fixture->complaints++;
    snprintf(fixture->complaint, sizeof(fixture->complaint), "%s", message);
}

static inline int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const char *temporary = getenv("TMPDIR");

    snprintf(fixture->directory, sizeof(fixture->directory), "%s/tmesis-text-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(fixture->directory) == NULL) {
        return -1;
    }
    fixture->context = tms_context_new(on_complaint, fixture);
    *state = fixture;
    return fixture->context == NULL ? -1 : 0;
}

static inline int teardown(void **state)
{
    struct fixture *fixture = *state;
    char command[300];

    snprintf(command, sizeof(command), "rm -r '%s'", fixture->directory);
    int code = system(command);
    tms_context_free(fixture->context);
    free(fixture->text);
    free(fixture);
    return code;
}

/* A file in the fixture's directory; the path lives until the next call. */
static inline const char *file(struct fixture *fixture, const char *name)
{
    snprintf(fixture->path, sizeof(fixture->path), "%s/%s", fixture->directory, name);
    return fixture->path;
}

static inline const char *spill(struct fixture *fixture, const char *name, const void *bytes,
                                size_t length)
{
    const char *path = file(fixture, name);

    unlink(path); /* some file systems take their time to write over a file */
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, length, out), length);
    assert_int_equal(fclose(out), 0);
    return path;
}

/* All bytes of a file, followed by a zero byte; the caller frees them. */
static inline char *slurp(const char *path, size_t *length)
{
    FILE *in = fopen(path, "rb");
    struct stat status;

    assert_non_null(in);
    assert_int_equal(fstat(fileno(in), &status), 0);
    *length = (size_t)status.st_size;
    char *bytes = calloc(1, *length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, in), *length);
    fclose(in);
    return bytes;
}

static inline void render(FILE *out, const struct tms_context *context,
                          const struct tms_event *event)
{
    char number[TMS_NUMBER_SIZE];
    enum tms_class cls = tms_event_class(event->kind);

    fprintf(out, "%s|%s", tms_name(context, TMS_CLASS_THREAD, event->thread, NULL),
            tms_event_text(event->kind));
    if (event->target != 0 || event->order != 0) {
        fprintf(out, "(%s%s%s)", tms_name(context, cls, event->target, NULL),
                event->target != 0 && event->order != 0 ? "," : "", tms_order_text(event->order));
    }
    if (event->location != 0) {
        fprintf(out, "|%s", tms_name(context, TMS_CLASS_LOCATION, event->location, number));
    }
    fputc('\n', out);
}

/* Reads a whole trace into fixture->text: TMS_OK or the code. */
static inline int read_all(struct fixture *fixture, const char *path)
{
    struct tms_reader *reader;
    const struct tms_event *events;
    int64_t count;

    free(fixture->text);
    fixture->text = NULL;
    fixture->loss[0] = '\0';
    fixture->format[0] = '\0';
    FILE *out = open_memstream(&fixture->text, &fixture->text_length);
    assert_non_null(out);
    int code = tms_reader_open(fixture->context, path, &fixture->settings, &reader);
    if (code == TMS_OK) {
        while ((count = tms_reader_next(reader, &events)) > 0) {
            for (int64_t i = 0; i < count; i++) {
                render(out, fixture->context, &events[i]);
            }
        }
        code = (int)count;
        assert_int_equal(tms_reader_next(reader, &events), code);
        const char *loss = tms_reader_loss(reader);
        snprintf(fixture->loss, sizeof(fixture->loss), "%s", loss != NULL ? loss : "");
        snprintf(fixture->format, sizeof(fixture->format), "%s", tms_reader_format(reader));
        tms_reader_close(reader);
    }
    fclose(out);
    if (code != TMS_OK) {
        assert_true(tms_error(fixture->context)[0] != '\0');
    }
    return code;
}

static inline int read_text(struct fixture *fixture, const char *text)
{
    return read_all(fixture, spill(fixture, "trace", text, strlen(text)));
}

#define assert_reads(fixture, given, expected)                                                     \
    do {                                                                                           \
        assert_int_equal(read_text(fixture, given), TMS_OK);                                       \
        assert_string_equal((fixture)->text, expected);                                            \
        assert_string_equal((fixture)->loss, "");                                                  \
    } while (0)

#define assert_has(text, part)                                                                     \
    do {                                                                                           \
        if (strstr(text, part) == NULL) {                                                          \
            fail_msg("\"%s\" has no \"%s\"", text, part);                                          \
        }                                                                                          \
    } while (0)

/* Copies a trace: TMS_OK, or the error code. */
static inline int convert(struct fixture *fixture, const char *from, const char *to,
                          const struct tms_writer_settings *settings)
{
    struct tms_reader *reader;
    struct tms_writer *writer;
    const struct tms_event *events;
    int64_t count;

    int code = tms_reader_open(fixture->context, from, &fixture->settings, &reader);
    if (code != TMS_OK) {
        return code;
    }
    code = tms_writer_open(fixture->context, to, settings, &writer);
    if (code != TMS_OK) {
        tms_reader_close(reader);
        return code;
    }
    while (code == TMS_OK && (count = tms_reader_next(reader, &events)) != 0) {
        code = count < 0 ? (int)count : tms_writer_write(writer, events, (size_t)count);
    }
    int closed = tms_writer_close(writer);
    tms_reader_close(reader);
    return code != TMS_OK ? code : closed;
}

/* One of the orders that a kind has, the next one for the next number. */
static inline enum tms_order some_order(enum tms_event_kind kind, uint64_t number)
{
    enum tms_order order = (enum tms_order)(number % TMS_ORDER_COUNT);

    while ((tms_event_orders(kind) >> order & 1) == 0) {
        order = (enum tms_order)((order + 1) % TMS_ORDER_COUNT);
    }
    return order;
}

/* A trace of many lines with every kind of event, in the form that the writer gives it. */
static inline char *sample(size_t lines, size_t *length)
{
    char *text;
    FILE *out = open_memstream(&text, length);

    assert_non_null(out);
    for (size_t i = 0; i < lines; i++) {
        enum tms_event_kind kind = (enum tms_event_kind)(i % TMS_EVENT_COUNT);
        const char *order = tms_order_text(some_order(kind, i));
        const char *comma = order[0] != '\0' ? "," : "";
        fprintf(out, "%s%zu|%s", i % 3 != 0 ? "T" : "a-rather-long-thread-name-", i % 7,
                tms_event_text(kind));
        if (kind == TMS_EVENT_FENCE) {
            fprintf(out, "(%s)", order);
        } else if (tms_event_class(kind) != TMS_CLASS_NONE &&
                   (kind > TMS_EVENT_END || i % 2 == 0)) {
            fprintf(out, "(%s%zu%s%s)", i % 5 != 0 ? "n" : "std::map<int,long>::find(int)const",
                    i * i, comma, order);
        }
        if (i % 4 != 0) {
            fprintf(out, i % 4 == 1 ? "|%zu" : i % 4 == 2 ? "|0%zu" : "|a file.c:%zu", i * 977);
        }
        fputc('\n', out);
    }
    fclose(out);
    return text;
}

static inline struct tms_event event_of(struct fixture *fixture, const char *thread,
                                        enum tms_event_kind kind, const char *target,
                                        const char *location)
{
    struct tms_context *context = fixture->context;
    struct tms_event event = {.kind = (uint8_t)kind,
                              .order = (uint8_t)some_order(kind, strlen(thread))};

    event.thread = (uint32_t)tms_intern(context, TMS_CLASS_THREAD, thread, strlen(thread));
    if (target != NULL && tms_event_class(kind) != TMS_CLASS_NONE) {
        event.target = (uint32_t)tms_intern(context, tms_event_class(kind), target, strlen(target));
    }
    if (location != NULL) {
        event.location =
            (uint32_t)tms_intern(context, TMS_CLASS_LOCATION, location, strlen(location));
    }
    return event;
}

static inline int write_one(struct fixture *fixture, const char *name, struct tms_event event)
{
    struct tms_writer *writer;

    assert_int_equal(tms_writer_open(fixture->context, file(fixture, name), NULL, &writer), TMS_OK);
    int code = tms_writer_write(writer, &event, 1);
    int again = tms_writer_write(writer, &event, 1);
    if (code != TMS_OK) {
        assert_int_equal(again, code);
    }
    int closed = tms_writer_close(writer);
    return code != TMS_OK ? code : closed;
}

#endif
