/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random traces, well-formed by construction: a small machine of threads, locks, barriers and
 * blocks takes random steps, of which only the legal ones are carried out. A profile gives the
 * weights of the steps and a discipline; together the profiles ensure that enough traces are
 * serializable, enough have a block to blame and enough have cycles without one.
 */
#include <assert.h>

#include "trace.h"
#include "vocabulary.h"

#define DEEPEST    4
#define MOST_HOLDS 3

/* What a thread must do next. */
enum duty { FREE, MUST_WAIT, MUST_REACQUIRE, MUST_DEPART };

struct block {
    enum tms_event_kind opened_by;
    uint32_t label;
};

struct thread {
    bool exists, joined;
    struct block blocks[DEEPEST];
    unsigned depth, blocks_begun;
    unsigned holds[TMS_LOCKS], shares[TMS_LOCKS];
    enum duty duty;
    unsigned duty_on;                 /* the lock or the barrier */
    unsigned round;                   /* of the barrier */
    bool has_published, has_released; /* in this block */
};

struct maker {
    const struct tms_vocabulary *words;
    const struct profile *profile;
    struct tms_trace *trace;
    uint64_t random;
    struct thread threads[TMS_THREADS];
    unsigned thread_count, roots, most_threads, variables;
    unsigned arrivals[TMS_BARRIERS], parties[TMS_BARRIERS];
};

/*
 * GUARDED: a block takes one lock, makes its accesses under it, and does not take it again:
 * serializable as long as forks and joins behave. PUBLISH: a thread has one block, in which it
 * first writes its own variable and then reads those that others have written: cycles without a
 * block to blame. LATE: see late.c.
 */
enum discipline { NO_DISCIPLINE, GUARDED, PUBLISH, LATE };

/* stray: arrive or depart out of turn; object: alloc, free or escape; atomic: with an order */
#define STEPS(X)                                                                                   \
    X(begin)                                                                                       \
    X(end)                                                                                         \
    X(enter)                                                                                       \
    X(read)                                                                                        \
    X(write)                                                                                       \
    X(update)                                                                                      \
    X(acquire)                                                                                     \
    X(release)                                                                                     \
    X(share)                                                                                       \
    X(unshare)                                                                                     \
    X(fork)                                                                                        \
    X(join)                                                                                        \
    X(wait)                                                                                        \
    X(arrive)                                                                                      \
    X(stray)                                                                                       \
    X(object)                                                                                      \
    X(atomic)                                                                                      \
    X(fence)

enum step {
#define X(name) STEP_##name,
    STEPS(X)
#undef X
        STEP_COUNT
};

struct profile {
    const char *name;
    unsigned share;                     /* of all traces, relative */
    unsigned threads, variables, roots; /* at most */
    enum discipline discipline;
    unsigned weights[STEP_COUNT];
};

