/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C11 threads. The C library calls its POSIX functions under internal names, which can't be
 * interposed, so each function is intercepted here. If a C library does use the public names,
 * reporting an operation twice is harmless: the runtime takes the second acquire for a re-entrant
 * one.
 */
#include <threads.h>
#include <time.h>

#include "runtime/intercept/pthread_sync.h"
#include "runtime/intercept/thread_start.h"

_Static_assert(thrd_success == 0,
               "the rows of pthread_sync.h and thread_start.h take 0 for success");

/* ---- threads ---------------------------------------------------------------------------- */

static int start(void *argument)
{
    struct tms_rt_thread_creation *creation = argument;
    thrd_start_t routine = (thrd_start_t)creation->routine;
    argument = creation->argument;
    tms_rt_child_runs(creation);
    return routine(argument);
}

TMS_RT_REAL(int, thrd_create, (thrd_t *, thrd_start_t, void *))
TMS_RT_INTERPOSE int thrd_create(thrd_t *id, thrd_start_t routine, void *argument)
{
    struct tms_rt_thread_creation creation = {.routine = (uintptr_t)routine, .argument = argument};
    if (!tms_rt_begin_creation(&creation, TMS_RT_PC())) {
        return real_thrd_create()(id, routine, argument);
    }
    int result = real_thrd_create()(id, start, &creation);
    tms_rt_end_creation(&creation, result == thrd_success, false);
    return result;
}

TMS_RT_REAL(void, thrd_exit, (int))
TMS_RT_INTERPOSE void thrd_exit(int result)
{
    tms_rt_exiting();
    real_thrd_exit()(result);
    __builtin_unreachable();
}

TMS_RT_JOINS(thrd_join, (thrd_t id, int *result), (id, result), true)
TMS_RT_DETACHES(thrd_detach)

/* ---- mutexes ---------------------------------------------------------------------------- */

TMS_RT_TAKES(mtx_lock, (mtx_t * lock), (lock), tms_rt_acquired)
TMS_RT_TRIES(mtx_trylock, (mtx_t * lock), (lock), tms_rt_acquired)
TMS_RT_TRIES(mtx_timedlock, (mtx_t * lock, const struct timespec *until), (lock, until),
             tms_rt_acquired)
/* In the C library a mtx_t is a pthread_mutex_t. */
#define MUTEX_RELEASED(thread, lock, pc)                                                           \
    tms_rt_releasing_mutex(thread, (const pthread_mutex_t *)(lock), pc)

TMS_RT_GIVES(mtx_unlock, (mtx_t * lock), MUTEX_RELEASED)
TMS_RT_RENEWS(mtx_init, (mtx_t * object, int type), (object, type), TMS_RT_LOCK, NULL)

TMS_RT_REAL(void, mtx_destroy, (mtx_t *))
TMS_RT_INTERPOSE void mtx_destroy(mtx_t *lock)
{
    TMS_RT_REPORT(tms_rt_sync_gone(TMS_RT_LOCK, lock));
    real_mtx_destroy()(lock);
}

/* ---- condition variables ---------------------------------------------------------------- */

TMS_RT_WAITS(cnd_wait, (cnd_t * condition, mtx_t *lock), (condition, lock), false, NULL)
TMS_RT_WAITS(cnd_timedwait, (cnd_t * condition, mtx_t *lock, const struct timespec *until),
             (condition, lock, until), tms_rt_bad_time(until), NULL)
TMS_RT_DELAYS(cnd_signal, (cnd_t * condition), (condition), NULL)
TMS_RT_DELAYS(cnd_broadcast, (cnd_t * condition), (condition), NULL)
TMS_RT_RENEWS(cnd_init, (cnd_t * object), (object), TMS_RT_CONDITION, NULL)

TMS_RT_REAL(void, cnd_destroy, (cnd_t *))
TMS_RT_INTERPOSE void cnd_destroy(cnd_t *condition)
{
    TMS_RT_REPORT(tms_rt_sync_gone(TMS_RT_CONDITION, condition));
    real_cnd_destroy()(condition);
}

/* ---- once ------------------------------------------------------------------------------- */

TMS_RT_REAL(void, call_once, (once_flag *, tms_rt_initialiser *))
TMS_RT_INTERPOSE void call_once(once_flag *control, tms_rt_initialiser *routine)
{
    struct tms_rt_once once = {.control = control, .routine = routine, .pc = TMS_RT_PC()};
    real_call_once()(control, tms_rt_begin_once(&once));
    tms_rt_end_once(&once);
}
