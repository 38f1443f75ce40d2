/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random traces, well-formed by construction: threads take random steps, of which only the legal
 * ones are carried out. A profile gives the weights of the steps, how many names there are, how
 * long a thread goes on before another one gets its turn, and how events are located. The long
 * profiles exist for what depends on counts: drivers, rare findings, the list of sixteen.
 */
#include <assert.h>
#include <string.h>

#include "differential/trace.h"
#include "judge/trace.h"

#define DEEPEST    5
#define MOST_HOLDS 2

enum duty { FREE, MUST_WAIT, MUST_REACQUIRE };

struct open_block {
    uint8_t closed_by;
    uint32_t label;
};

struct actor {
    bool exists, joined;
    struct open_block blocks[DEEPEST];
    unsigned depth;
    unsigned holds[LOCKS], shares[LOCKS];
    enum duty duty;
    unsigned duty_lock;
    uint32_t last_variable;
    uint32_t last_location;
};

#define STEPS(X)                                                                                   \
    X(begin)                                                                                       \
    X(enter)                                                                                       \
    X(call)                                                                                        \
    X(close)                                                                                       \
    X(demote)                                                                                      \
    X(read)                                                                                        \
    X(write)                                                                                       \
    X(update)                                                                                      \
    X(increment)                                                                                   \
    X(acquire)                                                                                     \
    X(release)                                                                                     \
    X(share)                                                                                       \
    X(unshare)                                                                                     \
    X(fork)                                                                                        \
    X(join)                                                                                        \
    X(wait)                                                                                        \
    X(barrier)                                                                                     \
    X(clear)                                                                                       \
    X(retry)                                                                                       \
    X(delay)                                                                                       \
    X(object)

enum step {
#define X(name) STEP_##name,
    STEPS(X)
#undef X
        STEP_COUNT
};

/*
 * `located`: the percentage of events that have a location, one of the first few. All atomic
 * accesses have the same order, which `judge` ignores.
 */
struct profile {
    const char *name;
    unsigned share; /* of all traces, relative */
    unsigned least, most;
    unsigned threads, variables, locks, labels;
    unsigned stay; /* of a hundred steps, the same thread takes the next one */
    unsigned located, locations;
    unsigned atomic; /* of a hundred accesses */
    unsigned weights[STEP_COUNT];
};

