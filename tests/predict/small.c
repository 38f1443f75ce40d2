/* SPDX-License-Identifier: Apache-2.0 */
/* Short traces; see small.h. */
#include "small.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"

static void give_up(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(2);
}

static uint32_t name(struct tms_context *context, enum tms_class cls, unsigned number)
{
    static const char *const letters[TMS_CLASS_COUNT] = {
        [TMS_CLASS_THREAD] = "T", [TMS_CLASS_VARIABLE] = "x", [TMS_CLASS_LOCK] = "l",
        [TMS_CLASS_LABEL] = "t",  [TMS_CLASS_BARRIER] = "b",  [TMS_CLASS_OBJECT] = "x",
    };
    char text[16];
    int length = snprintf(text, sizeof(text), "%s%u", letters[cls], number);
    int64_t id = tms_intern(context, cls, text, (size_t)length);

    if (id <= 0) {
        give_up(tms_error(context));
    }
    return (uint32_t)id;
}

static size_t make_events(struct tms_context *context, const struct small_trace *trace,
                          struct tms_event *events)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct small_event *event = &trace->event[i];
        bool begins = event->kind == TMS_EVENT_BEGIN;
        bool ends = event->kind == TMS_EVENT_END;
        unsigned target = begins ? (unsigned)i : event->target;
        events[i] = (struct tms_event){
            .thread = name(context, TMS_CLASS_THREAD, event->thread),
            .target = ends ? 0 : name(context, tms_event_class(event->kind), target),
            .location = TMS_LOCATION_NUMBER + (uint32_t)i + 1,
            .kind = event->kind,
        };
    }
    return trace->count;
}

struct small_check small_check_short(const struct small_trace *trace,
                                     const struct tms_settings *settings, uint64_t allocations)
{
    struct small_check check = {.context = tms_context_new(NULL, NULL)};
    struct tms_event events[SMALL_EVENTS];
    size_t count = make_events(check.context, trace, events);

    if (tms_analysis_new(check.context, settings, &check.analysis) != TMS_OK) {
        give_up(tms_error(check.context));
    }
    check.analysis->runs[0].host.memory.fail_after = allocations;
    if (tms_analysis_feed(check.analysis, events, count, NULL) != 0 ||
        tms_analysis_finish(check.analysis) != TMS_OK) {
        small_print(trace, stderr);
        give_up(tms_error(check.context));
    }
    check.result = tms_analysis_result(check.analysis, 0);
    return check;
}

struct small_check small_check(const struct small_trace *trace, const struct tms_settings *settings)
{
    return small_check_short(trace, settings, 0);
}

void small_done(struct small_check *check)
{
    tms_analysis_free(check->analysis);
    tms_context_free(check->context);
}

uint64_t small_counter(const struct small_check *check, const char *wanted)
{
    for (size_t i = 0; i < check->result->counter_count; i++) {
        if (strcmp(check->result->counters[i].name, wanted) == 0) {
            return check->result->counters[i].value;
        }
    }
    give_up(wanted);
    return 0;
}

void small_print(const struct small_trace *trace, FILE *to)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct small_event *event = &trace->event[i];
        fprintf(to, "# %zu: T%u|%s(%u)\n", i + 1, event->thread, tms_event_text(event->kind),
                event->target);
    }
}
