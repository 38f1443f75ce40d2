/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a trace fit for weaving (weave.h), and prints it as STD text.
 *
 *     weave-prepare --seed S     the random trace of the differential test with this seed
 *     weave-prepare TRACE        a trace of any format
 *
 * A program can't do all that a trace can say, so some of it is changed; the result is a trace of
 * its own, and the woven program is compared with `tmesis check` on that.
 *
 * - Functions become blocks, except `main`, which is no block. Every block gets a label of its own,
 *   so that it can be recognized in a report.
 * - A wait is kept where it is between a release of a mutex that was held once and the next acquire
 *   of it, and is moved right after that release: the program has one call for both.
 * - Arrivals and departures are kept where they are pairs.
 * - Re-entrant use of a lock that is also shared is dropped, as pthread_rwlock_t can't do it. It is
 *   no event anyway. So is `escape`.
 * - To the runtime it is no event that memory is allocated or freed. So this is dropped where it
 *   would be one that matters: right after a fork, as with --split=fork a transaction begins there,
 *   and in a thread that does nothing else, as a join with it is ordered after what it does.
 *
 * The location of an event is the number of the function that does it: its own number, or, of the
 * second and third event of a wait and the second of a crossing, that of the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differential/trace.h"
#include "weave.h"

enum keep { KEEP, DROP, PAIRED /* goes on with the call of its thread's event before */ };

struct prepared {
    struct tms_context *context;
    struct tms_trace trace;
    enum keep keep[TMS_TRACE_MOST];
};

static const struct tms_event *event_at(const struct prepared *p, size_t at)
{
    return &p->trace.events[at];
}

/* The thread's next event that is still there, or `count`. */
static size_t next_of_thread(const struct prepared *p, size_t at)
{
    uint32_t thread = event_at(p, at)->thread;

    do {
        at++;
    } while (at < p->trace.count && (event_at(p, at)->thread != thread || p->keep[at] == DROP));
    return at;
}

static bool is(const struct prepared *p, size_t at, enum tms_event_kind kind, uint32_t target)
{
    return at < p->trace.count && event_at(p, at)->kind == kind &&
           (target == 0 || event_at(p, at)->target == target);
}

/* ---- locks ------------------------------------------------------------------------------ */

static bool is_shared(const struct prepared *p, uint32_t lock)
{
    for (size_t i = 0; i < p->trace.count; i++) {
        if (is(p, i, TMS_EVENT_SHARED_ACQUIRE, lock)) {
            return true;
        }
    }
    return false;
}

/* How often the thread of an acquire or release holds the lock besides. */
static unsigned held_besides(const struct prepared *p, size_t at)
{
    const struct tms_event *event = event_at(p, at);
    unsigned held = 0;

    for (size_t i = 0; i < at; i++) {
        if (event_at(p, i)->thread == event->thread) {
            held += is(p, i, TMS_EVENT_ACQUIRE, event->target);
            held -= is(p, i, TMS_EVENT_RELEASE, event->target);
        }
    }
    return held - (event->kind == TMS_EVENT_RELEASE);
}

static void prepare_lock(struct prepared *p, size_t at)
{
    if (is_shared(p, event_at(p, at)->target) && held_besides(p, at) > 0) {
        p->keep[at] = DROP;
    }
}

/* ---- calls of several events -------------------------------------------------------------- */

/* Moves an event to an earlier place. */
static void move_up(struct prepared *p, size_t from, size_t to)
{
    struct tms_event event = p->trace.events[from];
    enum keep keep = p->keep[from];

    memmove(&p->trace.events[to + 1], &p->trace.events[to], (from - to) * sizeof(event));
    memmove(&p->keep[to + 1], &p->keep[to], (from - to) * sizeof(keep));
    p->trace.events[to] = event;
    p->keep[to] = keep;
}

static void prepare_wait(struct prepared *p, size_t at)
{
    uint32_t lock = event_at(p, at)->target;
    size_t wait = next_of_thread(p, at);

    if (!is(p, wait, TMS_EVENT_WAIT, 0)) {
        return;
    }
    size_t again = next_of_thread(p, wait);
    if (is(p, again, TMS_EVENT_ACQUIRE, lock) && held_besides(p, at) == 0 && !is_shared(p, lock)) {
        p->keep[wait] = p->keep[again] = PAIRED;
        move_up(p, wait, at + 1);
    }
}

static void prepare_crossing(struct prepared *p, size_t at)
{
    size_t depart = next_of_thread(p, at);

    if (is(p, depart, TMS_EVENT_DEPART, event_at(p, at)->target)) {
        p->keep[depart] = PAIRED;
    } else {
        p->keep[at] = DROP;
    }
}

/* ---- blocks ----------------------------------------------------------------------------- */

static void prepare_function(struct prepared *p, size_t at)
{
    struct tms_event *event = &p->trace.events[at];
    const char *name = tms_name(p->context, TMS_CLASS_LABEL, event->target, NULL);

    if (strcmp(name, "main") == 0) {
        p->keep[at] = DROP;
    } else {
        event->kind = event->kind == TMS_EVENT_ENTER ? TMS_EVENT_BEGIN : TMS_EVENT_END;
    }
}

static void drop(struct prepared *p, size_t at)
{
    p->keep[at] = DROP;
}

/* A woven program has no atomic accesses except updates. */
static void prepare_atomic(struct prepared *p, size_t at)
{
    struct tms_event *event = &p->trace.events[at];

    event->kind = (uint8_t)(event->kind - TMS_EVENT_ATOMIC_READ + TMS_EVENT_READ);
    event->order = TMS_ORDER_NONE;
}

static bool is_renewal(const struct prepared *p, size_t at)
{
    return is(p, at, TMS_EVENT_ALLOC, 0) || is(p, at, TMS_EVENT_FREE, 0);
}

