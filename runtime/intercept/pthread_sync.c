/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX thread synchronisation: the real function does the work, and the result is reported to the
 * runtime. Acquiring operations are reported after the real function, releasing operations before
 * it, so that the object is this thread's alone in between. An operation that fails (busy, timed
 * out, not the owner) is not reported, except for EOWNERDEAD, which does take the lock. The real
 * functions are called from outside the runtime (after tms_rt_leave), because they may block, be
 * cancelled, or be interrupted by a handler of the program.
 *
 * Signals and broadcasts are no events: the mutex orders. They are interposed for schedules only.
 */
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "runtime/intercept/interpose.h"
#include "runtime/intercept/pthread_sync.h"

/* The version of condition variables that replaced glibc's oldest for x86-64. */
#define NEW_CONDITION "GLIBC_2.3.2"

/* ---- mutexes, read-write locks, spin locks ---------------------------------------------- */

TMS_RT_TAKES(pthread_mutex_lock, (pthread_mutex_t * lock), (lock), tms_rt_acquired)
TMS_RT_TRIES(pthread_mutex_trylock, (pthread_mutex_t * lock), (lock), tms_rt_acquired)
TMS_RT_TRIES(pthread_mutex_timedlock, (pthread_mutex_t * lock, const struct timespec *until),
             (lock, until), tms_rt_acquired)
TMS_RT_TRIES(pthread_mutex_clocklock,
             (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until),
             (lock, clock, until), tms_rt_acquired)
TMS_RT_GIVES(pthread_mutex_unlock, (pthread_mutex_t * lock), tms_rt_releasing_mutex)
TMS_RT_RENEWS(pthread_mutex_init, (pthread_mutex_t * object, const pthread_mutexattr_t *attributes),
              (object, attributes), TMS_RT_LOCK, NULL)
TMS_RT_RENEWS(pthread_mutex_destroy, (pthread_mutex_t * object), (object), TMS_RT_LOCK, NULL)

TMS_RT_TAKES(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), tms_rt_acquired_shared)
TMS_RT_TRIES(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock), tms_rt_acquired_shared)
TMS_RT_TRIES(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until),
             (lock, until), tms_rt_acquired_shared)
TMS_RT_TRIES(pthread_rwlock_clockrdlock,
             (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
             (lock, clock, until), tms_rt_acquired_shared)
TMS_RT_TAKES(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), tms_rt_acquired)
TMS_RT_TRIES(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock), tms_rt_acquired)
TMS_RT_TRIES(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until),
             (lock, until), tms_rt_acquired)
TMS_RT_TRIES(pthread_rwlock_clockwrlock,
             (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
             (lock, clock, until), tms_rt_acquired)
TMS_RT_GIVES(pthread_rwlock_unlock, (pthread_rwlock_t * lock), tms_rt_releasing_any)
TMS_RT_RENEWS(pthread_rwlock_init,
              (pthread_rwlock_t * object, const pthread_rwlockattr_t *attributes),
              (object, attributes), TMS_RT_LOCK, NULL)
TMS_RT_RENEWS(pthread_rwlock_destroy, (pthread_rwlock_t * object), (object), TMS_RT_LOCK, NULL)

/* The type is volatile; the runtime only needs the address. */
#define SPIN_TAKEN(thread, lock, pc)    tms_rt_acquired(thread, (const void *)(uintptr_t)lock, pc)
#define SPIN_RELEASED(thread, lock, pc) tms_rt_releasing(thread, (const void *)(uintptr_t)lock, pc)

TMS_RT_TAKES(pthread_spin_lock, (pthread_spinlock_t * lock), (lock), SPIN_TAKEN)
TMS_RT_TRIES(pthread_spin_trylock, (pthread_spinlock_t * lock), (lock), SPIN_TAKEN)
TMS_RT_GIVES(pthread_spin_unlock, (pthread_spinlock_t * lock), SPIN_RELEASED)
TMS_RT_RENEWS(pthread_spin_init, (pthread_spinlock_t * object, int shared), (object, shared),
              TMS_RT_LOCK, NULL)
TMS_RT_RENEWS(pthread_spin_destroy, (pthread_spinlock_t * object), (object), TMS_RT_LOCK, NULL)

/* ---- condition variables ---------------------------------------------------------------- */

void tms_rt_begin_wait(struct tms_rt_waiting *waiting)
{
    tms_rt_before(TMS_RT_AT_OTHER, waiting->condition, waiting->pc);
    struct tms_rt_thread *thread = tms_rt_enter();
    if (thread == NULL) {
        return;
    }
    int saved_errno = errno;
    TMS_RT_SYNC_STACK(thread);
    waiting->depth = tms_rt_wait_begins(thread, waiting->condition, waiting->lock, waiting->pc);
    waiting->reported = true;
    errno = saved_errno;
    tms_rt_leave(thread);
    tms_rt_waits(true);
}

void tms_rt_end_wait(void *argument)
{
    const struct tms_rt_waiting *waiting = argument;
    if (waiting->reported) {
        TMS_RT_REPORT(tms_rt_wait_ends(thread, waiting->lock, waiting->depth, waiting->pc));
    }
    tms_rt_waits(false);
}

TMS_RT_WAITS(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *lock),
             (condition, lock), false, NEW_CONDITION)
