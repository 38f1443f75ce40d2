/* SPDX-License-Identifier: Apache-2.0 */
/* A script for each thread, with insertions, and then a scheduler that plays them; pairs_make.h. */
#include "pairs_make.h"

#include <assert.h>
#include <string.h>

#define THREADS 3
#define STEPS   16
#define LOCKS   4 /* m, n, g around them, q for a condition */

enum { M, N, G, Q };
enum { BLOCK, CULPRIT, THIRD };

struct step {
    enum tms_event_kind kind;
    unsigned target;
};

struct script {
    struct step steps[STEPS];
    size_t length, at;
};

struct maker {
    struct tms_context *context;
    struct tms_trace *trace;
    uint64_t random;
    struct script scripts[THREADS];
    bool waits_for_fork[THREADS];
    unsigned holder[LOCKS]; /* 1 + the thread, 0: none */
    unsigned sharers[LOCKS];
    unsigned arrived;
    enum { NOT_YET, ASLEEP, WOKEN } condition; /* the culprit waits for the block's section of q */
    bool short_of_memory;
};

static unsigned below(struct maker *m, unsigned bound)
{
    return tms_random_below(&m->random, bound);
}

/* ---- scripts ------------------------------------------------------------------------------ */

static void insert(struct script *script, size_t at, enum tms_event_kind kind, unsigned target)
{
    assert(script->length < STEPS && at <= script->length);
    memmove(&script->steps[at + 1], &script->steps[at],
            (script->length - at) * sizeof(*script->steps));
    script->steps[at] = (struct step){kind, target};
    script->length++;
}

static void append(struct script *script, enum tms_event_kind kind, unsigned target)
{
    insert(script, script->length, kind, target);
}

static size_t any_place(struct maker *m, const struct script *script)
{
    return below(m, (unsigned)script->length + 1);
}

static void write_block(struct maker *m)
{
    struct script *script = &m->scripts[BLOCK];
    bool nested = below(m, 4) == 0;

    append(script, TMS_EVENT_BEGIN, 0);
    if (nested) {
        append(script, TMS_EVENT_BEGIN, 1);
    }
    append(script, TMS_EVENT_ACQUIRE, M);
    append(script, TMS_EVENT_RELEASE, M);
    if (nested && below(m, 2) == 0) {
        append(script, TMS_EVENT_END, 1);
        nested = false;
    }
    append(script, TMS_EVENT_ACQUIRE, N);
    append(script, TMS_EVENT_RELEASE, N);
    if (nested) {
        append(script, TMS_EVENT_END, 1);
    }
    if (below(m, 2) == 0) {
        append(script, TMS_EVENT_END, 0);
    }
}

/* Both acquires in one block, in one each, or in none; the second inside the first, or after it. */
static void write_culprit(struct maker *m)
{
    struct script *script = &m->scripts[CULPRIT];
    bool nested = below(m, 3) == 0, block = below(m, 2) == 0, apart = block && below(m, 3) == 0;

    if (block) {
        append(script, TMS_EVENT_BEGIN, 2);
    }
    append(script, TMS_EVENT_ACQUIRE, M);
    if (!nested) {
        append(script, TMS_EVENT_RELEASE, M);
    }
    if (apart && !nested) {
        append(script, TMS_EVENT_END, 2);
        append(script, TMS_EVENT_BEGIN, 3);
    }
    append(script, TMS_EVENT_ACQUIRE, N);
    append(script, TMS_EVENT_RELEASE, N);
    if (nested) {
        append(script, TMS_EVENT_RELEASE, M);
    }
}

static void write_third(struct maker *m)
{
    struct script *script = &m->scripts[THIRD];

    if (below(m, 3) == 0) {
        unsigned lock = below(m, 2);
        append(script, TMS_EVENT_ACQUIRE, lock);
        append(script, TMS_EVENT_RELEASE, lock);
    }
}

/* ---- what may order them ------------------------------------------------------------------ */

/* The first step of a script that is this one, or its length. */
static size_t find(const struct script *script, enum tms_event_kind kind, unsigned target)
{
    size_t at = 0;

    while (at < script->length &&
           (script->steps[at].kind != kind || script->steps[at].target != target)) {
        at++;
    }
    return at;
}

static void put_around(struct script *script, size_t from, size_t until)
{
    insert(script, until + 1, TMS_EVENT_RELEASE, G);
    insert(script, from, TMS_EVENT_ACQUIRE, G);
}

