/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directed strategy: a thread that reaches the end of a window is held there until another
 * thread has made a conflicting access to the window's object, or, if that is a lock, has taken it;
 * at most for the schedule's bound.
 *
 *     A: open ── close ┄┄┄┄ held ┄┄┄┄┄┄ goes on        step 1 opened, step 3 closed
 *     B:                ── foreign access               step 2
 *
 * The window's object is what A accessed at `open`, or accesses at `close` if no `open` is given. A
 * thread that reaches the end of a window while another one is held there may be the one that is
 * waited for, so it is not held, unless that was in vain before. A window over two variables lasts
 * until the other thread has made a second access, at `until`. Holding never stops the program: a
 * thread is let go after the bound, or as soon as all other threads wait. A window that was held in
 * vain UNMET_MOST times is given up; after COST_MOST of holds in vain all windows are.
 */
#include <assert.h>

#include "base/hash_mix.h"
#include "runtime/core/scheduler.h"

#include "runtime/core/blocked_threads.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/sites.h"
#include "runtime/spool/spool_writer.h"

#define MICROSECOND UINT64_C(1000)
#define MILLISECOND UINT64_C(1000000)
#define HOLDS       16u
#define UNMET_MOST  20u
#define COST_MOST   (10000 * MILLISECOND)
#define POLL        (50 * MICROSECOND)
#define LOOK_EVERY  20u               /* polls between two checks for blocked threads */
#define SETTLES     (2 * MILLISECOND) /* longest wait for another thread's access */
#define PATIENCE    1u
#define FILTER      4096u

struct window {
    _Atomic uintptr_t close, open, foreign, until; /* instructions; 0: not given, or not loaded */
    _Atomic uint32_t close_site;                   /* `close` only with this call stack; 0: any */
    _Atomic uint32_t unmet;
    uint32_t patience;        /* under the lock: threads that may pass a held one */
    _Atomic uint32_t holding; /* held threads */
};

/* A held thread. Under the lock, except for what is atomic. */
struct hold {
    const struct tms_rt_thread *thread; /* NULL: free */
    uint32_t window;
    uintptr_t object; /* 8 aligned bytes, or a lock */
    uint8_t bytes;    /* which of them; 0: it is a lock */
    bool any;         /* reads of other threads conflict as well */
    uint64_t until;   /* stale if the thread left by a jump */
    const struct tms_rt_thread *_Atomic met;
    uint32_t met_at;       /* its points_passed then */
    _Atomic uint32_t done; /* nonzero: `met` has reached `until` since, … */
    uint32_t done_at;      /* … and its points_passed then */
    uint32_t passes;       /* other threads that passed the end of the window */
    _Atomic bool dropped;  /* another thread is held instead */
    _Atomic uint32_t over; /* nonzero: met or dropped */
};

static struct {
    struct tms_rt_mutex lock;
    struct window windows[TMS_SCHEDULE_WINDOWS];
    struct hold holds[HOLDS];
    _Atomic uint32_t active;
    _Atomic uint64_t cost; /* nanoseconds spent on holds in vain */
    _Atomic uint8_t filter[FILTER];
} directed;

/* ---- places ------------------------------------------------------------------------------- */

static _Atomic uint8_t *filter_of(uintptr_t pc)
{
    return &directed.filter[tms_hash(pc) >> 52];
}

static void find_place(const struct tms_schedule_site *site, _Atomic uintptr_t *place,
                       const char *path, uintptr_t bias)
{
    if (site->object[0] != '\0' && tms_site_is_in(site, path)) {
        atomic_store(place, bias + site->offset);
        atomic_store(filter_of(bias + site->offset), 1);
    }
}

void tms_rt_steer_module(const char *path, uintptr_t bias)
{
    for (uint32_t i = 0; i < tms_rt_schedule.window_count; i++) {
        const struct tms_schedule_window *from = &tms_rt_schedule.windows[i];
        struct window *window = &directed.windows[i];
        window->patience = window->patience != 0 ? window->patience : PATIENCE;
        find_place(&from->close, &window->close, path, bias);
        find_place(&from->open, &window->open, path, bias);
        find_place(&from->foreign, &window->foreign, path, bias);
        find_place(&from->until, &window->until, path, bias);
    }
}

