/* SPDX-License-Identifier: Apache-2.0 */
/* The definitions, one after the other; see naive.h. */
#include "naive.h"

#include <string.h>

struct state {
    const struct small_trace *trace;
    const struct tms_settings *settings;
    struct naive *naive;
    bool before[SMALL_EVENTS][SMALL_EVENTS]; /* [b][a]: a is ordered before b, locks aside */
    unsigned gathering[SMALL_EVENTS];        /* of arrivals and departures */
    uint8_t any[SMALL_EVENTS];               /* locks held by the thread at an event */
    uint8_t exclusive[SMALL_EVENTS];
    bool escaped[SMALL_EVENTS];
};

static const struct small_event *at(const struct state *s, size_t index)
{
    return &s->trace->event[index];
}

static bool writes(const struct state *s, size_t index)
{
    return at(s, index)->kind != TMS_EVENT_READ;
}

/* ---- order ------------------------------------------------------------------------------ */

/* The arrival that a departure belongs to. */
static size_t arrival_of(const struct state *s, size_t departure)
{
    size_t i = departure;

    do {
        i--;
    } while (at(s, i)->kind != TMS_EVENT_ARRIVE || at(s, i)->thread != at(s, departure)->thread);
    return i;
}

/* The first arrival after a departure of the last gathering begins the next. */
static void find_gatherings(struct state *s)
{
    unsigned last[SMALL_TARGETS] = {0};
    bool left[SMALL_EVENTS] = {false};
    unsigned count = 0;

    for (size_t i = 0; i < s->trace->count; i++) {
        unsigned *of_barrier = &last[at(s, i)->target];
        if (at(s, i)->kind == TMS_EVENT_ARRIVE) {
            if (*of_barrier == 0 || left[*of_barrier]) {
                *of_barrier = ++count;
            }
            s->gathering[i] = *of_barrier;
        } else if (at(s, i)->kind == TMS_EVENT_DEPART) {
            s->gathering[i] = s->gathering[arrival_of(s, i)];
            left[s->gathering[i]] = true;
        }
    }
}

static bool ordered_directly(const struct state *s, size_t a, size_t b)
{
    const struct small_event *x = at(s, a), *y = at(s, b);

    if (x->thread == y->thread) {
        return true;
    }
    return (x->kind == TMS_EVENT_FORK && x->target == y->thread) ||
           (y->kind == TMS_EVENT_JOIN && y->target == x->thread) ||
           (x->kind == TMS_EVENT_FORK && y->kind == TMS_EVENT_JOIN && x->target == y->target) ||
           (x->kind == TMS_EVENT_ARRIVE && y->kind == TMS_EVENT_DEPART &&
            s->gathering[a] == s->gathering[b]);
}

static void find_order(struct state *s)
{
    for (size_t b = 0; b < s->trace->count; b++) {
        for (size_t a = 0; a < b; a++) {
            if (ordered_directly(s, a, b)) {
                s->before[b][a] = true;
                for (size_t i = 0; i < a; i++) {
                    s->before[b][i] |= s->before[a][i];
                }
            }
        }
    }
}

static bool parallel(const struct state *s, size_t a, size_t b)
{
    return at(s, a)->thread != at(s, b)->thread && (!s->settings->periods || !s->before[b][a]);
}

/* ---- locks ------------------------------------------------------------------------------ */

static void find_held(struct state *s)
{
    uint8_t any[SMALL_THREADS] = {0}, exclusive[SMALL_THREADS] = {0};

    for (size_t i = 0; i < s->trace->count; i++) {
        const struct small_event *event = at(s, i);
        s->any[i] = any[event->thread]; /* before a lock operation, that is */
        s->exclusive[i] = exclusive[event->thread];
        uint8_t bit = (uint8_t)(small_is_lock(event) ? 1u << event->target : 0);
        if (small_is_lock(event) && small_takes(event)) {
            any[event->thread] |= bit;
            exclusive[event->thread] |= event->kind == TMS_EVENT_ACQUIRE ? bit : 0;
        } else {
            any[event->thread] &= (uint8_t)~bit;
            exclusive[event->thread] &= (uint8_t)~bit;
        }
    }
}

/* Was the lock held only while the other one was held exclusively? */
static bool protects(const struct state *s, unsigned other, unsigned lock)
{
    for (size_t i = 0; i < s->trace->count; i++) {
        bool takes = small_is_lock(at(s, i)) && small_takes(at(s, i)) && at(s, i)->target == lock;
        bool holds = (s->any[i] >> lock & 1) != 0;
        bool loses = at(s, i)->kind == TMS_EVENT_RELEASE && at(s, i)->target == other;
        if ((takes || holds) && (s->exclusive[i] >> other & 1) == 0) {
            return false;
        }
        if (holds && loses) {
            return false;
        }
    }
    return true;
}