/* Around both sections of the block, or one of them; around one of the culprit's. */
static void add_outer(struct maker *m)
{
    struct script *block = &m->scripts[BLOCK], *culprit = &m->scripts[CULPRIT];
    unsigned from = below(m, 3) == 0 ? N : M, until = from == M && below(m, 3) == 0 ? M : N;
    unsigned lock = below(m, 2);

    put_around(block, find(block, TMS_EVENT_ACQUIRE, from), find(block, TMS_EVENT_RELEASE, until));
    put_around(culprit, find(culprit, TMS_EVENT_ACQUIRE, lock),
               find(culprit, TMS_EVENT_RELEASE, lock));
}

static void add_fork(struct maker *m)
{
    struct script *script = &m->scripts[BLOCK];

    insert(script, any_place(m, script), TMS_EVENT_FORK, CULPRIT);
    m->waits_for_fork[CULPRIT] = true;
}

static void add_join(struct maker *m)
{
    struct script *script = &m->scripts[CULPRIT];

    insert(script, any_place(m, script), TMS_EVENT_JOIN, BLOCK);
}

/* Of the lock itself, or of one that the block's thread has sections of too. */
static void add_wait(struct maker *m)
{
    struct script *block = &m->scripts[BLOCK], *culprit = &m->scripts[CULPRIT];
    unsigned lock = below(m, 2) == 0 ? (unsigned)Q : below(m, 2);
    size_t at = lock == Q ? any_place(m, culprit) : find(culprit, TMS_EVENT_ACQUIRE, lock) + 1;

    insert(culprit, at, TMS_EVENT_ACQUIRE, lock);
    insert(culprit, at, TMS_EVENT_WAIT, 0);
    insert(culprit, at, TMS_EVENT_RELEASE, lock);
    if (lock == Q) {
        insert(culprit, at + 3, TMS_EVENT_RELEASE, Q);
        insert(culprit, at, TMS_EVENT_ACQUIRE, Q);
        size_t where = any_place(m, block);
        insert(block, where, TMS_EVENT_RELEASE, Q);
        insert(block, where, TMS_EVENT_ACQUIRE, Q);
    }
}

static void add_barrier(struct maker *m)
{
    for (unsigned t = BLOCK; t <= CULPRIT; t++) {
        size_t at = any_place(m, &m->scripts[t]);
        insert(&m->scripts[t], at, TMS_EVENT_DEPART, 0);
        insert(&m->scripts[t], at, TMS_EVENT_ARRIVE, 0);
    }
}

static void add_flag(struct maker *m)
{
    struct script *block = &m->scripts[BLOCK], *culprit = &m->scripts[CULPRIT];

    insert(block, any_place(m, block), TMS_EVENT_ATOMIC_WRITE, 0);
    insert(culprit, any_place(m, culprit), TMS_EVENT_ATOMIC_READ, 0);
}

static void share(struct script *script, unsigned lock)
{
    for (size_t i = 0; i < script->length; i++) {
        struct step *step = &script->steps[i];
        if (step->target == lock && step->kind == TMS_EVENT_ACQUIRE) {
            step->kind = TMS_EVENT_SHARED_ACQUIRE;
        } else if (step->target == lock && step->kind == TMS_EVENT_RELEASE) {
            step->kind = TMS_EVENT_SHARED_RELEASE;
        }
    }
}

static void add_shared(struct maker *m)
{
    for (unsigned t = 0; t < THREADS; t++) {
        for (unsigned lock = M; lock <= N; lock++) {
            if (below(m, 2) == 0) {
                share(&m->scripts[t], lock);
            }
        }
    }
}

/* ---- the scheduler ------------------------------------------------------------------------ */

/* The signal comes with the block's section of q, when the culprit waits for it. */
static bool may_take(const struct maker *m, unsigned t, unsigned lock)
{
    bool wakes = t == BLOCK && lock == Q, woken = t == CULPRIT && lock == Q;

    return m->holder[lock] == 0 && m->sharers[lock] == 0 && (!wakes || m->condition == ASLEEP) &&
           (!woken || m->condition != ASLEEP);
}

