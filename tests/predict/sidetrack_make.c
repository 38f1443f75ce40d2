/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of sidetrack_make.h: random steps, of which the legal ones are carried out. */
#include "sidetrack_make.h"

#include <string.h>

#define THREADS 4
#define LOCKS   3
#define DEEPEST 2
#define TRIES   400

enum duty { FREE, MUST_WAIT, MUST_REACQUIRE, MUST_DEPART };

struct actor {
    bool forked, joined, started;
    unsigned depth;
    bool holds[LOCKS], shares[LOCKS];
    enum duty duty;
    unsigned duty_on;
};

struct maker {
    struct tms_context *context;
    const struct sidetrack_profile *profile;
    unsigned atomic; /* weight of atomic accesses */
    struct tms_trace *trace;
    uint64_t random;
    unsigned threads, locks;
    struct actor actors[THREADS];
    bool short_of_memory;
};

static unsigned below(struct maker *m, unsigned bound)
{
    return tms_random_below(&m->random, bound);
}

static uint32_t name(struct maker *m, enum tms_class cls, char letter, unsigned number)
{
    char text[2] = {letter, (char)('0' + number)};
    int64_t id = tms_intern(m->context, cls, text, sizeof(text));

    m->short_of_memory = m->short_of_memory || id < 0;
    return id < 0 ? 0 : (uint32_t)id;
}

static void emit(struct maker *m, unsigned t, enum tms_event_kind kind, unsigned target)
{
    static const char letters[TMS_CLASS_COUNT] = {
        [TMS_CLASS_THREAD] = 'T', [TMS_CLASS_VARIABLE] = 'x',  [TMS_CLASS_LOCK] = 'm',
        [TMS_CLASS_LABEL] = 'f',  [TMS_CLASS_CONDITION] = 'c', [TMS_CLASS_BARRIER] = 'b',
    };
    enum tms_class cls = tms_event_class(kind);
    struct tms_trace *trace = m->trace;

    m->actors[t].started = true;
    trace->events[trace->count++] = (struct tms_event){
        .thread = name(m, TMS_CLASS_THREAD, 'T', t),
        .target = name(m, cls, letters[cls], target),
        .location = TMS_LOCATION_NUMBER + (uint32_t)trace->count,
        .kind = (uint8_t)kind,
    };
}

static bool is_free(const struct maker *m, unsigned lock, bool shared)
{
    for (unsigned t = 0; t < m->threads; t++) {
        if (m->actors[t].holds[lock] || (!shared && m->actors[t].shares[lock])) {
            return false;
        }
    }
    return true;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void step_block(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];

    if (actor->depth < DEEPEST && below(m, 3) != 0) {
        emit(m, t, TMS_EVENT_BEGIN, actor->depth++);
    } else if (actor->depth > 0) {
        emit(m, t, TMS_EVENT_END, --actor->depth);
    }
}

static void step_lock(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];
    unsigned lock = below(m, m->locks);

    if (actor->holds[lock]) {
        actor->holds[lock] = false;
        emit(m, t, TMS_EVENT_RELEASE, lock);
    } else if (actor->shares[lock]) {
        actor->shares[lock] = false;
        emit(m, t, TMS_EVENT_SHARED_RELEASE, lock);
    } else if (is_free(m, lock, false)) {
        actor->holds[lock] = true;
        emit(m, t, TMS_EVENT_ACQUIRE, lock);
        if (below(m, 16) < m->profile->access) {
            emit(m, t, below(m, 2) == 0 ? TMS_EVENT_READ : TMS_EVENT_WRITE, lock);
        }
    }
}

static void step_shared(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];
    unsigned lock = below(m, m->locks);

    if (actor->shares[lock]) {
        actor->shares[lock] = false;
        emit(m, t, TMS_EVENT_SHARED_RELEASE, lock);
    } else if (is_free(m, lock, true)) {
        actor->shares[lock] = true;
        emit(m, t, TMS_EVENT_SHARED_ACQUIRE, lock);
    }
}