TMS_RT_WAITS(pthread_cond_timedwait,
             (pthread_cond_t * condition, pthread_mutex_t *lock, const struct timespec *until),
             (condition, lock, until), tms_rt_bad_time(until), NEW_CONDITION)
TMS_RT_WAITS(pthread_cond_clockwait,
             (pthread_cond_t * condition, pthread_mutex_t *lock, clockid_t clock,
              const struct timespec *until),
             (condition, lock, clock, until),
             tms_rt_bad_time(until) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC), NULL)
TMS_RT_DELAYS(pthread_cond_signal, (pthread_cond_t * condition), (condition), NEW_CONDITION)
TMS_RT_DELAYS(pthread_cond_broadcast, (pthread_cond_t * condition), (condition), NEW_CONDITION)
TMS_RT_RENEWS(pthread_cond_init, (pthread_cond_t * object, const pthread_condattr_t *attributes),
              (object, attributes), TMS_RT_CONDITION, NEW_CONDITION)
TMS_RT_RENEWS(pthread_cond_destroy, (pthread_cond_t * object), (object), TMS_RT_CONDITION,
              NEW_CONDITION)

/* ---- barriers --------------------------------------------------------------------------- */

TMS_RT_REAL(int, pthread_barrier_wait, (pthread_barrier_t *))
TMS_RT_INTERPOSE int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    uintptr_t pc = TMS_RT_PC();
    tms_rt_before(TMS_RT_AT_OTHER, barrier, pc);
    TMS_RT_REPORT_HERE(tms_rt_arriving(thread, barrier, pc));
    tms_rt_waits(true);
    int result = real_pthread_barrier_wait()(barrier);
    tms_rt_waits(false);
    if (result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD) {
        TMS_RT_REPORT(tms_rt_departed(thread, barrier, pc));
    }
    return result;
}

TMS_RT_RENEWS(pthread_barrier_init,
              (pthread_barrier_t * object, const pthread_barrierattr_t *attributes, unsigned count),
              (object, attributes, count), TMS_RT_BARRIER, NULL)
TMS_RT_RENEWS(pthread_barrier_destroy, (pthread_barrier_t * object), (object), TMS_RT_BARRIER, NULL)

/* ---- once ------------------------------------------------------------------------------- */

static TMS_RT_TLS struct tms_rt_once *calling;

/*
 * Runs in place of the initialiser. Reads `calling` before anything else can change it: an
 * initialiser may call once itself. If it leaves by an exception or by cancellation it was not
 * done.
 */
static void initialise(void)
{
    struct tms_rt_once *once = calling;
    once->routine();
    once->done = true;
    TMS_RT_REPORT(tms_rt_once_done(thread, once->control, once->pc));
}

tms_rt_initialiser *tms_rt_begin_once(struct tms_rt_once *once)
{
    tms_rt_before(TMS_RT_AT_OTHER, once->control, once->pc);
    calling = once;
    return initialise;
}

void tms_rt_end_once(const struct tms_rt_once *once)
{
    if (!once->done) {
        TMS_RT_REPORT_HERE(tms_rt_once_seen(thread, once->control, once->pc));
    }
}

TMS_RT_REAL(int, pthread_once, (pthread_once_t *, tms_rt_initialiser *))
TMS_RT_INTERPOSE int pthread_once(pthread_once_t *control, tms_rt_initialiser *routine)
{
    struct tms_rt_once once = {.control = control, .routine = routine, .pc = TMS_RT_PC()};
    int result = real_pthread_once()(control, tms_rt_begin_once(&once));
    if (result == 0) {
        tms_rt_end_once(&once);
    }
    return result;
}

/* ---- semaphores, those with names included ---------------------------------------------- */

TMS_RT_GIVES(sem_post, (sem_t * lock), tms_rt_semaphore)
TMS_RT_TRIES(sem_trywait, (sem_t * lock), (lock), tms_rt_semaphore)

/* Who waited in vain has waited all the same. */
#define SEMAPHORE_WAITS(name, parameters, arguments)                                               \
    TMS_RT_REAL(int, name, parameters)                                                             \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        uintptr_t pc = TMS_RT_PC();                                                                \
        tms_rt_before(TMS_RT_AT_OTHER, lock, pc);                                                  \
        tms_rt_waits(true);                                                                        \
        int result = real_##name() arguments;                                                      \
        tms_rt_waits(false);                                                                       \
        if (result == 0) {                                                                         \
            TMS_RT_REPORT_HERE(tms_rt_semaphore(thread, lock, pc));                                \
        }                                                                                          \
        if (result == 0 || errno == ETIMEDOUT || errno == EINTR) {                                 \
            TMS_RT_REPORT(tms_rt_rendezvous(thread, pc));                                          \
        }                                                                                          \
        return result;                                                                             \
    }

SEMAPHORE_WAITS(sem_wait, (sem_t * lock), (lock))
SEMAPHORE_WAITS(sem_timedwait, (sem_t * lock, const struct timespec *until), (lock, until))
SEMAPHORE_WAITS(sem_clockwait, (sem_t * lock, clockid_t clock, const struct timespec *until),
                (lock, clock, until))
TMS_RT_RENEWS(sem_init, (sem_t * object, int shared, unsigned value), (object, shared, value),
              TMS_RT_SEMAPHORE, NULL)
TMS_RT_RENEWS(sem_destroy, (sem_t * object), (object), TMS_RT_SEMAPHORE, NULL)
