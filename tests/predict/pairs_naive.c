/* SPDX-License-Identifier: Apache-2.0 */
/* The rule for pairs by closure; see pairs_naive.h. Events are known by their index, from 0 on. */
#include "pairs_naive.h"

#include <assert.h>
#include <string.h>

#define NONE SIZE_MAX

struct naive {
    const struct tms_event *events;
    size_t count;
    bool before[TMS_SCHEDULE_MOST]
               [TMS_SCHEDULE_MOST]; /* in every run with the same order of locks */
    bool spent[TMS_SCHEDULE_MOST];  /* of an acquire: its window */
};

static bool is_acquire(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_ACQUIRE || event->kind == TMS_EVENT_SHARED_ACQUIRE;
}

static bool is_release(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_RELEASE || event->kind == TMS_EVENT_SHARED_RELEASE;
}

static bool is_shared(const struct tms_event *event)
{
    return event->kind == TMS_EVENT_SHARED_ACQUIRE || event->kind == TMS_EVENT_SHARED_RELEASE;
}

static bool conflict(const struct tms_event *a, const struct tms_event *b)
{
    return !is_shared(a) || !is_shared(b);
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Does the load `b` have its value from the store `a`? */
static bool is_source(const struct naive *n, size_t a, size_t b)
{
    const struct tms_event *e = n->events;
    bool source = e[a].kind == TMS_EVENT_ATOMIC_WRITE && e[b].kind == TMS_EVENT_ATOMIC_READ &&
                  e[a].target == e[b].target;

    for (size_t i = a + 1; i < b; i++) {
        source = source && !(e[i].kind == TMS_EVENT_ATOMIC_WRITE && e[i].target == e[a].target);
    }
    return source;
}

static bool is_edge(const struct naive *n, size_t a, size_t b)
{
    const struct tms_event *x = &n->events[a], *y = &n->events[b];

    return x->thread == y->thread || (x->kind == TMS_EVENT_FORK && x->target == y->thread) ||
           (y->kind == TMS_EVENT_JOIN && y->target == x->thread) ||
           (x->kind == TMS_EVENT_ARRIVE && y->kind == TMS_EVENT_DEPART) || is_source(n, a, b) ||
           (is_release(x) && is_acquire(y) && x->target == y->target && conflict(x, y));
}

static void find_order(struct naive *n)
{
    for (size_t b = 0; b < n->count; b++) {
        for (size_t a = 0; a < b; a++) {
            n->before[a][b] = is_edge(n, a, b);
        }
        for (size_t a = 0; a < b; a++) { /* all earlier ones are closed */
            for (size_t c = a + 1; c < b; c++) {
                n->before[a][b] = n->before[a][b] || (n->before[a][c] && n->before[c][b]);
            }
        }
    }
}

/* The event of the same thread just before, or the fork of the thread; NONE: neither. */
static size_t event_before(const struct naive *n, size_t event)
{
    for (size_t i = event; i-- > 0;) {
        const struct tms_event *e = &n->events[i];
        if (e->thread == n->events[event].thread ||
            (e->kind == TMS_EVENT_FORK && e->target == n->events[event].thread)) {
            return i;
        }
    }
    return NONE;
}

/* Does the acquire come after the other event by more than the order of its lock? */
static bool comes_after(const struct naive *n, size_t acquire, size_t event)
{
    size_t just_before = event_before(n, acquire);

    if (just_before == NONE) {
        return false;
    }
    if (n->events[just_before].kind == TMS_EVENT_WAIT) {
        return n->before[event][acquire];
    }
    return just_before == event || (event < just_before && n->before[event][just_before]);
}

/* ---- blocks and sections -------------------------------------------------------------------- */

/* The event that began the transaction of an event; NONE: it is in none. */
static size_t transaction_of(const struct naive *n, size_t event)
{
    size_t begin = NONE;
    unsigned depth = 0;

    for (size_t i = 0; i <= event; i++) {
        const struct tms_event *e = &n->events[i];
        if (e->thread != n->events[event].thread) {
            continue;
        }
        bool splits = e->kind == TMS_EVENT_WAIT || e->kind == TMS_EVENT_DEPART;
        begin = (e->kind == TMS_EVENT_BEGIN && depth == 0) || (splits && depth > 0) ? i : begin;
        depth += e->kind == TMS_EVENT_BEGIN;
        depth -= e->kind == TMS_EVENT_END;
        begin = depth == 0 ? NONE : begin;
    }
    return begin;
}

static bool in_one_transaction(const struct naive *n, size_t a, size_t b)
{
    size_t begin = transaction_of(n, a);

    return begin != NONE && begin == transaction_of(n, b);
}

/* The release of a lock after its acquire; NONE: there is none. */
static size_t release_of(const struct naive *n, size_t acquire)
{
    const struct tms_event *e = n->events;

    for (size_t i = acquire + 1; i < n->count; i++) {
        if (is_release(&e[i]) && e[i].target == e[acquire].target &&
            e[i].thread == e[acquire].thread) {
            return i;
        }
    }
    return NONE;
}

/* The last acquire of the lock by the thread of an event, before that event; NONE: none. */
static size_t last_acquire(const struct naive *n, size_t event, uint32_t lock)
{
    for (size_t i = event; i-- > 0;) {
        const struct tms_event *e = &n->events[i];
        if (e->thread == n->events[event].thread && is_acquire(e) && e->target == lock) {
            return i;
        }
    }
    return NONE;
}

/* Is it the last section of another lock in the block before the acquire, and over? */
static bool is_first(const struct naive *n, size_t first, size_t second)
{
    const struct tms_event *a = &n->events[first], *b = &n->events[second];

    return first < second && is_acquire(a) && is_acquire(b) && a->thread == b->thread &&
           a->target != b->target && in_one_transaction(n, first, second) &&
           release_of(n, first) < second && last_acquire(n, second, a->target) == first;
}

static bool has_first(const struct naive *n, size_t second)
{
    for (size_t i = 0; i < second; i++) {
        if (is_first(n, i, second)) {
            return true;
        }
    }
    return false;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static struct tms_cut cut_of(size_t first, size_t through, size_t culprit, size_t second)
{
    return (struct tms_cut){
        .first = first + 1, .through = through + 1, .culprit = culprit + 1, .second = second + 1};
}

/* The culprit's section of the first lock, if the four are in the order of a pair; NONE: no. */
static size_t find_through(const struct naive *n, size_t first, size_t second, size_t culprit)
{
    const struct tms_event *e = n->events;

    if (second > culprit || !is_acquire(&e[culprit]) || e[culprit].target != e[second].target ||
        e[culprit].thread == e[second].thread || !conflict(&e[culprit], &e[second]) ||
        !is_first(n, first, second)) {
        return NONE;
    }
    size_t through = last_acquire(n, culprit, e[first].target);
    bool good = through != NONE && through > first && conflict(&e[through], &e[first]);
    return good ? through : NONE;
}

static void start(struct naive *n, const struct tms_trace *trace)
{
    assert(trace->count <= TMS_SCHEDULE_MOST);
    *n = (struct naive){.events = trace->events, .count = trace->count};
    find_order(n);
}

size_t pairs_ordered(const struct tms_trace *trace, struct tms_cut *cuts)
{
    struct naive n;
    size_t count = 0;

    start(&n, trace);
    for (size_t culprit = 0; culprit < n.count; culprit++) {
        for (size_t second = 0; second < culprit; second++) {
            for (size_t first = 0; first < second; first++) {
                size_t through = find_through(&n, first, second, culprit);
                if (through != NONE && count < PAIRS_MOST) {
                    cuts[count++] = cut_of(first, through, culprit, second);
                }
            }
        }
    }
    return count;
}

/* The last acquire of the lock before that makes a window. */
static size_t window_before(const struct naive *n, size_t culprit)
{
    for (size_t i = culprit; i-- > 0;) {
        if (is_acquire(&n->events[i]) && n->events[i].target == n->events[culprit].target &&
            has_first(n, i)) {
            return i;
        }
    }
    return NONE;
}

/* Did a section that the lock was shared with end in a thread that came after the acquire? */
static bool is_bound(const struct naive *n, size_t second, size_t culprit)
{
    const struct tms_event *e = n->events;

    for (size_t i = second + 1; i < culprit && is_shared(&e[second]); i++) {
        if (e[i].kind == TMS_EVENT_SHARED_RELEASE && e[i].target == e[second].target &&
            e[i].thread != e[second].thread && n->before[second][i]) {
            return true;
        }
    }
    return false;
}

/* The latest first one, but rather one that has the culprit's acquires in one transaction. */
static bool choose(const struct naive *n, size_t second, size_t culprit, struct tms_cut *cut)
{
    bool found = false, best = false;

    for (size_t first = second; first-- > 0 && !best;) {
        size_t through = find_through(n, first, second, culprit);
        best = through != NONE && in_one_transaction(n, through, culprit);
        if (through != NONE && (best || !found)) {
            *cut = cut_of(first, through, culprit, second);
            found = true;
        }
    }
    return found;
}

static bool is_plain_section(const struct naive *n, size_t acquire, size_t release)
{
    for (size_t i = acquire + 1; i < release; i++) {
        uint8_t kind = n->events[i].kind;
        bool own = n->events[i].thread == n->events[acquire].thread;
        if (own && kind != TMS_EVENT_BEGIN && kind != TMS_EVENT_END && kind != TMS_EVENT_FORK) {
            return false;
        }
    }
    return true;
}

size_t pairs_naive(const struct tms_trace *trace, struct tms_cut *cuts)
{
    struct naive n;
    size_t count = 0;

    start(&n, trace);
    for (size_t culprit = 0; culprit < n.count; culprit++) {
        size_t second = is_acquire(&n.events[culprit]) ? window_before(&n, culprit) : NONE;
        if (second == NONE || n.spent[second] || comes_after(&n, culprit, second) ||
            is_bound(&n, second, culprit) || !choose(&n, second, culprit, &cuts[count])) {
            continue;
        }
        size_t release = release_of(&n, culprit);
        if (release == NONE || !is_plain_section(&n, culprit, release)) {
            return PAIRS_UNSURE;
        }
        n.spent[second] = true;
        count++;
    }
    return count;
}