static void step_update(struct maker *m, unsigned t)
{
    emit(m, t, TMS_EVENT_UPDATE, below(m, m->locks));
}

/* Any memory order: it makes no difference to the schedules. */
static void step_atomic(struct maker *m, unsigned t)
{
    static const enum tms_event_kind kinds[] = {TMS_EVENT_ATOMIC_READ, TMS_EVENT_ATOMIC_READ,
                                                TMS_EVENT_ATOMIC_WRITE, TMS_EVENT_ATOMIC_WRITE,
                                                TMS_EVENT_ATOMIC_UPDATE};
    enum tms_event_kind kind = kinds[below(m, 5)];
    unsigned order;

    do {
        order = below(m, TMS_ORDER_COUNT);
    } while ((tms_event_orders(kind) >> order & 1) == 0);
    emit(m, t, kind, below(m, m->locks));
    m->trace->events[m->trace->count - 1].order = (uint8_t)order;
}

/* Mostly under the lock of the same number, which makes that the variable's own lock. */
static void step_access(struct maker *m, unsigned t)
{
    unsigned variable = below(m, m->locks);
    const struct actor *actor = &m->actors[t];

    if (actor->holds[variable] || actor->shares[variable] || below(m, 40) == 0) {
        bool reads = actor->shares[variable] || below(m, 2) == 0;
        emit(m, t, reads ? TMS_EVENT_READ : TMS_EVENT_WRITE, variable);
    }
}

static void step_wait(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];
    unsigned lock = below(m, m->locks);

    if (actor->holds[lock]) {
        actor->holds[lock] = false;
        actor->duty = MUST_WAIT;
        actor->duty_on = lock;
        emit(m, t, TMS_EVENT_RELEASE, lock);
    }
}

static void step_arrive(struct maker *m, unsigned t)
{
    m->actors[t].duty = MUST_DEPART;
    emit(m, t, TMS_EVENT_ARRIVE, 0);
}

/* Forks a thread that has not begun, or joins one that has nothing left to do by duty. */
static void step_fork(struct maker *m, unsigned t)
{
    unsigned other = below(m, m->threads);
    struct actor *actor = &m->actors[other];

    if (other == t || actor->joined) {
        return;
    }
    if (!actor->started && !actor->forked) {
        actor->forked = true;
        emit(m, t, TMS_EVENT_FORK, other);
    } else if (actor->started && actor->duty == FREE && below(m, 2) == 0) {
        actor->joined = true;
        emit(m, t, TMS_EVENT_JOIN, other);
    }
}

/* ---- the machine ---------------------------------------------------------------------------- */

static void do_duty(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];

    if (actor->duty == MUST_WAIT) {
        actor->duty = MUST_REACQUIRE;
        emit(m, t, TMS_EVENT_WAIT, 0);
    } else if (actor->duty == MUST_REACQUIRE && is_free(m, actor->duty_on, false)) {
        actor->duty = FREE;
        actor->holds[actor->duty_on] = true;
        emit(m, t, TMS_EVENT_ACQUIRE, actor->duty_on);
    } else if (actor->duty == MUST_DEPART && below(m, 2) == 0) {
        actor->duty = FREE;
        emit(m, t, TMS_EVENT_DEPART, 0);
    }
}

static void step(struct maker *m, unsigned t)
{
    const struct sidetrack_profile *p = m->profile;
    const struct {
        void (*take)(struct maker *m, unsigned t);
        unsigned weight;
    } steps[] = {{step_block, 5},          {step_lock, 10},          {step_shared, p->shared},
                 {step_update, p->update}, {step_wait, p->wait},     {step_arrive, p->arrive},
                 {step_fork, p->fork},     {step_access, p->access}, {step_atomic, m->atomic}};
    unsigned total = 0, at = 0;

    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        total += steps[i].weight;
    }
    unsigned chosen = below(m, total);
    while (chosen >= steps[at].weight) {
        chosen -= steps[at++].weight;
    }
    steps[at].take(m, t);
}

