/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pct strategy: probabilistic concurrency testing (Burckhardt et al., "A Randomized Scheduler
 * with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010). One thread runs at a time: the
 * runnable one of the highest priority. Priorities are random, and so are d - 1 change points among
 * the first k scheduling points: the thread that reaches the i-th of them gets priority i, below
 * all initial ones. docs/user/schedules.md has the guarantee.
 *
 * A thread that reaches a point hands its turn to the best thread, which may be itself. It is not
 * runnable while it waits in an intercepted call (conditions, joins, barriers, semaphores), nor
 * while it wants a lock that another one holds. Other waits are not known: threads that wait for
 * their turn watch the clock, and let the next one run if the running thread waits in the kernel,
 * or reaches no point for a long time. So nothing stops the program, and more than one thread may
 * run for a while.
 *
 * A thread that reaches the same place again and again, while no other thread runs, spins: it gets
 * the lowest priority.
 */
#include <assert.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/hash_mix.h"
#include "runtime/core/blocked_threads.h"
#include "runtime/core/raw_system_call.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/scheduler.h"
#include "runtime/spool/spool_writer.h"

#define MILLISECOND  UINT64_C(1000000)
#define THREADS_MOST 1024u
#define LOCKS        4096u /* a power of two, at least twice the locks that are held at a time */
#define SPINS_MOST   1000u
#define LOOK_EVERY   (2 * MILLISECOND)
#define LONG_TIME    (200 * MILLISECOND) /* without a point: then others run, too */
#define CHANGES_MOST 64

enum { WAITS, RUNNABLE, WANTS_LOCK }; /* of a thread: `turn.state` */

struct held {
    uintptr_t lock; /* 0: never used; 1: released, the row can be reused */
    const struct tms_rt_thread *thread;
};

static struct {
    struct tms_rt_mutex lock;
    struct tms_rt_thread *threads[THREADS_MOST];
    uint32_t count;
    struct tms_rt_thread *_Atomic current; /* whose turn it is; NULL: no thread can run */
    uint64_t steps;
    _Atomic uint64_t moved;         /* time of the last point of any thread */
    int64_t lowest;                 /* the last priority given to a spinning thread */
    uint64_t changes[CHANGES_MOST]; /* the change points */
    struct held held[LOCKS];
} pct;

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* A random number that depends on seed and purpose. */
static uint64_t random_of(uint64_t purpose)
{
    return mix(mix(tms_rt_schedule.seed + TMS_HASH_FACTOR) + purpose);
}

/* ---- threads ------------------------------------------------------------------------------ */

static bool takes_part(const struct tms_rt_thread *t)
{
    return t->turn.priority != 0;
}

/* Initial priorities are above those that change points give. */
static void add_thread(struct tms_rt_thread *t)
{
    assert(tms_rt_mutex_is_mine(&pct.lock) && pct.count <= THREADS_MOST);
    if (pct.count < THREADS_MOST && !takes_part(t)) {
        t->turn.priority = (int64_t)(random_of(t->index) >> 2 | UINT64_C(1) << 61);
        t->turn.state = RUNNABLE;
        pct.threads[pct.count++] = t;
    }
}

static void remove_thread(struct tms_rt_thread *t)
{
    assert(tms_rt_mutex_is_mine(&pct.lock));
    for (uint32_t i = 0; i < pct.count; i++) {
        if (pct.threads[i] == t) {
            pct.threads[i] = pct.threads[--pct.count];
        }
    }
    t->turn.priority = 0;
}

