/* SPDX-License-Identifier: Apache-2.0 */
/* The ways through the sets of events; schedules.h says which there are. */
#include "schedules.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t set;

struct tms_schedules {
    const struct tms_event *events;
    size_t count;
    set needs[TMS_SCHEDULE_MOST];     /* what must have happened before */
    set unlocks[TMS_SCHEDULE_MOST];   /* of an acquire: its release, none if there is none */
    set conflicts[TMS_SCHEDULE_MOST]; /* of an acquire: those of other threads it excludes */
    int32_t *came_by;                 /* by state, cut or not: the last event; -1: not reached */
};

#define NOT_REACHED (-1)
#define START       TMS_SCHEDULE_MOST

static set bit(size_t event)
{
    return (set)1 << event;
}

static bool is_acquire(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_ACQUIRE || event->kind == TMS_EVENT_SHARED_ACQUIRE;
}

static bool is_release(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_RELEASE || event->kind == TMS_EVENT_SHARED_RELEASE;
}

static bool same_lock(const struct tms_event *a, const struct tms_event *b)
{
    return (is_acquire(a) || is_release(a)) && (is_acquire(b) || is_release(b)) &&
           a->target == b->target;
}

/* ---- what a schedule keeps ---------------------------------------------------------------- */

/* Must event `a` always come before the later event `b`? */
static bool is_fixed(const struct tms_event *a, const struct tms_event *b)
{
    if (a->thread == b->thread || (a->kind == TMS_EVENT_FORK && a->target == b->thread) ||
        (b->kind == TMS_EVENT_JOIN && b->target == a->thread)) {
        return true;
    }
    return a->kind == TMS_EVENT_ARRIVE && b->kind == TMS_EVENT_DEPART && a->target == b->target;
}

/* The wait that this acquire comes back from, or `count` if it comes from none. */
static size_t wait_before(const struct tms_schedules *schedules, size_t acquire)
{
    const struct tms_event *events = schedules->events;

    for (size_t i = acquire; i-- > 0;) {
        if (events[i].thread == events[acquire].thread) {
            return events[i].kind == TMS_EVENT_WAIT ? i : schedules->count;
        }
    }
    return schedules->count;
}

static void prepare_acquire(struct tms_schedules *schedules, size_t at)
{
    const struct tms_event *events = schedules->events;
    const struct tms_event *acquire = &events[at];

    for (size_t i = wait_before(schedules, at); i < at; i++) {
        if (is_release(&events[i]) && same_lock(&events[i], acquire)) {
            schedules->needs[at] |= bit(i);
        }
    }
    for (size_t i = 0; i < schedules->count; i++) {
        if (!same_lock(&events[i], acquire)) {
            continue;
        }
        bool both_shared =
            events[i].kind == TMS_EVENT_SHARED_ACQUIRE && acquire->kind == TMS_EVENT_SHARED_ACQUIRE;
        if (events[i].thread != acquire->thread && is_acquire(&events[i]) && !both_shared) {
            schedules->conflicts[at] |= bit(i);
        }
        if (events[i].thread == acquire->thread && is_release(&events[i]) && i > at &&
            schedules->unlocks[at] == 0) {
            schedules->unlocks[at] = bit(i);
        }
    }
}

struct tms_schedules *tms_schedules_new(const struct tms_event *events, size_t count)
{
    struct tms_schedules *schedules = calloc(1, sizeof(*schedules));

    if (schedules == NULL || count > TMS_SCHEDULE_MOST) {
        free(schedules);
        return NULL;
    }
    schedules->events = events;
    schedules->count = count;
    schedules->came_by = malloc(((size_t)2 << count) * sizeof(*schedules->came_by));
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            schedules->needs[i] |= is_fixed(&events[j], &events[i]) ? bit(j) : 0;
        }
        if (is_acquire(&events[i])) {
            prepare_acquire(schedules, i);
        }
    }
    if (schedules->came_by == NULL) {
        free(schedules);
        return NULL;
    }
    return schedules;
}

void tms_schedules_free(struct tms_schedules *schedules)
{
    if (schedules != NULL) {
        free(schedules->came_by);
        free(schedules);
    }
}

