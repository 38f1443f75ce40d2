/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of a process, and its scheduling points; see scheduler.h. */
#include "runtime/core/scheduler.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash_mix.h"
#include "runtime/core/blocked_threads.h"
#include "runtime/core/engine_online.h"
#include "runtime/core/function_names.h"
#include "runtime/core/judge_events.h"
#include "runtime/core/raw_system_call.h"
#include "runtime/core/runtime_memory.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/window_learning.h"
#include "runtime/shadow/shared_use.h"
#include "runtime/spool/spool_writer.h"

#define SECOND UINT64_C(1000000000)

bool tms_rt_scheduled;
struct tms_schedule tms_rt_schedule;

static const struct tms_rt_strategy nothing;
static const struct tms_rt_strategy learning = {.eager = true}; /* counts the points of pct */
static const struct tms_rt_strategy *const strategies[] = {
    [TMS_STRATEGY_LEARN] = &learning,
    [TMS_STRATEGY_NOISE] = &tms_rt_noise,
    [TMS_STRATEGY_PCT] = &tms_rt_pct,
    [TMS_STRATEGY_DIRECTED] = &tms_rt_directed,
};
const struct tms_rt_strategy *tms_rt_strategy = &nothing;
static struct tms_spool_schedule *record; /* NULL: there was no room for it */

/* ---- start -------------------------------------------------------------------------------- */

static bool parse_file(const char *path)
{
    struct tms_schedule_complaint complaint;
    char *text = tms_rt_map(TMS_SCHEDULE_MOST);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 && text != NULL ? read(file, text, TMS_SCHEDULE_MOST) : -1;

    if (file >= 0) {
        close(file);
    }
    return length >= 0 && tms_schedule_parse(&tms_rt_schedule, text, (size_t)length, &complaint);
}

static void open_record(void)
{
    record = tms_rt_spool_record(TMS_SPOOL_SCHEDULE, sizeof(*record));
    if (record != NULL) {
        record->strategy = (uint32_t)tms_rt_schedule.strategy;
        record->seed = tms_rt_schedule.seed;
    }
}

bool tms_rt_schedule_start(const char *path, const char *perturb)
{
    if (path == NULL && perturb == NULL) {
        return true;
    }
    tms_schedule_init(&tms_rt_schedule, TMS_STRATEGY_NOISE);
    if (path != NULL && !parse_file(path)) {
        return false;
    }
    if (path == NULL) {
        tms_rt_schedule.seed = strtoull(perturb, NULL, 10);
    }
    if (tms_rt_mode.memory && !tms_rt_steering_start()) {
        return false;
    }
    tms_rt_strategy = strategies[tms_rt_schedule.strategy];
    assert(tms_rt_strategy != NULL);
    if (tms_rt_strategy->start != NULL) {
        tms_rt_strategy->start();
    }
    tms_rt_mode.scheduled = tms_rt_scheduled = true;
    tms_rt_note_modules();
    open_record();
    return true;
}

void tms_rt_schedule_restart(void)
{
    if (tms_rt_scheduled) {
        tms_rt_windows_restart();
        tms_rt_blocked_threads_restart();
        if (tms_rt_strategy->restart != NULL) {
            tms_rt_strategy->restart();
        }
        open_record();
    }
}

/* ---- points ------------------------------------------------------------------------------- */

void tms_rt_rest(struct tms_rt_thread *t, uint64_t nanoseconds)
{
    assert(t->inside == 1 && t == tms_rt_self);
    struct {
        long seconds, nanoseconds;
    } time = {(long)(nanoseconds / SECOND), (long)(nanoseconds % SECOND)};

    if (t->from_outside) {
        tms_rt_leave_fast(t);
    }
    tms_rt_raw(SYS_nanosleep, (long)&time, 0, 0, 0, 0, 0);
    t->inside = 1;
}

uint64_t tms_rt_random(struct tms_rt_thread *t)
{
    if (t->random == 0) {
        t->random = (tms_rt_schedule.seed * 2 + 1) * TMS_HASH_FACTOR + t->index;
    }
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    assert(t->random != 0); /* 0 is a fixed point of the generator */
    return t->random;
}

static void count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

void tms_rt_count_hold(bool met)
{
    if (record != NULL) {
        count(&record->holds);
        count(met ? &record->met : &record->released);
    }
}

static void reach_point(struct tms_rt_thread *t, const struct tms_rt_point *point)
{
    bool delayed = tms_rt_strategy->point != NULL && tms_rt_strategy->point(t, point);

    assert(t->inside == 1 && tms_rt_scheduled);
    assert(tms_rt_mutex_is_not_mine(&tms_rt_engine_lock)); /* a delay would stop all others */
    __atomic_store_n(&t->points_passed, t->points_passed + 1, __ATOMIC_RELAXED);
    if (record != NULL && tms_rt_is_point(point->kind)) {
        count(&record->points);
    }
    if (delayed) {
        tms_rt_was_delayed(t);
        if (record != NULL) {
            count(&record->delays);
        }
    }
}

static void pass_outside(const struct tms_rt_point *point)
{
    struct tms_rt_thread *t = tms_rt_enter();

    if (t != NULL) {
        int error = errno;
        t->from_outside = true;
        reach_point(t, point);
        t->from_outside = false;
        errno = error;
        tms_rt_leave(t);
    }
}

void tms_rt_point_inside(struct tms_rt_thread *t, enum tms_rt_point_kind kind, const void *object,
                         uintptr_t pc)
{
    reach_point(t, &(struct tms_rt_point){.kind = kind, .object = (uintptr_t)object, .pc = pc});
}

void tms_rt_access_point(struct tms_rt_thread *t, uintptr_t address, size_t size, bool writes,
                         uintptr_t pc)
{
    reach_point(t, &(struct tms_rt_point){.kind = TMS_RT_AT_ACCESS,
                                          .pc = pc,
                                          .object = address,
                                          .size = size,
                                          .reads = !writes,
                                          .writes = writes});
}

void tms_rt_point_outside(enum tms_rt_point_kind kind, const void *object, uintptr_t pc)
{
    pass_outside(&(struct tms_rt_point){.kind = kind, .object = (uintptr_t)object, .pc = pc});
}

void tms_rt_atomic_point(uintptr_t address, size_t size, enum tms_rt_access access, uintptr_t pc)
{
    pass_outside(&(struct tms_rt_point){.kind = TMS_RT_AT_ATOMIC,
                                        .pc = pc,
                                        .object = address,
                                        .size = size,
                                        .reads = access != TMS_RT_WRITE,
                                        .writes = access != TMS_RT_READ});
}

/*
 * ---- notifications of strategies ----------------------------------------------------------
 */

void tms_rt_waits_outside(bool begins)
{
    struct tms_rt_thread *t = tms_rt_strategy->waits != NULL ? tms_rt_enter() : NULL;

    if (t != NULL) {
        int error = errno;
        t->from_outside = true;
        tms_rt_strategy->waits(t, begins);
        t->from_outside = false;
        errno = error;
        tms_rt_leave(t);
    }
}

void tms_rt_steer_lock(struct tms_rt_thread *t, const void *lock, bool shared, bool acquired)
{
    if (tms_rt_strategy->lock_changed != NULL) {
        tms_rt_strategy->lock_changed(t, lock, shared, acquired);
    }
}

void tms_rt_steer_thread(struct tms_rt_thread *t, bool forks)
{
    void (*tell)(struct tms_rt_thread * thread) =
        forks ? tms_rt_strategy->forks : tms_rt_strategy->ends;

    if (tell != NULL) {
        tell(t);
    }
}
