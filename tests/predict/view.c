/* SPDX-License-Identifier: Apache-2.0 */
/* Exhaustive search; see view.h. */
#include "view.h"

#include <assert.h>
#include <string.h>

#define THREADS  TMS_VIEW_THREADS
#define NO_OWNER (-1)
#define INITIAL  (-1)
#define ORDERS   24 /* of four transactions */
_Static_assert(TMS_VIEW_BLOCKS == 4, "as many as ORDERS is for");

/* The view of a trace: the write that each read sees, and the last write of each variable. */
struct view {
    int8_t source[TMS_VIEW_NUMBERS];
    int8_t last[TMS_VIEW_TARGETS];
};

struct step {
    struct tms_view_action action;
    unsigned number;
};

struct search {
    const struct tms_view_set *set;
    struct step step[THREADS][TMS_VIEW_NUMBERS]; /* of each thread, in its order */
    size_t length[THREADS], at[THREADS];
    struct {
        size_t thread, after; /* at its step `after`, counted from 1; 0: it is not forked */
    } fork[THREADS];
    int owner[TMS_VIEW_TARGETS];   /* of a lock held exclusively */
    int sharers[TMS_VIEW_TARGETS]; /* how many hold it shared */
    struct view now;
    struct view serial[ORDERS];
    size_t serial_count;
    const unsigned *wanted;   /* actions that must come in this order, … */
    size_t wanted_count, met; /* … and how many of them have */
};

unsigned tms_view_number(const struct tms_view_set *set, size_t transaction, size_t action)
{
    unsigned number = (unsigned)action;

    for (size_t i = 0; i < transaction; i++) {
        number += (unsigned)set->transaction[i].count;
    }
    return number;
}

static void set_up(struct search *s, const struct tms_view_set *set)
{
    memset(s, 0, sizeof(*s));
    memset(&s->now, INITIAL, sizeof(s->now));
    for (size_t i = 0; i < TMS_VIEW_TARGETS; i++) {
        s->owner[i] = NO_OWNER;
    }
    s->set = set;
    for (size_t i = 0; i < set->count; i++) {
        const struct tms_view_transaction *t = &set->transaction[i];
        for (size_t j = 0; j < t->count; j++) {
            s->step[t->thread][s->length[t->thread]++] =
                (struct step){t->action[j], tms_view_number(set, i, j)};
        }
        if (t->count == 1 && t->action[0].kind == TMS_EVENT_FORK) {
            s->fork[t->action[0].target].thread = t->thread;
            s->fork[t->action[0].target].after = s->length[t->thread];
        }
    }
}

/* ---- one step forth and back --------------------------------------------------------------- */

static bool exists(const struct search *s, size_t thread)
{
    return s->at[s->fork[thread].thread] >= s->fork[thread].after;
}

static const struct tms_view_action *next_action(const struct search *s, size_t thread)
{
    return &s->step[thread][s->at[thread]].action;
}

static bool can_go(const struct search *s, size_t thread)
{
    if (!exists(s, thread) || s->at[thread] == s->length[thread]) {
        return false;
    }
    const struct tms_view_action *action = next_action(s, thread);
    bool free = s->owner[action->target] == NO_OWNER;
    switch (action->kind) {
    case TMS_EVENT_ACQUIRE:
        return free && s->sharers[action->target] == 0;
    case TMS_EVENT_SHARED_ACQUIRE:
        return free;
    case TMS_EVENT_JOIN:
        return exists(s, action->target) && s->at[action->target] == s->length[action->target];
    default:
        return true;
    }
}

static void access_variable(struct search *s, const struct step *step)
{
    int8_t *last = &s->now.last[step->action.target];

    if (step->action.kind != TMS_EVENT_WRITE) {
        s->now.source[step->number] = *last;
    }
    if (step->action.kind != TMS_EVENT_READ) {
        *last = (int8_t)step->number;
    }
}

static void go(struct search *s, size_t thread)
{
    const struct step *step = &s->step[thread][s->at[thread]++];
    unsigned target = step->action.target;

    switch (step->action.kind) {
    case TMS_EVENT_ACQUIRE:
        s->owner[target] = (int)thread;
        break;
    case TMS_EVENT_RELEASE:
        s->owner[target] = NO_OWNER;
        break;
    case TMS_EVENT_SHARED_ACQUIRE:
        s->sharers[target]++;
        break;
    case TMS_EVENT_SHARED_RELEASE:
        s->sharers[target]--;
        break;
    case TMS_EVENT_FORK:
    case TMS_EVENT_JOIN:
        break;
    default:
        access_variable(s, step);
        break;
    }
    s->met += s->met < s->wanted_count && s->wanted[s->met] == step->number;
}

