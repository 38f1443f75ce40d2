/* SPDX-License-Identifier: Apache-2.0 */
/* Enumerates schedules by their sets of executed events; see schedules.h. */
#include "schedules.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t set;

struct tms_schedules {
    const struct tms_event *events;
    size_t count;
    set needs[TMS_SCHEDULE_MOST];        /* events that must have happened before */
    set unlocks[TMS_SCHEDULE_MOST];      /* of an acquire: its release, empty if there is none */
    set conflicts[TMS_SCHEDULE_MOST];    /* of an acquire: those of other threads it excludes */
    uint8_t variable[TMS_SCHEDULE_MOST]; /* of an atomic access: which one, from 0 on */
    uint8_t source[TMS_SCHEDULE_MOST]; /* of an atomic load or update: 1 + the event that it has its
                                          value from, 0: the first value */
    bool same_values;                  /* of the culprit and of the second access */
    struct state *states;              /* in the order in which they were reached */
    size_t state_count, state_capacity;
    int32_t *index; /* of the states, by a hash: 1 + the number, 0: free */
};

#define VARIABLES  4
#define INDEX_BITS 17

/* What has happened: has the culprit come where it was wanted, and by which event the last step? */
struct state {
    set happened;
    bool cut, through;         /* the latter has come after the first, as wanted */
    uint8_t writer[VARIABLES]; /* 1 + the last event that wrote it, 0: none */
    uint8_t store[VARIABLES];  /* … and the last that was not an update */
    uint8_t event;
    int32_t before;
};

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

static bool is_loading(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_ATOMIC_READ || event->kind == TMS_EVENT_ATOMIC_UPDATE;
}

static bool is_storing(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_ATOMIC_WRITE || event->kind == TMS_EVENT_ATOMIC_UPDATE ||
           event->kind == TMS_EVENT_UPDATE;
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

/* The wait that this acquire returns from; `count`: none. */
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

/* Gives the variable of an atomic access a number, and finds where its value comes from. */
static bool prepare_atomic(struct tms_schedules *schedules, size_t at)
{
    const struct tms_event *events = schedules->events;
    unsigned variables = 0;

    schedules->source[at] = 0;
    for (size_t i = 0; i < at; i++) {
        if (!is_loading(&events[i]) && !is_storing(&events[i])) {
            continue;
        }
        if (events[i].target == events[at].target) {
            schedules->variable[at] = schedules->variable[i];
            schedules->source[at] =
                is_storing(&events[i]) ? (uint8_t)(i + 1) : schedules->source[at];
            variables = VARIABLES + 1;
        } else if (variables <= schedules->variable[i]) {
            variables = schedules->variable[i] + 1u;
        }
    }
    if (variables <= VARIABLES) {
        schedules->variable[at] = (uint8_t)variables;
    }
    return schedules->variable[at] < VARIABLES;
}

/* The store that a value goes back to in the trace, over updates of it. */
static unsigned store_of(const struct tms_schedules *schedules, unsigned writer)
{
    while (writer != 0 && schedules->events[writer - 1].kind != TMS_EVENT_ATOMIC_WRITE) {
        writer = schedules->source[writer - 1];
    }
    return writer;
}

/* Has the atomic variable the value that the event was seen to load? */
static bool has_value(const struct tms_schedules *schedules, const struct state *state,
                      size_t event)
{
    unsigned source = schedules->source[event], variable = schedules->variable[event];

    return schedules->events[event].kind == TMS_EVENT_ATOMIC_READ
               ? state->writer[variable] == source
               : state->store[variable] == store_of(schedules, source);
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
    schedules->index = calloc((size_t)1 << INDEX_BITS, sizeof(*schedules->index));
    bool good = schedules->index != NULL;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            schedules->needs[i] |= is_fixed(&events[j], &events[i]) ? bit(j) : 0;
        }
        if (is_acquire(&events[i])) {
            prepare_acquire(schedules, i);
        }
        if (is_loading(&events[i]) || is_storing(&events[i])) {
            good = prepare_atomic(schedules, i) && good;
        }
    }
    if (!good) {
        tms_schedules_free(schedules);
        return NULL;
    }
    return schedules;
}

void tms_schedules_free(struct tms_schedules *schedules)
{
    if (schedules != NULL) {
        free(schedules->states);
        free(schedules->index);
        free(schedules);
    }
}

/* Must the event load the same value as in the trace? */
static bool is_bound(const struct tms_schedules *schedules, const struct tms_cut *cut, size_t event)
{
    size_t culprit = cut->culprit - 1, second = cut->second - 1;
    bool later =
        schedules->events[event].thread == schedules->events[culprit].thread && event > culprit;
    bool itself = event == culprit || event == second;

    return is_loading(&schedules->events[event]) && !later && (!itself || schedules->same_values);
}