static bool may_go(const struct maker *m, unsigned t)
{
    const struct script *script = &m->scripts[t];

    if (m->waits_for_fork[t] || script->at == script->length) {
        return false;
    }
    const struct step *step = &script->steps[script->at];
    switch (step->kind) {
    case TMS_EVENT_ACQUIRE:
        return may_take(m, t, step->target);
    case TMS_EVENT_SHARED_ACQUIRE:
        return m->holder[step->target] == 0;
    case TMS_EVENT_JOIN:
        return m->scripts[step->target].at == m->scripts[step->target].length;
    case TMS_EVENT_DEPART:
        return m->arrived == 2;
    default:
        return true;
    }
}

static uint32_t name(struct maker *m, enum tms_class cls, char letter, unsigned number)
{
    char text[2] = {letter, (char)('0' + number)};
    int64_t id = tms_intern(m->context, cls, text, sizeof(text));

    m->short_of_memory = m->short_of_memory || id < 0;
    return id < 0 ? 0 : (uint32_t)id;
}

static void emit(struct maker *m, unsigned t, const struct step *step)
{
    static const char letters[TMS_CLASS_COUNT] = {
        [TMS_CLASS_THREAD] = 'T', [TMS_CLASS_VARIABLE] = 'x',  [TMS_CLASS_LOCK] = 'm',
        [TMS_CLASS_LABEL] = 'f',  [TMS_CLASS_CONDITION] = 'c', [TMS_CLASS_BARRIER] = 'b',
    };
    enum tms_class cls = tms_event_class(step->kind);
    struct tms_trace *trace = m->trace;
    bool atomic = step->kind == TMS_EVENT_ATOMIC_READ || step->kind == TMS_EVENT_ATOMIC_WRITE;

    trace->events[trace->count++] = (struct tms_event){
        .thread = name(m, TMS_CLASS_THREAD, 'T', t),
        .target = name(m, cls, letters[cls], step->target),
        .location = TMS_LOCATION_NUMBER + (uint32_t)trace->count,
        .kind = (uint8_t)step->kind,
        .order = atomic ? TMS_ORDER_RELAXED : 0,
    };
}

static void go(struct maker *m, unsigned t)
{
    struct script *script = &m->scripts[t];
    const struct step *step = &script->steps[script->at++];

    emit(m, t, step);
    switch (step->kind) {
    case TMS_EVENT_ACQUIRE:
        m->holder[step->target] = t + 1;
        break;
    case TMS_EVENT_RELEASE:
        m->holder[step->target] = 0;
        m->condition = t == BLOCK && step->target == Q ? WOKEN : m->condition;
        break;
    case TMS_EVENT_WAIT:
        m->condition = ASLEEP;
        break;
    case TMS_EVENT_SHARED_ACQUIRE:
        m->sharers[step->target]++;
        break;
    case TMS_EVENT_SHARED_RELEASE:
        m->sharers[step->target]--;
        break;
    case TMS_EVENT_FORK:
        m->waits_for_fork[step->target] = false;
        break;
    case TMS_EVENT_ARRIVE:
        m->arrived++;
        break;
    default:
        break;
    }
}

/*
 * The block's thread is mostly ahead, so that the culprit follows it; until no thread can continue.
 */
static void play(struct maker *m)
{
    bool any = true;

    while (any) {
        unsigned t = below(m, 3) != 0 ? BLOCK : below(m, THREADS);
        if (may_go(m, t)) {
            go(m, t);
        }
        any = false;
        for (unsigned other = 0; other < THREADS; other++) {
            any = any || may_go(m, other);
        }
    }
}

bool pairs_make(struct tms_context *context, enum pair_order order, uint64_t seed,
                struct tms_trace *trace)
{
    static void (*const add[PAIR_ORDER_COUNT])(struct maker *) = {
        [PAIR_OUTER] = add_outer,     [PAIR_FORK] = add_fork, [PAIR_JOIN] = add_join,
        [PAIR_WAIT] = add_wait,       [PAIR_FLAG] = add_flag, [PAIR_SHARED] = add_shared,
        [PAIR_BARRIER] = add_barrier,
    };
    struct maker m = {.context = context, .trace = trace, .random = seed};

    *trace = (struct tms_trace){.split = TMS_SPLIT_WAIT | TMS_SPLIT_BARRIER};
    write_block(&m);
    write_culprit(&m);
    write_third(&m);
    if (add[order] != NULL) {
        add[order](&m);
    }
    play(&m);
    return !m.short_of_memory;
}