static const struct profile profiles[] = {
    /* name, share, threads, variables, roots, discipline, weights in the order of STEPS */
    {"mixed", 4, 6, 6, 4, NO_DISCIPLINE, {5, 3, 2, 9, 5, 2, 5, 6, 2, 3, 2, 2, 2, 2, 1, 2}},
    {"few", 3, 3, 3, 3, NO_DISCIPLINE, {4, 2, 1, 8, 4, 2, 3, 4, 1, 2, 1, 1, 1, 1, 0, 1}},
    {"sparse", 4, 9, 19, 9, NO_DISCIPLINE, {4, 2, 1, 9, 3, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1}},
    {"locks", 4, 5, 4, 5, NO_DISCIPLINE, {4, 3, 1, 3, 2, 1, 9, 9, 5, 6, 1, 1, 4, 0, 0, 0}},
    {"guarded", 5, 9, 8, 6, GUARDED, {8, 8, 1, 8, 6, 2, 9, 3, 0, 0, 1, 1, 0, 0, 0, 1}},
    {"publish", 12, 5, 5, 5, PUBLISH, {9, 1, 0, 7, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"churn", 4, 16, 5, 2, NO_DISCIPLINE, {3, 2, 1, 5, 3, 1, 2, 3, 0, 0, 6, 4, 0, 0, 0, 1}},
    {"barriers", 3, 6, 4, 6, NO_DISCIPLINE, {4, 2, 1, 6, 4, 1, 1, 2, 0, 0, 1, 1, 0, 5, 2, 0}},
    {"late", 8, 5, 12, 5, LATE, {0}},
    {"unary", 3, 5, 5, 5, NO_DISCIPLINE, {1, 1, 0, 8, 5, 3, 2, 3, 1, 2, 1, 1, 0, 1, 0, 1}},
    {"objects", 2, 4, 19, 4, NO_DISCIPLINE, {4, 2, 1, 7, 5, 1, 1, 2, 0, 0, 1, 1, 0, 0, 0, 8}},
    {"atomics", 4, 4, 4, 4, NO_DISCIPLINE, {4, 3, 0, 3, 2, 1, 1, 2, 0, 0, 1, 1, 0, 0, 0, 1, 14, 4}},
    {"orders", 3, 6, 6, 4, NO_DISCIPLINE, {5, 3, 2, 6, 4, 2, 4, 5, 1, 2, 2, 2, 1, 1, 1, 2, 8, 3}},
};

#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

/* ---- steps: each does what is legal for thread `t`, or nothing ------------------------- */

static unsigned below(struct maker *m, unsigned bound)
{
    return tms_random_below(&m->random, bound);
}

static void emit(struct maker *m, unsigned t, enum tms_event_kind kind, uint32_t target)
{
    struct tms_trace *trace = m->trace;

    assert(trace->count < TMS_TRACE_MOST);
    m->threads[t].exists = true;
    trace->events[trace->count++] = (struct tms_event){
        .thread = m->words->threads[t],
        .target = target,
        .location = TMS_LOCATION_NUMBER + (uint32_t)trace->count,
        .kind = (uint8_t)kind,
    };
}

static void open_block(struct maker *m, unsigned t, enum tms_event_kind kind, uint32_t label)
{
    struct thread *thread = &m->threads[t];

    if (thread->depth == DEEPEST || (m->profile->discipline == PUBLISH && thread->blocks_begun)) {
        return;
    }
    if (thread->depth == 0) {
        thread->has_published = thread->has_released = false;
    }
    thread->blocks[thread->depth++] = (struct block){kind, label};
    thread->blocks_begun++;
    emit(m, t, kind, label);
}

static void step_begin(struct maker *m, unsigned t)
{
    bool labelled = below(m, 3) != 0;

    open_block(m, t, TMS_EVENT_BEGIN,
               labelled ? m->words->labels[1 + below(m, TMS_LABELS - 1)] : 0);
}

static void step_enter(struct maker *m, unsigned t)
{
    open_block(m, t, TMS_EVENT_ENTER, m->words->labels[below(m, TMS_LABELS)]);
}

/* The last block, or sometimes the last of the other kind: the two may interleave. */
static unsigned choose_block(struct maker *m, const struct thread *thread)
{
    unsigned last = thread->depth - 1;

    for (unsigned at = below(m, 4) == 0 ? last : 0; at-- > 0;) {
        if (thread->blocks[at].opened_by != thread->blocks[last].opened_by) {
            return at;
        }
    }
    return last;
}

static void step_end(struct maker *m, unsigned t)
{
    struct thread *thread = &m->threads[t];

    if (thread->depth == 0) {
        return;
    }
    unsigned at = choose_block(m, thread);
    const struct block block = thread->blocks[at];
    thread->depth--;
    for (; at < thread->depth; at++) {
        thread->blocks[at] = thread->blocks[at + 1];
    }
    if (block.opened_by == TMS_EVENT_ENTER) {
        emit(m, t, TMS_EVENT_EXIT, block.label);
    } else {
        emit(m, t, TMS_EVENT_END, below(m, 2) != 0 ? block.label : 0);
    }
}

/* A thread publishes before it reads, and reads what has been published. */
static bool may_access(const struct maker *m, unsigned t, unsigned variable)
{
    const struct thread *thread = &m->threads[t];

    switch (m->profile->discipline) {
    case GUARDED:
        return thread->holds[0] != 0;
    case PUBLISH:
        return thread->depth > 0 && thread->has_published && m->threads[variable].has_published;
    default:
        return true;
    }
}

static void access(struct maker *m, unsigned t, enum tms_event_kind kind)
{
    unsigned variable = below(m, m->variables);

    if (may_access(m, t, variable)) {
        emit(m, t, kind, m->words->variables[variable]);
    }
}

static void step_read(struct maker *m, unsigned t)
{
    access(m, t, TMS_EVENT_READ);
}

static void step_write(struct maker *m, unsigned t)
{
    struct thread *thread = &m->threads[t];

    if (m->profile->discipline != PUBLISH) {
        access(m, t, TMS_EVENT_WRITE);
    } else if (thread->depth > 0 && !thread->has_published) {
        thread->has_published = true;
        emit(m, t, TMS_EVENT_WRITE, m->words->variables[t]);
    }
}

static void step_update(struct maker *m, unsigned t)
{
    access(m, t, TMS_EVENT_UPDATE);
}

static bool lock_is_free(const struct maker *m, unsigned lock, unsigned t)
{
    for (unsigned u = 0; u < m->thread_count; u++) {
        if ((u != t && m->threads[u].holds[lock] != 0) || m->threads[u].shares[lock] != 0) {
            return false;
        }
    }
    return true;
}

static void step_acquire(struct maker *m, unsigned t)
{
    struct thread *thread = &m->threads[t];
    bool guarded = m->profile->discipline == GUARDED;
    unsigned lock = guarded ? 0 : below(m, TMS_LOCKS);

    if (guarded && (thread->depth == 0 || thread->has_released)) {
        return;
    }
    if (thread->holds[lock] < MOST_HOLDS && lock_is_free(m, lock, t)) {
        thread->holds[lock]++;
        emit(m, t, TMS_EVENT_ACQUIRE, m->words->locks[lock]);
    }
}

static void step_release(struct maker *m, unsigned t)
{
    struct thread *thread = &m->threads[t];
    unsigned lock = m->profile->discipline == GUARDED ? 0 : below(m, TMS_LOCKS);

    if (thread->holds[lock] != 0) {
        thread->holds[lock]--;
        thread->has_released = thread->has_released || thread->holds[lock] == 0;
        emit(m, t, TMS_EVENT_RELEASE, m->words->locks[lock]);
    }
}

static void step_share(struct maker *m, unsigned t)
{
    unsigned lock = below(m, TMS_LOCKS);

    for (unsigned u = 0; u < m->thread_count; u++) {
        if (m->threads[u].holds[lock] != 0) {
            return;
        }
    }
    if (m->threads[t].shares[lock] < MOST_HOLDS) {
        m->threads[t].shares[lock]++;
        emit(m, t, TMS_EVENT_SHARED_ACQUIRE, m->words->locks[lock]);
    }
}

static void step_unshare(struct maker *m, unsigned t)
{
    unsigned lock = below(m, TMS_LOCKS);

    if (m->threads[t].shares[lock] != 0) {
        m->threads[t].shares[lock]--;
        emit(m, t, TMS_EVENT_SHARED_RELEASE, m->words->locks[lock]);
    }
}

/* The new thread may act from now on, and may as well stay silent. */
static void step_fork(struct maker *m, unsigned t)
{
    if (m->thread_count < m->most_threads) {
        unsigned child = m->thread_count++;
        emit(m, t, TMS_EVENT_FORK, m->words->threads[child]);
    }
}

/*
 * Mostly a child, and now and then a parent or another root; with open blocks, held locks, or no
 * event at all. Few of the latter, because a trace needs threads that continue.
 */
static void step_join(struct maker *m, unsigned t)
{
    unsigned other = below(m, m->thread_count);

    if (other != t && !m->threads[other].joined && (other >= m->roots || below(m, 16) == 0)) {
        m->threads[other].joined = true;
        emit(m, t, TMS_EVENT_JOIN, m->words->threads[other]);
    }
}

static void step_wait(struct maker *m, unsigned t)
{
    struct thread *thread = &m->threads[t];
    unsigned lock = below(m, TMS_LOCKS);

    if (thread->holds[lock] == 1) {
        thread->holds[lock] = 0;
        thread->duty = MUST_WAIT;
        thread->duty_on = lock;
        emit(m, t, TMS_EVENT_RELEASE, m->words->locks[lock]);
    }
}

/* A proper crossing: no thread departs before all of the round have arrived. */
static void step_arrive(struct maker *m, unsigned t)
{
    struct thread *thread = &m->threads[t];
    unsigned barrier = below(m, TMS_BARRIERS);

    thread->duty = MUST_DEPART;
    thread->duty_on = barrier;
    thread->round = m->arrivals[barrier]++ / m->parties[barrier];
    emit(m, t, TMS_EVENT_ARRIVE, m->words->barriers[barrier]);
}

/* What no real barrier does, but no rule forbids. */
static void step_stray(struct maker *m, unsigned t)
{
    enum tms_event_kind kind = below(m, 2) != 0 ? TMS_EVENT_ARRIVE : TMS_EVENT_DEPART;

    emit(m, t, kind, m->words->barriers[below(m, TMS_BARRIERS)]);
}

static void step_object(struct maker *m, unsigned t)
{
    static const enum tms_event_kind kinds[] = {TMS_EVENT_ALLOC, TMS_EVENT_FREE, TMS_EVENT_ESCAPE};

    emit(m, t, kinds[below(m, 3)], m->words->objects[below(m, TMS_OBJECTS)]);
}

/* The last event gets one of the orders that its kind has. */
static void give_order(struct maker *m)
{
    struct tms_event *event = &m->trace->events[m->trace->count - 1];

    do {
        event->order = (uint8_t)below(m, TMS_ORDER_COUNT);
    } while ((tms_event_orders(event->kind) >> event->order & 1) == 0);
}

static void step_atomic(struct maker *m, unsigned t)
{
    static const enum tms_event_kind kinds[] = {TMS_EVENT_ATOMIC_READ, TMS_EVENT_ATOMIC_WRITE,
                                                TMS_EVENT_ATOMIC_UPDATE};
    size_t count = m->trace->count;

    access(m, t, kinds[below(m, 3)]);
    if (m->trace->count > count) {
        give_order(m);
    }
}

static void step_fence(struct maker *m, unsigned t)
{
    emit(m, t, TMS_EVENT_FENCE, 0);
    give_order(m);
}

/* ---- the machine ---------------------------------------------------------------------- */

static void do_duty(struct maker *m, unsigned t)
{
    struct thread *thread = &m->threads[t];
    unsigned on = thread->duty_on;

    if (thread->duty == MUST_WAIT) {
        thread->duty = MUST_REACQUIRE;
        emit(m, t, TMS_EVENT_WAIT, m->words->conditions[below(m, TMS_CONDITIONS)]);
    } else if (thread->duty == MUST_REACQUIRE && lock_is_free(m, on, t)) {
        thread->duty = FREE;
        thread->holds[on] = 1;
        emit(m, t, TMS_EVENT_ACQUIRE, m->words->locks[on]);
    } else if (thread->duty == MUST_DEPART &&
               m->arrivals[on] >= (thread->round + 1) * m->parties[on]) {
        thread->duty = FREE;
        emit(m, t, TMS_EVENT_DEPART, m->words->barriers[on]);
    }
}

static enum step choose_step(struct maker *m)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < STEP_COUNT; i++) {
        sum += m->profile->weights[i];
    }
    unsigned pick = below(m, sum), step = 0;
    while (pick >= m->profile->weights[step]) {
        pick -= m->profile->weights[step++];
    }
    return step;
}