static bool wants(uintptr_t pc)
{
    return atomic_load_explicit(filter_of(pc), memory_order_relaxed) != 0;
}

/* ---- steps -------------------------------------------------------------------------------- */

TMS_RT_EXPORT void tmesis_schedule_step(unsigned step, const char *what);

/* A breakpoint for debuggers: does nothing. */
__attribute__((noinline)) void tmesis_schedule_step(unsigned step, const char *what)
{
    __asm__ volatile("" : : "r"(step), "r"(what) : "memory");
}

/* ---- what a window is about --------------------------------------------------------------- */

static uint8_t bytes_of(const struct tms_rt_point *point)
{
    size_t first = point->object & 7, size = point->size < 8 - first ? point->size : 8 - first;

    assert(size > 0 && first + size <= 8);
    return (uint8_t)(((1u << size) - 1) << first);
}

static bool is_access(const struct tms_rt_point *point)
{
    return point->kind == TMS_RT_AT_ACCESS || point->kind == TMS_RT_AT_ATOMIC;
}

static struct tms_rt_opened about(const struct tms_rt_thread *t, const struct tms_rt_point *point,
                                  uint32_t window)
{
    bool access = is_access(point);

    assert(window < TMS_SCHEDULE_WINDOWS);
    return (struct tms_rt_opened){.window = window + 1,
                                  .event = t->number,
                                  .object = access ? point->object & ~UINT64_C(7) : point->object,
                                  .bytes = access ? bytes_of(point) : 0,
                                  .writes = access && point->writes};
}

static void open_window(struct tms_rt_thread *t, const struct tms_rt_point *point, uint32_t window)
{
    uint32_t at = 0;

    while (at < TMS_RT_OPENED - 1 && t->opened[at].window != window + 1 &&
           t->opened[at].window != 0) {
        at++;
    }
    t->opened[at] = about(t, point, window);
    tmesis_schedule_step(1, "opened");
}

/*
 * Is it the end of the window? If all locks are taken at one instruction (std::mutex::lock), a
 * window between two acquires needs the same lock, unless the schedule says otherwise.
 */
static bool is_end(const struct tms_rt_opened *opened, const struct tms_rt_point *point)
{
    const struct window *window = &directed.windows[opened->window - 1];

    assert(opened->window > 0 && opened->window <= tms_rt_schedule.window_count);
    if (tms_rt_schedule.windows[opened->window - 1].two_locks) {
        return opened->object != point->object;
    }
    return opened->bytes != 0 || opened->object == point->object ||
           atomic_load(&window->open) != atomic_load(&window->close);
}

/* Closes the window. False if the thread has not opened it. */
static bool close_window(struct tms_rt_thread *t, uint32_t window, const struct tms_rt_point *point,
                         struct tms_rt_opened *opened)
{
    for (uint32_t i = 0; i < TMS_RT_OPENED; i++) {
        if (t->opened[i].window == window + 1 && is_end(&t->opened[i], point)) {
            *opened = t->opened[i];
            t->opened[i].window = 0;
            return true;
        }
    }
    return false;
}

/* ---- holds -------------------------------------------------------------------------------- */

/* A hold of another thread on the same object; NULL: none. */
static struct hold *find_hold(const struct tms_rt_thread *t, uintptr_t object, uint8_t bytes)
{
    assert(tms_rt_mutex_is_mine(&directed.lock));
    for (uint32_t i = 0; i < HOLDS; i++) {
        struct hold *hold = &directed.holds[i];
        if (hold->thread != NULL && hold->thread != t && hold->object == object &&
            !atomic_load(&hold->dropped) &&
            (bytes == 0 ? hold->bytes == 0 : (hold->bytes & bytes) != 0) &&
            tms_rt_monotonic_time() < hold->until) {
            return hold;
        }
    }
    return NULL;
}