static bool all_done(const struct search *s)
{
    return memcmp(s->at, s->length, sizeof(s->at)) == 0;
}

/* ---- deadlock ------------------------------------------------------------------------------ */

static size_t state_number(const struct search *s)
{
    size_t number = 0;

    for (size_t i = 0; i < THREADS; i++) {
        number = number * (s->length[i] + 1) + s->at[i];
    }
    return number;
}

#define STATES ((size_t)1 << 16)

static bool gets_stuck(const struct search *from, bool *seen)
{
    size_t state = state_number(from);
    bool moved = false;

    assert(state < STATES);
    if (seen[state]) {
        return false;
    }
    seen[state] = true;
    for (size_t i = 0; i < THREADS; i++) {
        if (can_go(from, i)) {
            struct search next = *from;
            go(&next, i);
            moved = true;
            if (gets_stuck(&next, seen)) {
                return true;
            }
        }
    }
    return !moved && !all_done(from);
}

bool tms_view_deadlocks(const struct tms_view_set *set)
{
    static bool seen[STATES];
    struct search s;

    set_up(&s, set);
    memset(seen, 0, sizeof(seen));
    return gets_stuck(&s, seen);
}

/* ---- serial orders ------------------------------------------------------------------------- */

static void run_transaction(struct search *s, const struct tms_view_transaction *t)
{
    for (size_t i = 0; i < t->count; i++) {
        go(s, t->thread);
    }
}

/* The next transaction of its thread, and can it begin? */
static bool is_due(const struct search *s, size_t transaction, const bool *done)
{
    size_t thread = s->set->transaction[transaction].thread;

    for (size_t i = 0; i < transaction; i++) {
        if (!done[i] && s->set->transaction[i].thread == thread) {
            return false;
        }
    }
    return !done[transaction] && can_go(s, thread);
}

static bool is_serializable(const struct search *s, const struct view *view)
{
    for (size_t i = 0; i < s->serial_count; i++) {
        if (memcmp(&s->serial[i], view, sizeof(*view)) == 0) {
            return true;
        }
    }
    return false;
}

/* Collects in `all` the view of each serial order. */
static void try_orders(struct search *all, const struct search *from, bool *done, size_t left)
{
    if (left == 0) {
        if (!is_serializable(all, &from->now)) {
            assert(all->serial_count < ORDERS);
            all->serial[all->serial_count++] = from->now;
        }
        return;
    }
    for (size_t i = 0; i < from->set->count; i++) {
        if (is_due(from, i, done)) {
            struct search next = *from;
            run_transaction(&next, &from->set->transaction[i]);
            done[i] = true;
            try_orders(all, &next, done, left - 1);
            done[i] = false;
        }
    }
}

/* ---- traces -------------------------------------------------------------------------------- */

/* What one step changes. */
struct mark {
    struct view now;
    int owner, sharers;
    size_t met;
};

static bool finds_trace(struct search *s);

static bool finds_trace_by(struct search *s, size_t thread)
{
    unsigned target = next_action(s, thread)->target;
    struct mark mark = {s->now, s->owner[target], s->sharers[target], s->met};

    go(s, thread);
    bool found = finds_trace(s);
    s->at[thread]--;
    s->now = mark.now;
    s->owner[target] = mark.owner;
    s->sharers[target] = mark.sharers;
    s->met = mark.met;
    return found;
}

/*
 * Is there a trace from here on that is wanted? With serial orders at hand, one unlike them. A fork
 * or join that can come does so at once: it keeps nothing from coming that could come without it.
 */
static bool finds_trace(struct search *s)
{
    if (all_done(s)) {
        return s->met == s->wanted_count && !is_serializable(s, &s->now);
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (can_go(s, i) && tms_view_is_thread_action(next_action(s, i))) {
            return finds_trace_by(s, i);
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (can_go(s, i) && finds_trace_by(s, i)) {
            return true;
        }
    }
    return false;
}

bool tms_view_refutes(const struct tms_view_set *set, const unsigned *numbers, size_t count)
{
    struct search s;
    bool done[TMS_VIEW_TRANSACTIONS] = {false};

    set_up(&s, set);
    struct search start = s;
    try_orders(&s, &start, done, set->count);
    s.wanted = numbers;
    s.wanted_count = count;
    return finds_trace(&s);
}

bool tms_view_allows(const struct tms_view_set *set, const unsigned *numbers, size_t count)
{
    struct search s;

    set_up(&s, set);
    s.wanted = numbers;
    s.wanted_count = count;
    return finds_trace(&s);
}

bool tms_view_atomic(const struct tms_view_set *set)
{
    return !tms_view_refutes(set, NULL, 0);
}
