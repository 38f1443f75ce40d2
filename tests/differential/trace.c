/* SPDX-License-Identifier: Apache-2.0 */
/* Printing and shrinking of short traces; see trace.h. */
#include "trace.h"

#include <string.h>

static void print_event(const struct tms_event *event, const struct tms_context *context, FILE *to)
{
    const char *thread = tms_name(context, TMS_CLASS_THREAD, event->thread, NULL);
    const char *target = tms_name(context, tms_event_class(event->kind), event->target, NULL);
    char number[TMS_NUMBER_SIZE];

    fprintf(to, "%s|%s", thread, tms_event_text(event->kind));
    if (event->target != 0 || event->order != 0) {
        fprintf(to, "(%s%s%s)", target, event->target != 0 && event->order != 0 ? "," : "",
                tms_order_text(event->order));
    }
    fprintf(to, "|%s\n", tms_name(context, TMS_CLASS_LOCATION, event->location, number));
}

static void print_split(unsigned split, FILE *to)
{
    const char *before = "# --split=";

    fputs(split == 0 ? "# --split=none" : "", to);
#define X(name, value, text)                                                                       \
    if ((split & value) != 0) {                                                                    \
        fprintf(to, "%s%s", before, text);                                                         \
        before = ",";                                                                              \
    }
    TMS_SPLITS(X)
#undef X
    fputc('\n', to);
}

void tms_trace_print(const struct tms_trace *trace, const struct tms_context *context, FILE *to)
{
    print_split(trace->split, to);
    for (size_t i = 0; i < trace->count; i++) {
        print_event(&trace->events[i], context, to);
    }
}

static void cut(struct tms_trace *trace, size_t at, size_t count)
{
    memmove(&trace->events[at], &trace->events[at + count],
            (trace->count - at - count) * sizeof(trace->events[0]));
    trace->count -= count;
}

/* One pass with pieces of one length, from the end; true if something went. */
static bool shrink_by(struct tms_trace *trace, size_t length, tms_trace_shows *shows, void *user)
{
    bool smaller = false;

    for (size_t at = trace->count; at-- > 0;) {
        struct tms_trace rest = *trace;
        if (at + length > rest.count) {
            continue;
        }
        cut(&rest, at, length);
        if (shows(user, &rest)) {
            *trace = rest;
            smaller = true;
        }
    }
    return smaller;
}

/* Two events that belong together (acquire and release, begin and end) go only together. */
static bool shrink_pairs(struct tms_trace *trace, tms_trace_shows *shows, void *user)
{
    for (size_t second = 1; second < trace->count; second++) {
        for (size_t first = 0; first < second; first++) {
            struct tms_trace rest = *trace;
            cut(&rest, second, 1);
            cut(&rest, first, 1);
            if (shows(user, &rest)) {
                *trace = rest;
                return true;
            }
        }
    }
    return false;
}

void tms_trace_shrink(struct tms_trace *trace, tms_trace_shows *shows, void *user)
{
    for (size_t length = trace->count / 2; length > 1; length /= 2) {
        shrink_by(trace, length, shows, user);
    }
    while (shrink_by(trace, 1, shows, user) || shrink_pairs(trace, shows, user)) {
    }
}