static void meet_hold(const struct tms_rt_thread *t, uintptr_t object, uint8_t bytes, bool writes)
{
    tms_rt_mutex_lock(&directed.lock);
    struct hold *hold = find_hold(t, object, bytes);
    bool met = hold != NULL && (writes || hold->any) && atomic_load(&hold->met) == NULL;
    if (met) {
        hold->met_at = t->points_passed;
        atomic_store(&hold->met, t);
        atomic_store(&hold->over, 1);
    }
    tms_rt_mutex_unlock(&directed.lock);
    if (met) {
        tmesis_schedule_step(2, "foreign access");
    }
}

static void accesses(struct tms_rt_thread *t, uintptr_t address, uint8_t bytes, bool writes)
{
    if (atomic_load_explicit(&directed.active, memory_order_relaxed) != 0) {
        meet_hold(t, address & ~UINT64_C(7), bytes, writes);
    }
}

/* A hold of another thread in the window that can still be met; NULL: none. */
static struct hold *find_window_hold(const struct tms_rt_thread *t, uint32_t window)
{
    for (uint32_t i = 0; i < HOLDS; i++) {
        struct hold *hold = &directed.holds[i];
        if (hold->thread != NULL && hold->thread != t && hold->window == window &&
            !atomic_load(&hold->dropped) && tms_rt_monotonic_time() < hold->until) {
            return hold;
        }
    }
    return NULL;
}

/*
 * Another thread is held there, and this one may be the one that it waits for. Once so many have
 * passed without a conflict that this is unlikely, the two trade places: the held thread may be
 * late, waiting for accesses that the other one never repeats. Patience doubles each time, so that
 * the late thread catches up.
 */
static bool changes_places(struct hold *other)
{
    struct window *window = &directed.windows[other->window];
    bool dropped = ++other->passes > window->patience && atomic_load(&other->met) == NULL;

    assert(tms_rt_mutex_is_mine(&directed.lock) && other->thread != NULL);
    if (dropped) {
        window->patience *= 2;
        atomic_store(&other->dropped, true);
        atomic_store(&other->over, 1);
    }
    return dropped;
}

/* A free hold, filled in; NULL: another thread is held there, or there are too many holds. */
static struct hold *take_hold(const struct tms_rt_thread *t, const struct tms_rt_opened *opened,
                              bool any, uint64_t until)
{
    struct hold *taken = NULL;

    tms_rt_mutex_lock(&directed.lock);
    struct hold *other = find_hold(t, opened->object, opened->bytes);
    other = other != NULL ? other : find_window_hold(t, opened->window - 1);
    if (other == NULL || changes_places(other)) {
        for (uint32_t i = 0; i < HOLDS && taken == NULL; i++) {
            struct hold *hold = &directed.holds[i];
            taken = hold->thread == NULL || tms_rt_monotonic_time() >= hold->until ? hold : NULL;
        }
    }
    if (taken != NULL) {
        atomic_fetch_add(&directed.active, taken->thread == NULL);
        *taken = (struct hold){.thread = t,
                               .window = opened->window - 1,
                               .object = opened->object,
                               .bytes = opened->bytes,
                               .any = any,
                               .until = until};
    }
    tms_rt_mutex_unlock(&directed.lock);
    return taken;
}

/* Not below 0: in the child of a fork the count starts over while this thread is held. */
static void lower(_Atomic uint32_t *count)
{
    uint32_t value = atomic_load(count);

    while (value > 0 && !atomic_compare_exchange_weak(count, &value, value - 1)) {
    }
}

static void give_hold(struct hold *hold)
{
    tms_rt_mutex_lock(&directed.lock);
    hold->thread = NULL;
    lower(&directed.active);
    tms_rt_mutex_unlock(&directed.lock);
}

/*
 * Waits until the flag is not 0; false: the wait was in vain. The flag is published, so that a
 * thread whose wait is over, but which has not run since, does not count as stuck. It is
 * published at each poll, because a signal handler may have waited in between.
 */