static void act(struct maker *m, unsigned t)
{
    static void (*const steps[STEP_COUNT])(struct maker * m, unsigned t) = {
#define X(name) [STEP_##name] = step_##name,
        STEPS(X)
#undef X
    };

    if (m->threads[t].duty != FREE) {
        do_duty(m, t);
    } else {
        steps[choose_step(m)](m, t);
    }
}

static const struct profile *choose_profile(uint64_t *random)
{
    unsigned sum = 0, i = 0;

    for (unsigned p = 0; p < PROFILES; p++) {
        sum += profiles[p].share;
    }
    unsigned pick = tms_random_below(random, sum);
    while (pick >= profiles[i].share) {
        pick -= profiles[i++].share;
    }
    return &profiles[i];
}

static unsigned choose_split(struct maker *m)
{
    return below(m, 3) != 0 ? TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER : below(m, 16);
}

static void set_up(struct maker *m)
{
    m->most_threads = 2 + below(m, m->profile->threads - 1);
    unsigned roots = m->most_threads < m->profile->roots ? m->most_threads : m->profile->roots;
    m->thread_count = m->profile->discipline == PUBLISH ? roots : roots - below(m, roots) / 2;
    m->variables =
        m->profile->discipline == PUBLISH ? m->most_threads : 1 + below(m, m->profile->variables);
    m->roots = m->thread_count;
    for (unsigned i = 0; i < TMS_BARRIERS; i++) {
        m->parties[i] = 2 + below(m, 2);
    }
    m->trace->split = choose_split(m);
}

const char *tms_trace_profile(uint64_t seed)
{
    return choose_profile(&seed)->name;
}

void tms_trace_make(const struct tms_vocabulary *vocabulary, uint64_t seed, struct tms_trace *trace)
{
    struct maker m = {.words = vocabulary, .trace = trace, .random = seed};
    unsigned t = 0;

    m.profile = choose_profile(&m.random);
    trace->count = 0;
    set_up(&m);
    unsigned length = 5 + below(&m, 1 + (below(&m, 3) == 0 ? 115 : below(&m, 116)));
    if (m.profile->discipline == LATE) {
        tms_trace_make_late(vocabulary, m.random, 2 + below(&m, 5), length, trace);
        return;
    }
    for (unsigned tries = 20 * length; tries > 0 && trace->count < length; tries--) {
        t = below(&m, 3) != 0 ? below(&m, m.thread_count) : t;
        if (!m.threads[t].joined) {
            act(&m, t);
        }
    }
}