static void wake(struct tms_rt_thread *t)
{
    atomic_fetch_add(&t->turn.calls, 1);
    tms_rt_raw(SYS_futex, (long)&t->turn.calls, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static struct tms_rt_thread *best_of(unsigned state)
{
    struct tms_rt_thread *best = NULL;

    assert(tms_rt_mutex_is_mine(&pct.lock) && state <= WANTS_LOCK);
    for (uint32_t i = 0; i < pct.count; i++) {
        struct tms_rt_thread *t = pct.threads[i];
        assert(takes_part(t));
        if (t->turn.state == state && (best == NULL || t->turn.priority > best->turn.priority)) {
            best = t;
        }
    }
    return best;
}

/* Lets the next thread run; if all of them want locks, the best one tries. */
static void hand_over(void)
{
    struct tms_rt_thread *next = best_of(RUNNABLE);

    if (next == NULL && (next = best_of(WANTS_LOCK)) != NULL) {
        next->turn.state = RUNNABLE;
        next->turn.wanted = 0;
    }
    assert(next == NULL || (next->turn.state == RUNNABLE && takes_part(next)));
    struct tms_rt_thread *before = atomic_exchange(&pct.current, next);
    atomic_store(&pct.moved, tms_rt_monotonic_time());
    if (next != NULL && next != before) {
        next->turn.same = 0;
        wake(next);
    }
}

/* ---- locks -------------------------------------------------------------------------------- */

/* The row of a lock, or one that it can use; NULL: there is none. */
static struct held *find_lock(uintptr_t lock)
{
    struct held *reusable = NULL;
    uint64_t at = mix(lock);

    assert(tms_rt_mutex_is_mine(&pct.lock) && lock > 1);
    for (uint32_t tries = 0; tries < LOCKS; tries++, at++) {
        struct held *row = &pct.held[at & (LOCKS - 1)];
        if (row->lock == lock) {
            return row;
        }
        if (row->lock == 0) {
            return reusable != NULL ? reusable : row;
        }
        reusable = reusable == NULL && row->lock == 1 ? row : reusable;
    }
    return reusable;
}

static bool is_held_by_other(const struct tms_rt_thread *t, uintptr_t lock)
{
    const struct held *row = find_lock(lock);

    return row != NULL && row->lock == lock && row->thread != t;
}

static void release_lock(struct held *row, uintptr_t lock)
{
    assert(row->lock == lock);
    row->lock = 1;
    for (uint32_t i = 0; i < pct.count; i++) {
        struct tms_rt_thread *t = pct.threads[i];
        if (t->turn.state == WANTS_LOCK && t->turn.wanted == lock) {
            t->turn.state = RUNNABLE;
        }
    }
}

/* Shared locks have no owner: a thread that wants one tries to take it. */
static void lock_changed(struct tms_rt_thread *t, const void *object, bool shared, bool acquired)
{
    uintptr_t lock = (uintptr_t)object;

    tms_rt_mutex_lock(&pct.lock);
    struct held *row = shared ? NULL : find_lock(lock);
    if (row != NULL && acquired && row->lock != lock) {
        *row = (struct held){lock, t};
    } else if (row != NULL && !acquired && row->lock == lock) {
        release_lock(row, lock);
    }
    tms_rt_mutex_unlock(&pct.lock);
}

/* ---- turns -------------------------------------------------------------------------------- */

/*
 * Has the thread whose turn it is been seen waiting in the kernel twice, or has it reached no point
 * for a long time?
 */
static bool is_astray(struct tms_rt_thread *current, uint64_t moved, unsigned *seen)
{
    if (tms_rt_monotonic_time() - moved > LONG_TIME) {
        return true;
    }
    /* A thread that has its turn but has not woken up yet does not count. */
    bool away = !atomic_load(&current->steered) && tms_rt_is_waiting(current);
    *seen = away ? *seen + 1 : 0;
    return *seen >= 2;
}

/* Lets another thread run if the running one has not moved since the last check. */
static void watch(unsigned *seen)
{
    struct tms_rt_thread *current = atomic_load(&pct.current);
    uint64_t moved = atomic_load(&pct.moved);

    if (current == NULL || tms_rt_monotonic_time() - moved < LOOK_EVERY) {
        *seen = 0;
        return;
    }
    if (!is_astray(current, moved, seen)) {
        return;
    }
    tms_rt_mutex_lock(&pct.lock);
    if (atomic_load(&pct.current) == current && atomic_load(&pct.moved) == moved) {
        current->turn.state = WAITS; /* until it reaches a point */
        hand_over();
    }
    tms_rt_mutex_unlock(&pct.lock);
    *seen = 0;
}

/* Keeps a waiting thread runnable, even if others took it for blocked before it woke up. */
static void stay_in(struct tms_rt_thread *t)
{
    tms_rt_mutex_lock(&pct.lock);
    t->turn.state = t->turn.state == WAITS ? RUNNABLE : t->turn.state;
    if (atomic_load(&pct.current) == NULL) {
        hand_over();
    }
    tms_rt_mutex_unlock(&pct.lock);
}

/* Waits until it is the thread's turn. The lock is not held. True if it had to wait. */
static bool wait_for_turn(struct tms_rt_thread *t)
{
    assert(t == tms_rt_self && tms_rt_mutex_is_not_mine(&pct.lock));
    struct {
        long seconds, nanoseconds;
    } some = {0, (long)LOOK_EVERY};
    unsigned seen = 0;
    bool waited = false;

    while (atomic_load(&pct.current) != t) {
        uint32_t calls = atomic_load(&t->turn.calls);
        if (atomic_load(&pct.current) != t) {
            waited = true;
            atomic_store(&t->steered, true);
            if (t->from_outside) {
                tms_rt_leave_fast(t);
            }
            tms_rt_raw(SYS_futex, (long)&t->turn.calls, FUTEX_WAIT_PRIVATE, calls, (long)&some, 0,
                       0);
            t->inside = 1;
            atomic_store(&t->steered, false);
            stay_in(t);
            watch(&seen);
        }
    }
    return waited;
}

/* The thread is runnable again, and continues when it is its turn. */
static bool come_back(struct tms_rt_thread *t)
{
    tms_rt_mutex_lock(&pct.lock);
    add_thread(t);
    t->turn.state = RUNNABLE;
    if (atomic_load(&pct.current) == NULL) {
        hand_over();
    }
    tms_rt_mutex_unlock(&pct.lock);
    return takes_part(t) && wait_for_turn(t);
}

static void change_priority(struct tms_rt_thread *t)
{
    assert(tms_rt_schedule.depth <= CHANGES_MOST && pct.steps > 0);
    for (uint64_t i = 0; i + 1 < tms_rt_schedule.depth; i++) {
        if (pct.changes[i] == pct.steps) {
            t->turn.priority = (int64_t)i + 1;
        }
    }
}

static void notice_spinning(struct tms_rt_thread *t, uintptr_t pc)
{
    assert(tms_rt_mutex_is_mine(&pct.lock) && pct.lowest <= 0);
    t->turn.same = t->turn.pc == pc ? t->turn.same + 1 : 0;
    t->turn.pc = pc;
    if (t->turn.same > SPINS_MOST) {
        t->turn.priority = --pct.lowest;
        t->turn.same = 0;
    }
}

/* The thread has its turn: chooses the next one. */
static bool take_step(struct tms_rt_thread *t, const struct tms_rt_point *point)
{
    tms_rt_mutex_lock(&pct.lock);
    pct.steps++;
    change_priority(t);
    notice_spinning(t, point->pc);
    hand_over();
    tms_rt_mutex_unlock(&pct.lock);
    return wait_for_turn(t);
}

/* The thread is not runnable while another one holds the lock. */
static bool wait_for_lock(struct tms_rt_thread *t, uintptr_t lock)
{
    bool waited = false, tries = false;

    while (!tries) {
        tms_rt_mutex_lock(&pct.lock);
        tries = t->turn.wanted == 0 && waited; /* no thread was runnable, so this one may try */
        tries = tries || !is_held_by_other(t, lock);
        t->turn.wanted = tries ? 0 : lock;
        t->turn.state = tries ? RUNNABLE : WANTS_LOCK;
        if (!tries) {
            hand_over();
        }
        tms_rt_mutex_unlock(&pct.lock);
        if (!tries) {
            waited = true;
            wait_for_turn(t);
        }
    }
    return waited;
}

static bool at_point(struct tms_rt_thread *t, const struct tms_rt_point *point)
{
    if (!tms_rt_is_point(point->kind)) {
        return false;
    }
    bool waited = come_back(t);
    if (!takes_part(t)) {
        return false;
    }
    waited |= take_step(t, point);
    if (point->kind == TMS_RT_AT_ACQUIRE) {
        waited |= wait_for_lock(t, point->object);
    }
    return waited;
}

/* ---- waiting, starting, ending ------------------------------------------------------------ */

static void waits(struct tms_rt_thread *t, bool begins)
{
    if (!begins) {
        come_back(t);
        return;
    }
    tms_rt_mutex_lock(&pct.lock);
    if (takes_part(t)) {
        t->turn.state = WAITS;
        if (atomic_load(&pct.current) == t) {
            hand_over();
        }
    }
    tms_rt_mutex_unlock(&pct.lock);
}

static void forks(struct tms_rt_thread *child)
{
    tms_rt_mutex_lock(&pct.lock);
    add_thread(child);
    tms_rt_mutex_unlock(&pct.lock);
}

static void ends(struct tms_rt_thread *t)
{
    tms_rt_mutex_lock(&pct.lock);
    remove_thread(t);
    if (atomic_load(&pct.current) == t) {
        hand_over();
    }
    tms_rt_mutex_unlock(&pct.lock);
}

static void start(void)
{
    for (uint64_t i = 0; i < CHANGES_MOST; i++) {
        pct.changes[i] = 1 + random_of(UINT64_C(1) << 40 | i) % tms_rt_schedule.points;
    }
}

/*
 * In the child of a fork. The only thread gets its new index, on which its priority depends, after
 * this (tms_rt_registry_restart): its next point adds it (come_back).
 */
static void restart(void)
{
    tms_rt_mutex_restart(&pct.lock);
    pct.count = 0;
    atomic_store(&pct.current, NULL);
    for (uint32_t i = 0; i < LOCKS; i++) {
        pct.held[i].lock = 0;
    }
}

const struct tms_rt_strategy tms_rt_pct = {.start = start,
                                           .point = at_point,
                                           .eager = true,
                                           .lock_changed = lock_changed,
                                           .waits = waits,
                                           .forks = forks,
                                           .ends = ends,
                                           .restart = restart};
