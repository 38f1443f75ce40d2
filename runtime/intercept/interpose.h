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

/* Weak: a function of that name in the program, such as its own malloc, takes precedence. */
#define TMS_RT_INTERPOSE TMS_RT_EXPORT __attribute__((weak))

/*
 * The next definition of a function, or of its version `version` if that is not NULL and exists.
 * Without one: `fallback`, or if that is NULL, the process ends with a message.
 */
void *tms_rt_next(const char *name, const char *version, void *fallback);

/* Is this thread inside tms_rt_next? Its allocations can't come from the real malloc then. */
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

/* The same for operations that need the functions on the stack (TMS_RT_SYNC_STACK). */
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

/* Called before and after a real function that waits for other threads. */
static inline void tms_rt_waits(bool begins)
{
    if (__builtin_expect(tms_rt_scheduled, 0)) {
        tms_rt_waits_outside(begins);
    }
}

#endif
