/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation and identity of threads, shared by POSIX and C11 threads.
 *
 * The creator notifies the runtime first, so that the fork is ordered before all events of the
 * child, and waits until the child has stored its descriptor: from then on the descriptor can be
 * found by the thread's pthread_t. `struct tms_rt_thread_creation` lives on the creator's stack
 * that long.
 */
#ifndef TMS_RUNTIME_THREAD_START_H
#define TMS_RUNTIME_THREAD_START_H

#include <pthread.h>

#include "runtime/intercept/interpose.h"

struct tms_rt_thread_creation {
    struct tms_rt_thread *parent, *child;
    uintptr_t routine; /* the child's start function */
    void *argument;
    _Atomic uint32_t begun;
};

/* In the creator, before the creation. False: the child will run unwatched; create it as it is. */
bool tms_rt_begin_creation(struct tms_rt_thread_creation *creation, uintptr_t pc);
/* In the child, before anything else; `creation` is invalid afterwards. */
void tms_rt_child_runs(struct tms_rt_thread_creation *creation);
/* In the creator, after the creation; `created`: it succeeded, `detached`: it won't be joined. */
void tms_rt_end_creation(struct tms_rt_thread_creation *creation, bool created, bool detached);

/* NULL for a thread that is not watched. The thread must not have been joined. */
struct tms_rt_thread *tms_rt_thread_of(pthread_t id);

/* Before the calling thread, which may be the first one, ends itself. */
void tms_rt_exiting(void);

/* Joins thread `id`; success is 0. `waits`: it always waits until the thread ends. */
#define TMS_RT_JOINS(name, parameters, arguments, waits)                                           \
    TMS_RT_REAL(int, name, parameters)                                                             \
    TMS_RT_INTERPOSE int name parameters                                                           \
    {                                                                                              \
        uintptr_t pc = TMS_RT_PC();                                                                \
        struct tms_rt_thread *child = tms_rt_thread_of(id);                                        \
        if ((waits) && child != NULL) {                                                            \
            TMS_RT_REPORT(tms_rt_joining(thread));                                                 \
        }                                                                                          \
        tms_rt_before(TMS_RT_AT_OTHER, NULL, pc);                                                  \
        tms_rt_waits(true);                                                                        \
        int joined = real_##name() arguments;                                                      \
        tms_rt_waits(false);                                                                       \
        if (joined == 0 && child != NULL) {                                                        \
            TMS_RT_REPORT_HERE(tms_rt_join_thread(thread, child, pc));                             \
        }                                                                                          \
        return joined;                                                                             \
    }

/* Thread `id` will not be joined. */
#define TMS_RT_DETACHES(name)                                                                      \
    TMS_RT_REAL(int, name, (pthread_t))                                                            \
    TMS_RT_INTERPOSE int name(pthread_t id)                                                        \
    {                                                                                              \
        struct tms_rt_thread *child = tms_rt_thread_of(id);                                        \
        int detached = real_##name()(id);                                                          \
        if (detached == 0 && child != NULL) {                                                      \
            TMS_RT_REPORT(tms_rt_detach_thread(child));                                            \
        }                                                                                          \
        return detached;                                                                           \
    }

#endif
