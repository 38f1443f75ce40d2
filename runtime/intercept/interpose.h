/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to the real functions that the runtime interposes.
 *
 *     TMS_RT_REAL(int, pthread_mutex_lock, (pthread_mutex_t *))
 *
 * declares `real_pthread_mutex_lock()`, which returns the address of the next definition, looked up
 * at the first call. The lookup may allocate: malloc_intercept.c serves that from a small buffer.
 */
#ifndef TMS_RUNTIME_INTERPOSE_H
#define TMS_RUNTIME_INTERPOSE_H

#include <errno.h>
#include <stdatomic.h>

#include "runtime/core/rt.h"

/* Weak: a program that brings a function of that name with it, its own malloc say, keeps it. */
#define TMS_RT_INTERPOSE TMS_RT_EXPORT __attribute__((weak))

/*
 * The next definition of a function, or of its version `version` if that is not NULL and is
 * known. If there is none: `fallback`, and if that is NULL the process ends with a sentence.
 */
void *tms_rt_next(const char *name, const char *version, void *fallback);

/* This thread is inside tms_rt_next: what it allocates now can't come from the real malloc. */
bool tms_rt_looking_up(void);

#define TMS_RT_REAL_NEXT(result, name, arguments, version, fallback)                               \
    typedef result name##_function arguments;                                                      \
    static inline name##_function *real_##name(void)                                               \
    {                                                                                              \
        static _Atomic(name##_function *) found;                                                   \
        name##_function *function = atomic_load_explicit(&found, memory_order_relaxed);            \
        if (__builtin_expect(function == NULL, 0)) {                                               \
            function = (name##_function *)(uintptr_t)tms_rt_next(#name, version, fallback);        \
            atomic_store_explicit(&found, function, memory_order_relaxed);                         \
        }                                                                                          \
        return function;                                                                           \
    }
#define TMS_RT_REAL_VERSION(result, name, arguments, version)                                      \
    TMS_RT_REAL_NEXT(result, name, arguments, version, NULL)
#define TMS_RT_REAL(result, name, arguments) TMS_RT_REAL_NEXT(result, name, arguments, NULL, NULL)

/*
 * Reports an operation of this thread to the runtime: `call` refers to the thread as `thread`, and
 * is skipped when the runtime is not to be entered. Preserves errno.
 */
#define TMS_RT_REPORT(call)                                                                        \
    do {                                                                                           \
        struct tms_rt_thread *thread = tms_rt_enter();                                             \
        if (thread != NULL) {                                                                      \
            int saved_errno = errno;                                                               \
            call;                                                                                  \
            errno = saved_errno;                                                                   \
            tms_rt_leave(thread);                                                                  \
        }                                                                                          \
    } while (0)

/* The same for what the functions on the stack are to be known for. */
#define TMS_RT_REPORT_HERE(call)                                                                   \
    TMS_RT_REPORT({                                                                                \
        TMS_RT_SYNC_STACK(thread);                                                                 \
        call;                                                                                      \
    })

/* A scheduling point before the real function. */
static inline void tms_rt_before(enum tms_rt_point_kind kind, const volatile void *object,
                                 uintptr_t pc)
{
    if (__builtin_expect(tms_rt_scheduled, 0)) {
        tms_rt_point_outside(kind, (const void *)(uintptr_t)object, pc);
    }
}

/* The real function, which waits for other threads, is called between the two. */
static inline void tms_rt_waits(bool begins)
{
    if (__builtin_expect(tms_rt_scheduled, 0)) {
        tms_rt_waits_outside(begins);
    }
}

#endif