static bool may_come(const struct tms_schedules *schedules, set happened, size_t event)
{
    if ((happened & bit(event)) != 0 || (schedules->needs[event] & ~happened) != 0) {
        return false;
    }
    for (size_t i = 0; i < schedules->count; i++) {
        bool held = (happened & bit(i)) != 0 && (schedules->unlocks[i] & happened) == 0;
        if (held && (schedules->conflicts[event] & bit(i)) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* A state with whether the culprit has come where it was wanted. */
static size_t state_of(set happened, bool cut)
{
    return (size_t)happened << 1 | cut;
}

static void write_schedule(const struct tms_schedules *schedules, set happened,
                           const struct tms_cut *cut, struct tms_search *out)
{
    set culprit = bit(cut->culprit - 1);
    bool is_cut = true;

    out->length = 0;
    for (size_t i = 0; i < schedules->count; i++) {
        out->length += (happened & bit(i)) != 0;
    }
    for (size_t at = out->length; at-- > 0;) {
        size_t event = (size_t)schedules->came_by[state_of(happened, is_cut)];
        out->schedule[at] = schedules->events[event];
        happened &= ~bit(event);
        is_cut = is_cut && bit(event) != culprit;
    }
}

/* One step from a state, in every way. */
static void follow(struct tms_schedules *schedules, set happened, bool cut,
                   const struct tms_cut *wanted, struct tms_search *out)
{
    set first = bit(wanted->first - 1), second = bit(wanted->second - 1);
    bool inside = (happened & first) != 0 && (happened & second) == 0;
    bool any = false;

    for (size_t i = 0; i < schedules->count; i++) {
        if (!may_come(schedules, happened, i)) {
            continue;
        }
        set next = happened | bit(i);
        bool next_cut = cut || (inside && i + 1 == wanted->culprit);
        int32_t *came_by = &schedules->came_by[state_of(next, next_cut)];
        *came_by = *came_by == NOT_REACHED ? (int32_t)i : *came_by;
        any = true;
        if (next_cut && bit(i) == second && !out->cut) {
            out->cut = true;
            write_schedule(schedules, next, wanted, out);
        }
    }
    out->stuck = out->stuck || (!any && inside);
}

/* Sets grow with every step, so their own order as numbers is one to go through them in. */
void tms_schedules_search(struct tms_schedules *schedules, const struct tms_cut *cut,
                          struct tms_search *out)
{
    size_t states = (size_t)2 << schedules->count;

    *out = (struct tms_search){0};
    for (size_t i = 0; i < states; i++) {
        schedules->came_by[i] = NOT_REACHED;
    }
    schedules->came_by[state_of(0, false)] = START;
    for (size_t i = 0; i < states; i++) {
        if (schedules->came_by[i] != NOT_REACHED) {
            follow(schedules, (set)(i >> 1), (i & 1) != 0, cut, out);
        }
    }
}

/* ---- serializable ------------------------------------------------------------------------- */

static bool is_access(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_READ || event->kind == TMS_EVENT_WRITE ||
           event->kind == TMS_EVENT_UPDATE;
}

static bool conflict(const struct tms_event *a, const struct tms_event *b)
{
    if (is_fixed(a, b)) {
        return true;
    }
    if (is_access(a) && is_access(b) && a->target == b->target) {
        return a->kind != TMS_EVENT_READ || b->kind != TMS_EVENT_READ;
    }
    bool shared_a = a->kind == TMS_EVENT_SHARED_ACQUIRE || a->kind == TMS_EVENT_SHARED_RELEASE;
    bool shared_b = b->kind == TMS_EVENT_SHARED_ACQUIRE || b->kind == TMS_EVENT_SHARED_RELEASE;
    return same_lock(a, b) && !(shared_a && shared_b);
}

/* The transaction of each event, counted from 0. Returns how many there are. */
static size_t find_transactions(const struct tms_event *events, size_t count, size_t *of)
{
    size_t transactions = 0;

    for (size_t i = 0; i < count; i++) {
        unsigned depth = 0;
        size_t current = 0;
        for (size_t j = 0; j < i; j++) {
            if (events[j].thread == events[i].thread) {
                depth += events[j].kind == TMS_EVENT_BEGIN;
                depth -= events[j].kind == TMS_EVENT_END;
                current = of[j];
            }
        }
        bool splits = events[i].kind == TMS_EVENT_WAIT || events[i].kind == TMS_EVENT_DEPART;
        of[i] = depth > 0 && !splits ? current : transactions++;
    }
    return transactions;
}

bool tms_schedule_serializable(const struct tms_event *events, size_t count)
{
    size_t of[TMS_SCHEDULE_MOST];
    bool before[TMS_SCHEDULE_MOST][TMS_SCHEDULE_MOST];
    size_t transactions = find_transactions(events, count, of);

    memset(before, 0, sizeof(before));
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            if (of[i] != of[j] && conflict(&events[i], &events[j])) {
                before[of[i]][of[j]] = true;
            }
        }
    }
    for (size_t k = 0; k < transactions; k++) {
        for (size_t i = 0; i < transactions; i++) {
            for (size_t j = 0; j < transactions; j++) {
                before[i][j] = before[i][j] || (before[i][k] && before[k][j]);
            }
        }
    }
    for (size_t i = 0; i < transactions; i++) {
        if (before[i][i]) {
            return false;
        }
    }
    return true;
}
