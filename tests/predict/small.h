/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short traces of small numbers, as the tests of the reduction engines make, judge by hand and
 * feed to the library. Threads, variables, locks and barriers count from 0; the object of a number
 * is the variable of that number. Every block has a label of its own.
 */
#ifndef TMS_PREDICT_SMALL_H
#define TMS_PREDICT_SMALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tmesis/tmesis.h"

#define SMALL_EVENTS  128
#define SMALL_THREADS 5
#define SMALL_TARGETS 6

struct small_event {
    uint8_t kind; /* enum tms_event_kind */
    uint8_t thread, target;
};

struct small_trace {
    size_t count;
    struct small_event event[SMALL_EVENTS];
};

/* The result of one engine on a trace. */
struct small_check {
    struct tms_context *context;
    struct tms_analysis *analysis;
    const struct tms_result *result;
};

/* Ends the program if something is wrong with the trace. Settings name the engine. */
struct small_check small_check(const struct small_trace *trace,
                               const struct tms_settings *settings);
/* The same, but the engine runs out of memory after so many allocations; 0: never. */
struct small_check small_check_short(const struct small_trace *trace,
                                     const struct tms_settings *settings, uint64_t allocations);
void small_done(struct small_check *check);

/* A counter of the result; ends the program if there is none of that name. */
uint64_t small_counter(const struct small_check *check, const char *name);

void small_print(const struct small_trace *trace, FILE *to);

static inline bool small_is_access(const struct small_event *event)
{
    return tms_event_class(event->kind) == TMS_CLASS_VARIABLE;
}

static inline bool small_is_lock(const struct small_event *event)
{
    return tms_event_class(event->kind) == TMS_CLASS_LOCK;
}

static inline bool small_takes(const struct small_event *event)
{
    return event->kind == TMS_EVENT_ACQUIRE || event->kind == TMS_EVENT_SHARED_ACQUIRE;
}

#endif