static bool may_come(const struct tms_schedules *schedules, const struct state *state,
                     const struct tms_cut *cut, size_t event)
{
    set happened = state->happened;

    if ((happened & bit(event)) != 0 || (schedules->needs[event] & ~happened) != 0) {
        return false;
    }
    for (size_t i = 0; i < schedules->count; i++) {
        bool held = (happened & bit(i)) != 0 && (schedules->unlocks[i] & happened) == 0;
        if (held && (schedules->conflicts[event] & bit(i)) != 0) {
            return false;
        }
    }
    return !is_bound(schedules, cut, event) || has_value(schedules, state, event);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool same_state(const struct state *a, const struct state *b)
{
    return a->happened == b->happened && a->cut == b->cut && a->through == b->through &&
           memcmp(a->writer, b->writer, sizeof(a->writer)) == 0 &&
           memcmp(a->store, b->store, sizeof(a->store)) == 0;
}

/* Where the state is in the index, or would be. */
static int32_t *find_state(const struct tms_schedules *schedules, const struct state *state)
{
    uint64_t key = (uint64_t)state->happened << 2 | (unsigned)state->through << 1 | state->cut;

    for (size_t i = 0; i < VARIABLES; i++) {
        key = key * 31 + state->writer[i] + 17u * state->store[i];
    }
    size_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - INDEX_BITS);
    while (schedules->index[at] != 0 &&
           !same_state(&schedules->states[schedules->index[at] - 1], state)) {
        at = (at + 1) & (((size_t)1 << INDEX_BITS) - 1);
    }
    return &schedules->index[at];
}

/* Adds a state if it is new. */
static void reach(struct tms_schedules *schedules, const struct state *state)
{
    int32_t *slot = find_state(schedules, state);

    if (*slot != 0) {
        return;
    }
    if (schedules->state_count == schedules->state_capacity) {
        schedules->state_capacity = 2 * schedules->state_capacity + 1024;
        schedules->states =
            realloc(schedules->states, schedules->state_capacity * sizeof(*schedules->states));
    }
    if (schedules->states == NULL || schedules->state_count >= (size_t)1 << (INDEX_BITS - 1)) {
        abort();
    }
    schedules->states[schedules->state_count++] = *state;
    *slot = (int32_t)schedules->state_count;
}

static void write_schedule(const struct tms_schedules *schedules, const struct state *last,
                           struct tms_search *out)
{
    out->length = 0;
    for (size_t i = 0; i < schedules->count; i++) {
        out->length += (last->happened & bit(i)) != 0;
    }
    for (size_t at = out->length; at-- > 0;) {
        out->schedule[at] = schedules->events[last->event];
        last = &schedules->states[last->before];
    }
}

/* One step from a state, in every way. */
static void follow(struct tms_schedules *schedules, size_t number, const struct tms_cut *wanted,
                   struct tms_search *out)
{
    struct state state = schedules->states[number]; /* a copy: they may move */
    set first = bit(wanted->first - 1), second = bit(wanted->second - 1);
    bool inside = (state.happened & first) != 0 && (state.happened & second) == 0;
    bool any = false;

    for (size_t i = 0; i < schedules->count; i++) {
        if (!may_come(schedules, &state, wanted, i)) {
            continue;
        }
        struct state next = state;
        next.happened |= bit(i);
        next.through = state.through || (inside && i + 1 == wanted->through);
        next.cut = state.cut ||
                   (inside && i + 1 == wanted->culprit && (wanted->through == 0 || state.through));
        next.event = (uint8_t)i;
        next.before = (int32_t)number;
        if (is_storing(&schedules->events[i])) {
            next.writer[schedules->variable[i]] = (uint8_t)(i + 1);
        }
        if (schedules->events[i].kind == TMS_EVENT_ATOMIC_WRITE) {
            next.store[schedules->variable[i]] = (uint8_t)(i + 1);
        }
        reach(schedules, &next);
        any = true;
        if (next.cut && bit(i) == second && !out->cut) {
            out->cut = true;
            write_schedule(schedules, &next, out);
        }
    }
    out->stuck = out->stuck || (!any && inside);
}

void tms_schedules_same_values(struct tms_schedules *schedules, bool same_values)
{
    schedules->same_values = same_values;
}

void tms_schedules_search(struct tms_schedules *schedules, const struct tms_cut *cut,
                          struct tms_search *out)
{
    const struct state start = {.before = -1};

    *out = (struct tms_search){0};
    memset(schedules->index, 0, ((size_t)1 << INDEX_BITS) * sizeof(*schedules->index));
    schedules->state_count = 0;
    reach(schedules, &start);
    for (size_t i = 0; i < schedules->state_count; i++) {
        follow(schedules, i, cut, out);
    }
}

/* ---- serializable ------------------------------------------------------------------------- */

static bool is_access(const struct tms_event *event)
{
    return tms_event_class(event->kind) == TMS_CLASS_VARIABLE;
}

static bool is_read(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_READ || event->kind == TMS_EVENT_ATOMIC_READ;
}

static bool conflict(const struct tms_event *a, const struct tms_event *b)
{
    if (is_fixed(a, b)) {
        return true;
    }
    if (is_access(a) && is_access(b) && a->target == b->target) {
        return !is_read(a) || !is_read(b);
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