static bool wait_for(struct tms_rt_thread *t, const _Atomic uint32_t *flag)
{
    uint64_t end = tms_rt_monotonic_time() + tms_rt_schedule.bound * MILLISECOND;
    unsigned stuck = 0;

    assert(t == tms_rt_self && tms_rt_mutex_is_not_mine(&directed.lock));
    bool came = atomic_load(flag) != 0;
    for (unsigned polls = 1; !came && stuck < 2 && tms_rt_monotonic_time() < end; polls++) {
        atomic_store(&t->held_until, flag);
        tms_rt_rest(t, POLL);
        came = atomic_load(flag) != 0;
        if (!came && polls % LOOK_EVERY == 0) {
            stuck = tms_rt_others_are_stuck(t) ? stuck + 1 : 0;
        }
    }
    atomic_store(&t->held_until, NULL);
    return came;
}

/*
 * The other thread has announced its access, and makes it after it has left the runtime. It has
 * made it when it reaches its next point, or some time has passed.
 */
static void let_settle(struct tms_rt_thread *t, const struct tms_rt_thread *other, uint32_t points)
{
    uint64_t end = tms_rt_monotonic_time() + SETTLES;

    do {
        tms_rt_rest(t, POLL);
    } while (__atomic_load_n(&other->points_passed, __ATOMIC_RELAXED) == points &&
             tms_rt_monotonic_time() < end);
}

/* Waits for the access that met the hold, and for the second one, if the window has two. */
static void let_finish(struct tms_rt_thread *t, const struct hold *hold,
                       const struct window *window)
{
    const struct tms_rt_thread *other = atomic_load(&hold->met);

    let_settle(t, other, hold->met_at);
    if (atomic_load(&window->until) != 0 && wait_for(t, &hold->done)) {
        let_settle(t, other, hold->done_at);
    }
}

/* The thread reaches the second access that a window waits for. */
static void at_until(const struct tms_rt_thread *t, uint32_t window)
{
    tms_rt_mutex_lock(&directed.lock);
    struct hold *hold = find_window_hold(t, window);
    if (hold != NULL && atomic_load(&hold->met) == t && t->points_passed != hold->met_at &&
        atomic_load(&hold->done) == 0) {
        hold->done_at = t->points_passed;
        atomic_store(&hold->done, 1);
    }
    tms_rt_mutex_unlock(&directed.lock);
}

/* Holds in vain are not repeated forever. */
static bool is_given_up(const struct window *window)
{
    return atomic_load(&window->unmet) >= UNMET_MOST || atomic_load(&directed.cost) > COST_MOST;
}

static void count_vain(struct window *window, uint64_t since)
{
    atomic_fetch_add(&window->unmet, 1);
    atomic_fetch_add(&directed.cost, tms_rt_monotonic_time() - since);
}

/* True if the thread was held. */
static bool hold_there(struct tms_rt_thread *t, const struct tms_rt_opened *opened,
                       const struct tms_rt_point *point, struct window *window)
{
    uint64_t now = tms_rt_monotonic_time();
    bool any = opened->writes && (!is_access(point) || point->writes);
    struct hold *hold =
        is_given_up(window)
            ? NULL
            : take_hold(t, opened, any, now + 2 * tms_rt_schedule.bound * MILLISECOND);

    if (hold == NULL) {
        return false;
    }
    atomic_fetch_add(&window->holding, 1);
    bool over = wait_for(t, &hold->over), met = atomic_load(&hold->met) != NULL;
    lower(&window->holding);
    if (met) {
        let_finish(t, hold, window);
        tmesis_schedule_step(3, "closed");
    } else if (!over) {
        count_vain(window, now);
    }
    give_hold(hold);
    tms_rt_count_hold(met);
    return true;
}

/* ---- the other thread --------------------------------------------------------------------- */

/* True if the thread had to wait for another one to be inside the window. */
static bool wait_for_window(struct tms_rt_thread *t, struct window *window)
{
    uint64_t now = tms_rt_monotonic_time();

    if (atomic_load(&window->holding) != 0 || is_given_up(window)) {
        return false;
    }
    if (!wait_for(t, &window->holding)) {
        count_vain(window, now);
    }
    return true;
}