static bool orders(const struct state *s, unsigned lock)
{
    unsigned users = 0;
    bool exclusive = false;

    for (size_t i = 0; i < s->trace->count; i++) {
        if (small_is_lock(at(s, i)) && at(s, i)->target == lock) {
            users |= 1u << at(s, i)->thread;
            exclusive = exclusive || at(s, i)->kind == TMS_EVENT_ACQUIRE;
        }
    }
    for (unsigned other = 0; other < SMALL_TARGETS; other++) {
        if (other != lock && protects(s, other, lock)) {
            return false;
        }
    }
    return (users & (users - 1)) != 0 && exclusive;
}

/* ---- escape ----------------------------------------------------------------------------- */

static bool renews(const struct small_event *event)
{
    return event->kind == TMS_EVENT_ALLOC || event->kind == TMS_EVENT_FREE;
}

/* Where the life of the variable that is accessed here began. */
static size_t birth_of(const struct state *s, size_t access)
{
    size_t i = access;

    while (i > 0 && !(renews(at(s, i - 1)) && at(s, i - 1)->target == at(s, access)->target)) {
        i--;
    }
    return i;
}

static bool find_escaped(const struct state *s, size_t access)
{
    size_t birth = birth_of(s, access);
    bool allocated = birth > 0 && at(s, birth - 1)->kind == TMS_EVENT_ALLOC;
    int owner = allocated ? at(s, birth - 1)->thread : -1;

    if (s->settings->escape == TMS_ESCAPE_OFF) {
        return true;
    }
    for (size_t i = birth; i <= access; i++) {
        const struct small_event *event = at(s, i);
        if (event->kind == TMS_EVENT_ESCAPE && event->target == at(s, access)->target) {
            return true;
        }
        if (small_is_access(event) && event->target == at(s, access)->target) {
            owner = owner == -1 ? event->thread : owner;
            if (s->settings->escape == TMS_ESCAPE_AUTO && event->thread != owner) {
                return true;
            }
        }
    }
    return false;
}

/* ---- races ------------------------------------------------------------------------------ */

/* The escaped accesses to one variable in one life, up to one of them. */
struct life {
    size_t access[SMALL_EVENTS];
    size_t count;
};

static void find_life(const struct state *s, size_t last, struct life *life)
{
    life->count = 0;
    for (size_t i = birth_of(s, last); i <= last; i++) {
        if (small_is_access(at(s, i)) && at(s, i)->target == at(s, last)->target && s->escaped[i]) {
            life->access[life->count++] = i;
        }
    }
}

static bool in_contact(const struct state *s, const struct life *life, bool only_with_reads)
{
    for (size_t i = 0; i < life->count; i++) {
        for (size_t j = 0; j < i; j++) {
            size_t a = life->access[j], b = life->access[i];
            unsigned written = (unsigned)writes(s, a) + (unsigned)writes(s, b);
            if (parallel(s, a, b) && written > 0 && (written == 1 || !only_with_reads)) {
                return true;
            }
        }
    }
    return false;
}

static uint8_t protection(const struct state *s, size_t access)
{
    return writes(s, access) ? s->exclusive[access] : s->any[access];
}

static bool races_multilockset(const struct state *s, const struct life *life)
{
    uint8_t write_set = 0xff;
    bool written = false, open_read = false;

    for (size_t i = 0; i < life->count; i++) {
        if (writes(s, life->access[i])) {
            write_set &= s->exclusive[life->access[i]];
            written = true;
        }
    }
    for (size_t i = 0; i < life->count; i++) {
        size_t a = life->access[i];
        open_read = open_read || (!writes(s, a) && (s->any[a] & write_set) == 0);
    }
    if (!written) {
        return false;
    }
    return write_set == 0 ? in_contact(s, life, false) : open_read && in_contact(s, life, true);
}

/* The first access at which the variable has no owner; life->count if it always has one. */
static size_t shared_from(const struct state *s, const struct life *life, unsigned owners)
{
    unsigned seen = 1;

    for (size_t i = 1; i < life->count; i++) {
        seen += parallel(s, life->access[i - 1], life->access[i]);
        if (seen > owners) {
            return i;
        }
    }
    return life->count;
}

static bool races_eraser(const struct state *s, const struct life *life, unsigned owners)
{
    uint8_t locks = 0xff;
    bool written = false;

    for (size_t i = shared_from(s, life, owners); i < life->count; i++) {
        locks &= protection(s, life->access[i]);
        written = written || writes(s, life->access[i]);
    }
    return written && locks == 0 && in_contact(s, life, false);
}

static bool races_atomizer(const struct state *s, const struct life *life)
{
    uint8_t access_set = 0xff, write_set = 0xff;
    size_t last = life->access[life->count - 1];
    bool written = false;

    for (size_t i = shared_from(s, life, 1); i < life->count; i++) {
        access_set &= protection(s, life->access[i]);
        if (writes(s, life->access[i])) {
            write_set &= s->exclusive[life->access[i]];
            written = true;
        }
    }
    bool unsafe = writes(s, last) ? access_set == 0 : (s->any[last] & write_set) == 0;
    return written && unsafe && in_contact(s, life, false);
}