static void prepare_fork(struct prepared *p, size_t at)
{
    for (size_t next = next_of_thread(p, at); is_renewal(p, next); next = next_of_thread(p, at)) {
        p->keep[next] = DROP;
    }
}

static void prepare_renewal(struct prepared *p, size_t at)
{
    bool alone = true;

    for (size_t i = 0; i < p->trace.count && alone; i++) {
        alone = event_at(p, i)->thread != event_at(p, at)->thread || p->keep[i] == DROP ||
                is_renewal(p, i);
    }
    p->keep[at] = alone ? DROP : KEEP;
}

/*
 * Later passes may rely on what earlier ones have dropped. A wait or a departure that is left is
 * not part of a call.
 */
static const struct {
    enum tms_event_kind kind;
    void (*prepare)(struct prepared *p, size_t at);
} steps[] = {
    {TMS_EVENT_ESCAPE, drop},
    {TMS_EVENT_FENCE, drop},
    {TMS_EVENT_SEND, drop},
    {TMS_EVENT_RECEIVE, drop},
    {TMS_EVENT_ATOMIC_READ, prepare_atomic},
    {TMS_EVENT_ATOMIC_WRITE, prepare_atomic},
    {TMS_EVENT_ATOMIC_UPDATE, prepare_atomic},
    {TMS_EVENT_ENTER, prepare_function},
    {TMS_EVENT_EXIT, prepare_function},
    {TMS_EVENT_ACQUIRE, prepare_lock},
    {TMS_EVENT_RELEASE, prepare_lock},
    {TMS_EVENT_RELEASE, prepare_wait},
    {TMS_EVENT_WAIT, drop},
    {TMS_EVENT_ARRIVE, prepare_crossing},
    {TMS_EVENT_DEPART, drop},
    {TMS_EVENT_FORK, prepare_fork},
    {TMS_EVENT_ALLOC, prepare_renewal},
    {TMS_EVENT_FREE, prepare_renewal},
};

static void prepare(struct prepared *p)
{
    for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
        for (size_t i = 0; i < p->trace.count; i++) {
            if (event_at(p, i)->kind == steps[s].kind && p->keep[i] == KEEP) {
                steps[s].prepare(p, i);
            }
        }
    }
}

/* ---- output ----------------------------------------------------------------------------- */

static void leave_out_dropped(struct prepared *p)
{
    size_t count = 0;

    for (size_t i = 0; i < p->trace.count; i++) {
        if (p->keep[i] != DROP) {
            p->trace.events[count] = p->trace.events[i];
            p->keep[count++] = p->keep[i];
        }
    }
    p->trace.count = count;
}

/* The call that an event belongs to: the thread's last one, if it is paired with that. */
static uint32_t call_of(const struct prepared *p, size_t at)
{
    size_t i = at;

    while (i > 0 && p->keep[at] == PAIRED) {
        i--;
        if (event_at(p, i)->thread == event_at(p, at)->thread) {
            return event_at(p, i)->location;
        }
    }
    return TMS_LOCATION_NUMBER + (uint32_t)at + 1;
}

static void name_events(struct prepared *p)
{
    leave_out_dropped(p);
    for (size_t i = 0; i < p->trace.count; i++) {
        struct tms_event *event = &p->trace.events[i];
        char label[32];
        int length = snprintf(label, sizeof(label), "b%zu", i + 1);
        event->location = call_of(p, i);
        if (event->kind == TMS_EVENT_BEGIN) {
            event->target =
                (uint32_t)tms_intern(p->context, TMS_CLASS_LABEL, label, (size_t)length);
        } else if (event->kind == TMS_EVENT_END) {
            event->target = 0;
        }
    }
}

/* ---- input ------------------------------------------------------------------------------ */

static bool make(struct prepared *p, const char *seed)
{
    struct tms_vocabulary *vocabulary = tms_vocabulary_new(p->context);

    if (vocabulary != NULL) {
        tms_trace_make(vocabulary, strtoull(seed, NULL, 10), &p->trace);
    }
    tms_vocabulary_free(vocabulary);
    return vocabulary != NULL;
}

static bool read_trace(struct prepared *p, const char *path)
{
    struct tms_reader *reader = NULL;
    const struct tms_event *events;
    int64_t count = tms_reader_open(p->context, path, NULL, &reader);

    p->trace.split = TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER;
    while (count == 0 && (count = tms_reader_next(reader, &events)) > 0) {
        if (p->trace.count + (size_t)count > TMS_TRACE_MOST) {
            fprintf(stderr, "weave-prepare: %s has more than %d events\n", path, TMS_TRACE_MOST);
            tms_reader_close(reader);
            return false;
        }
        memcpy(&p->trace.events[p->trace.count], events, (size_t)count * sizeof(*events));
        p->trace.count += (size_t)count;
        count = 0;
    }
    if (count < 0) {
        fprintf(stderr, "weave-prepare: %s\n", tms_error(p->context));
    }
    tms_reader_close(reader);
    return count == 0;
}

int main(int argc, char **argv)
{
    static struct prepared prepared;
    bool random = argc == 3 && strcmp(argv[1], "--seed") == 0;

    if (!random && argc != 2) {
        fprintf(stderr, "usage: weave-prepare --seed S | TRACE\n");
        return 2;
    }
    prepared.context = tms_context_new(NULL, NULL);
    if (prepared.context == NULL ||
        !(random ? make(&prepared, argv[2]) : read_trace(&prepared, argv[1]))) {
        return 2;
    }
    prepare(&prepared);
    name_events(&prepared);
    tms_trace_print(&prepared.trace, prepared.context, stdout);
    tms_context_free(prepared.context);
    return 0;
}