/* ---- points ------------------------------------------------------------------------------- */

/*
 * The site of the outermost lock that the thread has taken inside the window and still holds; 0:
 * none. A thread that is held with that lock would keep the others out.
 */
static uint32_t lock_inside(const struct tms_rt_thread *t, const struct tms_rt_opened *opened)
{
    for (uint32_t i = 0; i < t->held_count; i++) {
        if (t->held[i].since >= opened->event && t->held[i].site != 0) {
            return t->held[i].site;
        }
    }
    return 0;
}

/* From now on threads are held where they take that lock. */
static void move_close(struct window *window, uint32_t site)
{
    atomic_store(&window->close_site, site);
    atomic_store(&window->close, tms_rt_site_pc(site));
    atomic_store(filter_of(tms_rt_site_pc(site)), 1);
}

/*
 * The thread is at the end of a window, which it is inside if the window has a beginning. With two
 * locks it waits for the second, because another thread that takes both takes that one last.
 */
static bool at_close(struct tms_rt_thread *t, const struct tms_rt_point *point, uint32_t index)
{
    const struct tms_schedule_window *given = &tms_rt_schedule.windows[index];
    struct window *window = &directed.windows[index];
    struct tms_rt_opened here = about(t, point, index), opened = here;
    uint32_t only = atomic_load(&window->close_site);

    if ((only != 0 && only != tms_rt_site(t, point->pc)) ||
        (given->open.object[0] != '\0' && !close_window(t, index, point, &opened))) {
        return false;
    }
    uint32_t lock = is_access(point) ? lock_inside(t, &opened) : 0;
    if (lock != 0) {
        move_close(window, lock);
        return false;
    }
    return hold_there(t, given->two_locks ? &here : &opened, point, window);
}

static bool at_place(struct tms_rt_thread *t, const struct tms_rt_point *point)
{
    bool held = false;

    for (uint32_t i = 0; i < tms_rt_schedule.window_count; i++) {
        struct window *window = &directed.windows[i];
        if (atomic_load_explicit(&window->close, memory_order_relaxed) == point->pc) {
            held |= at_close(t, point, i);
        }
        if (atomic_load_explicit(&window->foreign, memory_order_relaxed) == point->pc) {
            held |= wait_for_window(t, window);
        }
        if (atomic_load_explicit(&window->open, memory_order_relaxed) == point->pc) {
            open_window(t, point, i);
        }
        if (atomic_load_explicit(&window->until, memory_order_relaxed) == point->pc) {
            at_until(t, i);
        }
    }
    return held;
}

static bool at_point(struct tms_rt_thread *t, const struct tms_rt_point *point)
{
    /* A signal handler left the wait by a jump; or it interrupts it, and the next poll says so. */
    if (atomic_load_explicit(&t->held_until, memory_order_relaxed) != NULL) {
        atomic_store(&t->held_until, NULL);
    }
    if (point->kind == TMS_RT_AT_ACQUIRED &&
        atomic_load_explicit(&directed.active, memory_order_relaxed) != 0) {
        meet_hold(t, point->object, 0, true);
    }
    bool place =
        is_access(point) || point->kind == TMS_RT_AT_ACQUIRE || point->kind == TMS_RT_AT_TRY;

    return place && point->pc != 0 && wants(point->pc) && at_place(t, point);
}

static void restart(void)
{
    tms_rt_mutex_restart(&directed.lock);
    for (uint32_t i = 0; i < HOLDS; i++) {
        directed.holds[i].thread = NULL;
    }
    for (uint32_t i = 0; i < TMS_SCHEDULE_WINDOWS; i++) {
        atomic_store(&directed.windows[i].holding, 0);
    }
    atomic_store(&directed.active, 0);
}

const struct tms_rt_strategy tms_rt_directed = {
    .point = at_point, .wants = wants, .accesses = accesses, .restart = restart};