bool sidetrack_make_atomic(struct tms_context *context, const struct sidetrack_profile *profile,
                           unsigned atomic, uint64_t seed, struct tms_trace *trace)
{
    struct maker m = {
        .context = context, .profile = profile, .atomic = atomic, .trace = trace, .random = seed};
    unsigned events = profile->events - below(&m, profile->events / 3);
    unsigned current = 0;

    *trace = (struct tms_trace){.split = TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER};
    m.threads = 2 + below(&m, profile->threads - 1);
    m.locks = 1 + below(&m, profile->locks);
    for (unsigned tries = 0; trace->count < events && tries < TRIES; tries++) {
        current = below(&m, 3) == 0 ? below(&m, m.threads) : current; /* stay for a while */
        if (m.actors[current].joined) {
            continue;
        }
        if (m.actors[current].duty != FREE) {
            do_duty(&m, current);
        } else {
            step(&m, current);
        }
    }
    return !m.short_of_memory;
}

bool sidetrack_make(struct tms_context *context, const struct sidetrack_profile *profile,
                    uint64_t seed, struct tms_trace *trace)
{
    return sidetrack_make_atomic(context, profile, 0, seed, trace);
}

/* ---- a bounded buffer ----------------------------------------------------------------------- */

#define BUFFER_EVENTS 200

/* Where an actor of the buffer is in its put or get. */
enum stage { OUTSIDE, WANTS, INSIDE, ASLEEP, WOKEN };

struct buffer {
    struct maker m;
    enum stage stages[THREADS];
    unsigned size, filled;
};

static void wake_others(struct buffer *b, unsigned t)
{
    for (unsigned u = 0; u < b->m.threads; u++) {
        if (u % 2 != t % 2 && b->stages[u] == ASLEEP) {
            b->stages[u] = WOKEN;
        }
    }
}

/* With the lock: puts or gets and gives the lock back, or waits for its turn. Even ones put. */
static void use_buffer(struct buffer *b, unsigned t)
{
    bool puts = t % 2 == 0;
    bool may = puts ? b->filled < b->size : b->filled > 0;

    b->m.actors[t].holds[0] = false;
    emit(&b->m, t, TMS_EVENT_RELEASE, 0);
    if (!may) {
        emit(&b->m, t, TMS_EVENT_WAIT, puts);
        b->stages[t] = ASLEEP;
        return;
    }
    b->filled = puts ? b->filled + 1 : b->filled - 1;
    wake_others(b, t);
    emit(&b->m, t, TMS_EVENT_END, 0);
    b->stages[t] = OUTSIDE;
}

static void step_buffer(struct buffer *b, unsigned t)
{
    if (b->stages[t] == OUTSIDE) {
        emit(&b->m, t, TMS_EVENT_BEGIN, t % 2);
        b->stages[t] = WANTS;
    } else if (b->stages[t] == INSIDE) {
        use_buffer(b, t);
    } else if (b->stages[t] != ASLEEP && is_free(&b->m, 0, false)) {
        b->m.actors[t].holds[0] = true;
        emit(&b->m, t, TMS_EVENT_ACQUIRE, 0);
        b->stages[t] = INSIDE;
    }
}

bool sidetrack_make_buffer(struct tms_context *context, uint64_t seed, struct tms_trace *trace)
{
    struct buffer b = {.m = {.context = context, .trace = trace, .random = seed}};

    *trace = (struct tms_trace){.split = TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER};
    b.m.threads = 2 + below(&b.m, THREADS - 1);
    b.size = 1 + below(&b.m, 2);
    while (trace->count < BUFFER_EVENTS) {
        step_buffer(&b, below(&b.m, b.m.threads));
    }
    return !b.m.short_of_memory;
}