static const struct profile profiles[] = {
    /* begin enter call close demote, r w u r+w, acq rel racq rrel, fork join, wait barrier, clear
       retry delay object */
    {"plain", 10, 10, 60, 3, 3, 2, 3, 40, 0, 1, 0, {4, 1, 1, 3, 1, 9, 7, 2, 3, 2, 3,
                                                    0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"located", 10, 10, 60, 3, 3, 2, 4, 40, 100, 3, 0, {4, 1, 1, 3, 1, 9, 7, 2, 3, 2, 3,
                                                        1, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"mixed", 14, 20, 60, 4, 9, 3, LABELS, 50, 60, 3, 20, {5, 2, 2, 5, 1, 9, 8, 3, 3, 4, 5,
                                                           2, 3, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"locks", 8, 20, 60, 3, 4, 2, 4, 60, 50, 4, 0, {4, 1, 1, 3, 1, 8, 7, 1, 3, 9, 9,
                                                    4, 5, 0, 0, 1, 0, 0, 0, 0, 0}},
    {"nested", 8, 20, 60, 3, 3, 2, LABELS, 60, 50, 2, 0, {6, 4, 4, 8, 3, 7, 6, 2, 3, 2, 3,
                                                          0, 0, 1, 1, 0, 0, 0, 0, 0, 0}},
    {"rendezvous", 6, 20, 60, 3, 4, 2, 3, 50, 60, 2, 10, {4, 1, 1, 3, 1, 12, 8, 2, 2, 3, 3,
                                                          0, 0, 2, 1, 2, 1,  2, 3, 1, 2}},
    {"polls", 6, 15, 60, 3, 3, 1, 3, 50, 70, 1, 50, {3, 1, 1, 2, 0, 20, 5, 1, 1, 1, 2,
                                                     0, 0, 0, 0, 0, 0,  1, 1, 0, 1}},
    {"waits", 6, 30, 90, 3, 2, 1, 3, 60, 100, 2, 0, {2, 1, 0, 1, 0, 10, 6, 1, 1, 8, 4,
                                                     0, 0, 0, 0, 4, 0,  0, 0, 0, 0}},
    {"objects", 6, 20, 60, 3, 15, 1, LABELS, 50, 50, 3, 0, {5, 1, 1, 3, 0, 9, 8, 2, 3, 1, 2,
                                                            0, 0, 0, 0, 0, 0, 0, 0, 0, 2}},
    {"wide", 4, 150, 300, 2, VARIABLES, 1, 3, 93, 40, 5, 0, {1, 0, 0, 0, 0, 20, 20, 2, 2, 0, 1,
                                                             0, 0, 0, 0, 0, 0,  0,  0, 0, 0}},
    {"rare", 4, 400, 600, 2, 3, 1, 3, 97, 30, 3, 5, {8, 2, 1, 12, 0, 4, 10, 2, 1, 2, 3,
                                                     0, 0, 0, 0,  0, 0, 0,  0, 1, 0}},
    {"drivers", 4, 200, 500, 3, 6, 2, 3, 85, 50, 6, 20, {2, 1, 1, 3, 0, 3, 3, 4, 1, 8, 9,
                                                         1, 1, 0, 0, 0, 0, 0, 0, 1, 0}},
    {"delays", 3, 300, 600, 2, 3, 1, 2, 92, 40, 4, 0, {3, 0, 0, 3, 0, 2, 2, 0, 0, 12, 14,
                                                       0, 0, 0, 0, 0, 0, 0, 0, 1, 0}},
    {"loops", 3, 300, 600, 2, 12, LOCKS, 3, 90, 50, 6, 0, {1, 0, 0, 1, 0, 3, 3, 0, 1, 20, 24,
                                                           3, 4, 0, 0, 0, 0, 0, 0, 0, 0}},
};
#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

struct maker {
    const struct words *words;
    const struct profile *profile;
    struct trace *trace;
    uint64_t random;
    struct actor actors[THREADS];
    unsigned roots;
};

/* ---- steps: each does what is legal for the actor, or nothing ----------------------------- */

static unsigned below(struct maker *m, unsigned bound)
{
    return tms_random_below(&m->random, bound);
}

static bool chance(struct maker *m, unsigned percent)
{
    return below(m, 100) < percent;
}

static void emit(struct maker *m, unsigned t, enum tms_event_kind kind, uint32_t target)
{
    struct trace *trace = m->trace;
    uint32_t location = 0;
    enum tms_order order = TMS_ORDER_NONE;

    if (kind >= TMS_EVENT_READ && kind <= TMS_EVENT_UPDATE && chance(m, m->profile->atomic)) {
        kind = kind - TMS_EVENT_READ + TMS_EVENT_ATOMIC_READ;
        order = TMS_ORDER_RELAXED;
    }

    if (chance(m, m->profile->located)) {
        location = TMS_LOCATION_NUMBER + 1 + below(m, m->profile->locations);
    }
    assert(trace->count < TRACE_MOST);
    m->actors[t].exists = true;
    m->actors[t].last_location = location;
    trace->events[trace->count++] = (struct tms_event){.order = (uint8_t)order,
                                                       .thread = m->words->threads[t],
                                                       .target = target,
                                                       .location = location,
                                                       .kind = (uint8_t)kind};
}

static void open_block(struct maker *m, unsigned t, enum tms_event_kind kind, uint8_t closed_by)
{
    struct actor *actor = &m->actors[t];
    bool bare = kind == TMS_EVENT_BEGIN && below(m, 6) == 0;
    uint32_t label = bare ? 0 : m->words->labels[below(m, m->profile->labels)];

    if (actor->depth < DEEPEST) {
        actor->blocks[actor->depth++] = (struct open_block){closed_by, label};
        emit(m, t, kind, label);
    }
}

static void step_begin(struct maker *m, unsigned t)
{
    open_block(m, t, TMS_EVENT_BEGIN, TMS_EVENT_END);
}

static void step_enter(struct maker *m, unsigned t)
{
    open_block(m, t, TMS_EVENT_ENTER, TMS_EVENT_EXIT);
}

static void step_call(struct maker *m, unsigned t)
{
    open_block(m, t, TMS_EVENT_CALL, TMS_EVENT_RETURN);
}

/* The innermost block of its kind, seldom of another kind than the last one: they may overlap. */
static void step_close(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];
    unsigned at = actor->depth;

    if (at == 0) {
        return;
    }
    uint8_t kind = actor->blocks[chance(m, 90) ? at - 1 : below(m, at)].closed_by;
    while (actor->blocks[--at].closed_by != kind) {
    }
    uint32_t label = actor->blocks[at].label;
    memmove(&actor->blocks[at], &actor->blocks[at + 1],
            (--actor->depth - at) * sizeof(actor->blocks[0]));
    emit(m, t, kind, label);
}

static void step_demote(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];

    for (unsigned at = actor->depth; at-- > 0;) {
        if (actor->blocks[at].closed_by == TMS_EVENT_END && actor->blocks[at].label != 0) {
            actor->blocks[at].closed_by = TMS_EVENT_RETURN;
            emit(m, t, TMS_EVENT_DEMOTE, actor->blocks[at].label);
            return;
        }
        if (actor->blocks[at].closed_by == TMS_EVENT_END) {
            return; /* it closes the innermost, which has no label */
        }
    }
}

static uint32_t variable(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];

    if (actor->last_variable == 0 || below(m, 4) != 0) {
        actor->last_variable = m->words->variables[below(m, m->profile->variables)];
    }
    return actor->last_variable;
}

