/* SPDX-License-Identifier: Apache-2.0 */
/* Sets and texts through the engine; see blocks_subject.h. */
#include "blocks_subject.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENTS_MOST (TMS_VIEW_NUMBERS + 2 * TMS_VIEW_TRANSACTIONS)

static void must(bool good, struct tms_context *context)
{
    if (!good) {
        fprintf(stderr, "%s\n", context != NULL ? tms_error(context) : "out of memory");
        exit(2);
    }
}

/* ---- sets ---------------------------------------------------------------------------------- */

static uint32_t name(struct tms_context *context, enum tms_class cls, char letter, size_t number)
{
    char text[16];
    int length = snprintf(text, sizeof(text), "%c%zu", letter, number);
    int64_t id = tms_intern(context, cls, text, (size_t)length);

    must(id > 0, context);
    return (uint32_t)id;
}

static char letter_of(enum tms_class class)
{
    return class == TMS_CLASS_LOCK ? 'l' : class == TMS_CLASS_THREAD ? 'T' : 'x';
}

static struct tms_event event_of(struct tms_context *context,
                                 const struct tms_view_transaction *transaction,
                                 const struct tms_view_action *action, unsigned number)
{
    enum tms_class class = tms_event_class(action->kind);

    return (struct tms_event){
        .thread = name(context, TMS_CLASS_THREAD, 'T', transaction->thread),
        .target = name(context, class, letter_of(class), action->target),
        .location = TMS_LOCATION_NUMBER + number,
        .kind = (uint8_t)action->kind,
    };
}

/* The transactions one after the other; each action has its number as location. */
static size_t make_trace(struct tms_context *context, const struct tms_view_set *set,
                         struct tms_event *events)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++) {
        const struct tms_view_transaction *t = &set->transaction[i];
        struct tms_event edge = {.thread = name(context, TMS_CLASS_THREAD, 'T', t->thread),
                                 .target = name(context, TMS_CLASS_LABEL, 't', i)};
        bool block = !tms_view_orders_threads(t);
        edge.kind = TMS_EVENT_BEGIN;
        events[count] = edge;
        count += block;
        for (size_t j = 0; j < t->count; j++) {
            events[count++] = event_of(context, t, &t->action[j], tms_view_number(set, i, j));
        }
        edge.kind = TMS_EVENT_END;
        events[count] = edge;
        count += block;
    }
    return count;
}

static struct tms_subject start(const struct tms_settings *settings)
{
    struct tms_subject subject = {.context = tms_context_new(NULL, NULL)};

    must(subject.context != NULL &&
             tms_analysis_new(subject.context, settings, &subject.analysis) == TMS_OK,
         subject.context);
    return subject;
}

struct tms_subject tms_subject_of_set(const struct tms_view_set *set, const char *engines,
                                      enum tms_blocks blocks)
{
    struct tms_event events[EVENTS_MOST];
    struct tms_settings settings;

    tms_settings_init(&settings);
    settings.engines = engines;
    settings.blocks = blocks;
    settings.escape = TMS_ESCAPE_OFF;
    settings.all = true;
    struct tms_subject subject = start(&settings);
    size_t count = make_trace(subject.context, set, events);
    must(tms_analysis_feed(subject.analysis, events, count, NULL) == 0 &&
             tms_analysis_finish(subject.analysis) == TMS_OK,
         subject.context);
    subject.result = tms_analysis_result(subject.analysis, 0);
    return subject;
}

void tms_subject_clear(struct tms_subject *subject)
{
    tms_analysis_free(subject->analysis);
    tms_context_free(subject->context);
}

void tms_view_print(const struct tms_view_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct tms_view_transaction *t = &set->transaction[i];
        printf("# t%zu of thread %u:", i, t->thread);
        for (size_t j = 0; j < t->count; j++) {
            printf(" %s(%c%u)", tms_event_text(t->action[j].kind),
                   letter_of(tms_event_class(t->action[j].kind)), t->action[j].target);
        }
        printf("\n");
    }
}

/* ---- texts --------------------------------------------------------------------------------- */

static int write_lines(const char *text)
{
    int file = memfd_create("trace", MFD_CLOEXEC);

    for (const char *at = text; *at != '\0'; at++) {
        must(write(file, *at == ' ' ? "\n" : at, 1) == 1, NULL);
    }
    return file;
}

struct tms_subject tms_subject_of_text(const char *text, const struct tms_settings *settings)
{
    struct tms_subject subject = start(settings);
    const struct tms_reader_settings format = {.format = "std"};
    struct tms_reader *reader;
    char path[32];
    int file = write_lines(text);

    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    must(tms_reader_open(subject.context, path, &format, &reader) == TMS_OK, subject.context);
    must(tms_analysis_read(subject.analysis, reader) == TMS_OK, subject.context);
    tms_reader_close(reader);
    close(file);
    subject.result = tms_analysis_result(subject.analysis, 0);
    return subject;
}

/* ---- TAP ----------------------------------------------------------------------------------- */

static struct {
    unsigned run, failed;
} tests;

void tms_tap(bool good, const char *format, ...)
{
    va_list arguments;

    tests.failed += !good;
    printf("%sok %u - ", good ? "" : "not ", ++tests.run);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

int tms_tap_end(void)
{
    printf("1..%u\n", tests.run);
    return tests.failed == 0 ? 0 : 1;
}
