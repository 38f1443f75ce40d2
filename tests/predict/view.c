/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is tried; see view.h. */
#include "view.h"

#include <assert.h>
#include <string.h>

#define THREADS TMS_VIEW_TRANSACTIONS
#define NOBODY  (-1)
#define INITIAL (-1)
#define ORDERS  24 /* of four transactions */

/* What a trace makes visible: of each read its write, and of each variable the last write. */
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
    int owner[TMS_VIEW_TARGETS];   /* of a lock held exclusively */
    int sharers[TMS_VIEW_TARGETS]; /* how many hold it shared */
    struct view now;
    struct view serial[ORDERS];
    size_t serial_count;
    const unsigned *wanted;   /* actions that are to come in this order, … */
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
        s->owner[i] = NOBODY;
    }
    s->set = set;
    for (size_t i = 0; i < set->count; i++) {
        const struct tms_view_transaction *t = &set->transaction[i];
        for (size_t j = 0; j < t->count; j++) {
            s->step[t->thread][s->length[t->thread]++] =
                (struct step){t->action[j], tms_view_number(set, i, j)};
        }
    }
}

/* ---- one step forth and back --------------------------------------------------------------- */

static bool can_go(const struct search *s, size_t thread)
{
    if (s->at[thread] == s->length[thread]) {
        return false;
    }
    const struct tms_view_action *action = &s->step[thread][s->at[thread]].action;
    bool free = s->owner[action->target] == NOBODY;
    if (action->kind == TMS_EVENT_ACQUIRE) {
        return free && s->sharers[action->target] == 0;
    }
    return action->kind != TMS_EVENT_SHARED_ACQUIRE || free;
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
        s->owner[target] = NOBODY;
        break;
    case TMS_EVENT_SHARED_ACQUIRE:
        s->sharers[target]++;
        break;
    case TMS_EVENT_SHARED_RELEASE:
        s->sharers[target]--;
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

/* The next transaction of its thread? */
static bool is_due(const struct search *s, size_t transaction, const bool *done)
{
    for (size_t i = 0; i < transaction; i++) {
        if (!done[i] && s->set->transaction[i].thread == s->set->transaction[transaction].thread) {
            return false;
        }
    }
    return !done[transaction];
}

/* Gathers in `all` what each serial order makes visible. */
static void try_orders(struct search *all, const struct search *from, bool *done, size_t left)
{
    if (left == 0) {
        assert(all->serial_count < ORDERS);
        all->serial[all->serial_count++] = from->now;
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

static bool is_serializable(const struct search *s)
{
    for (size_t i = 0; i < s->serial_count; i++) {
        if (memcmp(&s->serial[i], &s->now, sizeof(s->now)) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- traces -------------------------------------------------------------------------------- */

/* What one step changes. */
struct mark {
    struct view now;
    int owner, sharers;
    size_t met;
};

/* Is there a trace from here on that is wanted? With serial orders at hand, one unlike them. */
static bool finds_trace(struct search *s)
{
    if (all_done(s)) {
        return s->met == s->wanted_count && !is_serializable(s);
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (!can_go(s, i)) {
            continue;
        }
        unsigned target = s->step[i][s->at[i]].action.target;
        struct mark mark = {s->now, s->owner[target], s->sharers[target], s->met};
        go(s, i);
        bool found = finds_trace(s);
        s->at[i]--;
        s->now = mark.now;
        s->owner[target] = mark.owner;
        s->sharers[target] = mark.sharers;
        s->met = mark.met;
        if (found) {
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