static void step_read(struct maker *m, unsigned t)
{
    emit(m, t, TMS_EVENT_READ, variable(m, t));
}

static void step_write(struct maker *m, unsigned t)
{
    emit(m, t, TMS_EVENT_WRITE, variable(m, t));
}

static void step_update(struct maker *m, unsigned t)
{
    emit(m, t, TMS_EVENT_UPDATE, variable(m, t));
}

/* A read and a write one after the other, mostly at one location. */
static void step_increment(struct maker *m, unsigned t)
{
    uint32_t target = variable(m, t);

    emit(m, t, TMS_EVENT_READ, target);
    uint32_t location = m->actors[t].last_location;
    emit(m, t, TMS_EVENT_WRITE, target);
    if (below(m, 4) != 0) {
        m->trace->events[m->trace->count - 1].location = location;
    }
}

static bool is_free(const struct maker *m, unsigned lock, unsigned t, bool shared)
{
    for (unsigned u = 0; u < THREADS; u++) {
        const struct actor *actor = &m->actors[u];
        if ((actor->holds[lock] != 0 && (u != t || shared)) ||
            (actor->shares[lock] != 0 && !shared)) {
            return false;
        }
    }
    return true;
}

static void step_acquire(struct maker *m, unsigned t)
{
    unsigned lock = below(m, m->profile->locks);

    if (m->actors[t].holds[lock] < MOST_HOLDS && is_free(m, lock, t, false)) {
        m->actors[t].holds[lock]++;
        emit(m, t, TMS_EVENT_ACQUIRE, m->words->locks[lock]);
    }
}

static void step_release(struct maker *m, unsigned t)
{
    unsigned start = below(m, m->profile->locks);

    for (unsigned i = 0; i < m->profile->locks; i++) {
        unsigned lock = (start + i) % m->profile->locks;
        if (m->actors[t].holds[lock] != 0) {
            m->actors[t].holds[lock]--;
            emit(m, t, TMS_EVENT_RELEASE, m->words->locks[lock]);
            return;
        }
    }
}

static void step_share(struct maker *m, unsigned t)
{
    unsigned lock = below(m, m->profile->locks);

    if (m->actors[t].shares[lock] < MOST_HOLDS && is_free(m, lock, t, true)) {
        m->actors[t].shares[lock]++;
        emit(m, t, TMS_EVENT_SHARED_ACQUIRE, m->words->locks[lock]);
    }
}

static void step_unshare(struct maker *m, unsigned t)
{
    for (unsigned lock = 0; lock < m->profile->locks; lock++) {
        if (m->actors[t].shares[lock] != 0) {
            m->actors[t].shares[lock]--;
            emit(m, t, TMS_EVENT_SHARED_RELEASE, m->words->locks[lock]);
            return;
        }
    }
}

static void step_fork(struct maker *m, unsigned t)
{
    for (unsigned u = 0; u < m->profile->threads; u++) {
        if (!m->actors[u].exists && u != t) {
            emit(m, t, TMS_EVENT_FORK, m->words->threads[u]);
            m->actors[u].exists = true;
            return;
        }
    }
}

/* A joined thread holds no lock, so that the others can continue. */
static void step_join(struct maker *m, unsigned t)
{
    unsigned u = below(m, m->profile->threads);
    struct actor *actor = &m->actors[u];
    bool idle = u != t && actor->exists && !actor->joined && actor->duty == FREE;

    for (unsigned lock = 0; lock < LOCKS; lock++) {
        idle = idle && actor->holds[lock] == 0 && actor->shares[lock] == 0;
    }
    if (idle && chance(m, 30)) {
        actor->joined = true;
        emit(m, t, TMS_EVENT_JOIN, m->words->threads[u]);
    }
}

static void step_wait(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];

    for (unsigned lock = 0; lock < m->profile->locks; lock++) {
        if (actor->holds[lock] == 1) {
            actor->holds[lock] = 0;
            actor->duty = MUST_WAIT;
            actor->duty_lock = lock;
            emit(m, t, TMS_EVENT_RELEASE, m->words->locks[lock]);
            return;
        }
    }
}