static bool races(const struct state *s, const struct life *life)
{
    switch (s->settings->race_test) {
    case TMS_RACE_ERASER:
        return races_eraser(s, life, 1);
    case TMS_RACE_PRAUN_GROSS:
        return races_eraser(s, life, 2);
    case TMS_RACE_ATOMIZER:
        return races_atomizer(s, life);
    default:
        return races_multilockset(s, life);
    }
}

static void find_races(struct state *s)
{
    for (size_t i = 0; i < s->trace->count; i++) {
        struct life life;
        if (!small_is_access(at(s, i)) || !s->escaped[i]) {
            continue;
        }
        find_life(s, i, &life);
        s->naive->racy[at(s, i)->target] |= races(s, &life);
        s->naive->contact[at(s, i)->target] |= in_contact(s, &life, false);
    }
}

/* ---- transactions ----------------------------------------------------------------------- */

static bool is_boundary(const struct small_event *event)
{
    return event->kind == TMS_EVENT_FORK || event->kind == TMS_EVENT_JOIN ||
           event->kind == TMS_EVENT_ARRIVE || event->kind == TMS_EVENT_DEPART;
}

static void find_pieces(struct state *s)
{
    unsigned depth[SMALL_THREADS] = {0}, current[SMALL_THREADS] = {0}, count = 0;

    for (size_t i = 0; i < s->trace->count; i++) {
        const struct small_event *event = at(s, i);
        unsigned *piece = &current[event->thread];
        bool begins = event->kind == TMS_EVENT_BEGIN && depth[event->thread] == 0;
        depth[event->thread] += event->kind == TMS_EVENT_BEGIN;
        depth[event->thread] -= event->kind == TMS_EVENT_END;
        if (begins || is_boundary(event)) {
            *piece = ++count;
        } else if (depth[event->thread] > 0) {
            s->naive->piece[i] = *piece;
        }
    }
}

/* The release that matches this acquire; trace->count: none in the same piece. */
static size_t release_of(const struct state *s, size_t acquire)
{
    for (size_t i = acquire + 1; i < s->trace->count; i++) {
        const struct small_event *event = at(s, i);
        if (event->thread == at(s, acquire)->thread && small_is_lock(event) &&
            event->target == at(s, acquire)->target) {
            return s->naive->piece[i] == s->naive->piece[acquire] ? i : s->trace->count;
        }
    }
    return s->trace->count;
}

/* AcqA*Rel: nothing in the section is in contact with others. */
static bool is_quiet(const struct state *s, size_t acquire, size_t release)
{
    for (size_t i = acquire; i < release; i++) {
        if (at(s, i)->thread == at(s, acquire)->thread && small_is_access(at(s, i)) &&
            s->escaped[i] && s->naive->contact[at(s, i)->target]) {
            return false;
        }
    }
    return true;
}

static void find_lock_moves(const struct state *s, size_t acquire)
{
    struct naive *naive = s->naive;
    size_t release = release_of(s, acquire);
    bool whole = release < s->trace->count;

    if (whole && s->settings->acq_rel && is_quiet(s, acquire, release)) {
        naive->not_right[release] = false;
    } else {
        naive->not_left[acquire] = naive->orders[at(s, acquire)->target];
    }
}

static void find_moves(const struct state *s)
{
    struct naive *naive = s->naive;

    for (size_t i = 0; i < s->trace->count; i++) {
        const struct small_event *event = at(s, i);
        if (small_is_access(event)) {
            naive->not_left[i] = naive->not_right[i] = s->escaped[i] && naive->racy[event->target];
        } else if (small_is_lock(event) && !small_takes(event)) {
            naive->not_right[i] = naive->orders[event->target];
        }
    }
    for (size_t i = 0; i < s->trace->count; i++) {
        if (small_is_lock(at(s, i)) && small_takes(at(s, i))) {
            find_lock_moves(s, i);
        }
    }
}

static void find_failing(const struct state *s)
{
    struct naive *naive = s->naive;

    for (size_t b = 0; b < s->trace->count; b++) {
        for (size_t a = 0; a < b; a++) {
            if (naive->piece[a] != 0 && naive->piece[a] == naive->piece[b] && naive->not_right[a] &&
                naive->not_left[b]) {
                naive->failing += !naive->fails[naive->piece[a]];
                naive->fails[naive->piece[a]] = true;
            }
        }
    }
}

void naive_judge(const struct small_trace *trace, const struct tms_settings *settings,
                 struct naive *naive)
{
    static struct state s;

    memset(naive, 0, sizeof(*naive));
    memset(&s, 0, sizeof(s));
    s.trace = trace;
    s.settings = settings;
    s.naive = naive;
    find_gatherings(&s);
    find_order(&s);
    find_held(&s);
    for (size_t i = 0; i < trace->count; i++) {
        s.escaped[i] = small_is_access(at(&s, i)) && find_escaped(&s, i);
    }
    find_races(&s);
    for (unsigned lock = 0; lock < SMALL_TARGETS; lock++) {
        naive->orders[lock] = orders(&s, lock);
    }
    find_pieces(&s);
    find_moves(&s);
    find_failing(&s);
}
