/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros for synchronisation functions of POSIX and C11 threads: success is 0 in both. Parameters
 * must be named `lock`, `condition` and `object`.
 */
#ifndef TMS_RUNTIME_PTHREAD_SYNC_H
#define TMS_RUNTIME_PTHREAD_SYNC_H

#include <pthread.h>
#include <time.h>

#include "runtime/intercept/interpose.h"

/* Acquires `lock` unless it fails; `kind`: of the scheduling point before it. */
#define TMS_RT_TAKES_AT(kind, name, parameters, arguments, how)                                    \
    TMS_RT_REAL(int, name, parameters)                                                             \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        uintptr_t pc = TMS_RT_PC();                                                                \
        tms_rt_before(kind, lock, pc);                                                             \
        int result = real_##name() arguments;                                                      \
        if (result == 0 || result == EOWNERDEAD) {                                                 \
            TMS_RT_REPORT_HERE(how(thread, lock, pc));                                             \
        }                                                                                          \
        return result;                                                                             \
    }

#define TMS_RT_TAKES(name, parameters, arguments, how)                                             \
    TMS_RT_TAKES_AT(TMS_RT_AT_ACQUIRE, name, parameters, arguments, how)
/*
 * The same for functions that may return without the lock, at once or after a time-out: so the
 * thread can run even while another one holds the lock (schedule_pct.c).
 */
#define TMS_RT_TRIES(name, parameters, arguments, how)                                             \
    TMS_RT_TAKES_AT(TMS_RT_AT_TRY, name, parameters, arguments, how)

/* Mutexes whose unlock fails in any thread but the owner: in glibc all except the normal kind. */
static inline void tms_rt_releasing_mutex(struct tms_rt_thread *thread, const pthread_mutex_t *lock,
                                          uintptr_t pc)
{
    int kind = lock->__data.__kind & 0x7f; /* further bits are about lock elision */

    if (kind == PTHREAD_MUTEX_TIMED_NP || kind == PTHREAD_MUTEX_ADAPTIVE_NP) {
        tms_rt_releasing(thread, lock, pc);
    } else {
        tms_rt_releasing_own(thread, lock, pc);
    }
}

/* Releases `lock`. */
#define TMS_RT_GIVES(name, parameters, how)                                                        \
    TMS_RT_REAL(int, name, parameters)                                                             \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        uintptr_t pc = TMS_RT_PC();                                                                \
        TMS_RT_REPORT_HERE(how(thread, lock, pc));                                                 \
        return real_##name()(lock);                                                                \
    }

/* Initialises or destroys `object`: either way its history ends. */
#define TMS_RT_RENEWS(name, parameters, arguments, what, version)                                  \
    TMS_RT_REAL_VERSION(int, name, parameters, version)                                            \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        int result = real_##name() arguments;                                                      \
        if (result == 0) {                                                                         \
            TMS_RT_REPORT(tms_rt_sync_gone(what, (const void *)(uintptr_t)object));                \
        }                                                                                          \
        return result;                                                                             \
    }

/*
 * Waits for `condition`. However the wait ends, even by timeout or cancellation, the mutex is taken
 * again before any cleanup handler of the program runs. `refused`: the real function will fail
 * before it releases the mutex.
 */
#define TMS_RT_WAITS(name, parameters, arguments, refused, version)                                \
    TMS_RT_REAL_VERSION(int, name, parameters, version)                                            \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        struct tms_rt_waiting waiting = {.condition = condition, .lock = lock, .pc = TMS_RT_PC()}; \
        if (refused) {                                                                             \
            return real_##name() arguments;                                                        \
        }                                                                                          \
        int result;                                                                                \
        tms_rt_begin_wait(&waiting);                                                               \
        pthread_cleanup_push(tms_rt_end_wait, &waiting);                                           \
        result = real_##name() arguments;                                                          \
        pthread_cleanup_pop(1);                                                                    \
        return result;                                                                             \
    }

/* Not an event, only a scheduling point. */
#define TMS_RT_DELAYS(name, parameters, arguments, version)                                        \
    TMS_RT_REAL_VERSION(int, name, parameters, version)                                            \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        tms_rt_before(TMS_RT_AT_OTHER, condition, TMS_RT_PC());                                    \
        return real_##name() arguments;                                                            \
    }

struct tms_rt_waiting {
    const void *condition, *lock;
    uintptr_t pc;
    unsigned depth;
    bool reported;
};

void tms_rt_begin_wait(struct tms_rt_waiting *waiting);
void tms_rt_end_wait(void *waiting);

/* A timeout that the real function refuses before it releases the mutex. */
static inline bool tms_rt_bad_time(const struct timespec *until)
{
    return until->tv_nsec < 0 || until->tv_nsec >= 1000000000;
}

typedef void tms_rt_initialiser(void);

struct tms_rt_once {
    const void *control;
    tms_rt_initialiser *routine;
    uintptr_t pc;
    bool done; /* by this call */
};

/* The function to pass to the real call, immediately, instead of the initialiser. */
tms_rt_initialiser *tms_rt_begin_once(struct tms_rt_once *once);
void tms_rt_end_once(const struct tms_rt_once *once);

#endif