static void step_barrier(struct maker *m, unsigned t)
{
    emit(m, t, chance(m, 50) ? TMS_EVENT_ARRIVE : TMS_EVENT_DEPART, m->words->barriers[0]);
}

static void step_clear(struct maker *m, unsigned t)
{
    emit(m, t, TMS_EVENT_CLEAR, 0);
}

/* A compare-and-swap that failed, or the retry event alone. */
static void step_retry(struct maker *m, unsigned t)
{
    uint32_t target = variable(m, t);

    emit(m, t, TMS_EVENT_RETRY, target);
    if (chance(m, 50)) {
        emit(m, t, TMS_EVENT_READ, target);
        emit(m, t, TMS_EVENT_RETRY, target);
    }
}

/* A delay, a channel operation, or a fence, which only ends a stretch. */
static void step_delay(struct maker *m, unsigned t)
{
    if (chance(m, 40)) {
        emit(m, t, chance(m, 50) ? TMS_EVENT_SEND : TMS_EVENT_RECEIVE, m->words->channel);
        return;
    }
    if (chance(m, m->profile->atomic)) {
        emit(m, t, TMS_EVENT_FENCE, 0);
        m->trace->events[m->trace->count - 1].order = TMS_ORDER_SEQ_CST;
        return;
    }
    emit(m, t, TMS_EVENT_DELAY, 0);
}

static void step_object(struct maker *m, unsigned t)
{
    static const uint8_t kinds[] = {TMS_EVENT_ALLOC, TMS_EVENT_FREE, TMS_EVENT_ESCAPE};

    emit(m, t, kinds[below(m, 3)], m->words->objects[below(m, OBJECTS)]);
}

typedef void step_function(struct maker *m, unsigned t);

static step_function *const step_functions[STEP_COUNT] = {
#define X(name) [STEP_##name] = step_##name,
    STEPS(X)
#undef X
};

/* ---- the trace ---------------------------------------------------------------------------- */

/* Does what the thread must do next; true if there was such a duty. */
static bool do_duty(struct maker *m, unsigned t)
{
    struct actor *actor = &m->actors[t];

    if (actor->duty == MUST_WAIT) {
        actor->duty = MUST_REACQUIRE;
        emit(m, t, TMS_EVENT_WAIT, m->words->conditions[0]);
        return true;
    }
    if (actor->duty == MUST_REACQUIRE && is_free(m, actor->duty_lock, t, false)) {
        actor->duty = FREE;
        actor->holds[actor->duty_lock]++;
        emit(m, t, TMS_EVENT_ACQUIRE, m->words->locks[actor->duty_lock]);
        return true;
    }
    return actor->duty != FREE;
}

static enum step choose_step(struct maker *m)
{
    unsigned sum = 0, step = 0;

    for (unsigned i = 0; i < STEP_COUNT; i++) {
        sum += m->profile->weights[i];
    }
    for (unsigned pick = below(m, sum); pick >= m->profile->weights[step]; step++) {
        pick -= m->profile->weights[step];
    }
    return (enum step)step;
}

static const struct profile *choose_profile(uint64_t *random)
{
    unsigned sum = 0, at = 0;

    for (unsigned i = 0; i < PROFILES; i++) {
        sum += profiles[i].share;
    }
    for (unsigned pick = tms_random_below(random, sum); pick >= profiles[at].share; at++) {
        pick -= profiles[at].share;
    }
    return &profiles[at];
}

static unsigned choose_thread(struct maker *m, unsigned last)
{
    if (chance(m, m->profile->stay) && !m->actors[last].joined) {
        return last;
    }
    unsigned t = below(m, m->profile->threads);
    return m->actors[t].joined || (!m->actors[t].exists && t >= m->roots) ? last : t;
}

const char *trace_profile(uint64_t seed)
{
    uint64_t random = seed;

    return choose_profile(&random)->name;
}

void trace_make(const struct words *words, uint64_t seed, struct trace *trace)
{
    struct maker m = {.words = words, .trace = trace, .random = seed};
    unsigned t = 0;

    m.profile = choose_profile(&m.random);
    trace->count = 0;
    trace->split = chance(&m, 70) ? TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER : below(&m, 16);
    trace->rule_set = chance(&m, 75) ? 0 : below(&m, RULE_SETS);
    m.roots =
        m.profile->weights[STEP_fork] != 0 ? 1 + below(&m, m.profile->threads) : m.profile->threads;
    unsigned wanted = m.profile->least + below(&m, m.profile->most - m.profile->least + 1);
    for (unsigned tries = 0; trace->count < wanted && tries < 20 * wanted; tries++) {
        t = choose_thread(&m, t);
        if (!m.actors[t].joined && !do_duty(&m, t)) {
            step_functions[choose_step(&m)](&m, t);
        }
    }
}
