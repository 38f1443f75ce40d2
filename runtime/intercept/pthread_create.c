/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: creation, end, join, detaching, names.
 *
 * The destructor of a thread-specific value sees the end of a thread, however the thread ends:
 * return, pthread_exit, cancellation. Other destructors may still run code of the program, so ours
 * asks to be called again until the last round that POSIX guarantees; C++ destructors of
 * thread_local objects run before all of them.
 *
 * From pthread_t to descriptor: in existing C libraries, thread-local variables of the executable
 * are at a fixed offset from the address in pthread_t, and both stay valid until the thread is
 * joined or has ended detached. So the descriptor is read there. A table would have to follow the
 * reuse of pthread_t values.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "protocol/spool_format.h"
#include "runtime/core/raw_system_call.h"
#include "runtime/intercept/thread_start.h"

/* Keeps the descriptor after tms_rt_self is cleared, for the joining thread. */
static TMS_RT_TLS struct tms_rt_thread *own;

struct tms_rt_thread *tms_rt_thread_of(pthread_t id)
{
    if (id == 0) {
        return NULL;
    }
    uintptr_t distance = (uintptr_t)&own - (uintptr_t)pthread_self();
    return *(struct tms_rt_thread **)((uintptr_t)id + distance);
}

/* ---- end -------------------------------------------------------------------------------- */

static pthread_key_t end_key;
static bool end_key_made;
static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;

/* The value counts the rounds of destructors, from 1 on. */
static void at_end(void *value)
{
    uintptr_t round = (uintptr_t)value;
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS &&
        pthread_setspecific(end_key, (void *)(round + 1)) == 0) {
        return;
    }
    struct tms_rt_thread *thread = tms_rt_enter();
    if (thread != NULL) {
        tms_rt_thread_end(thread); /* no tms_rt_leave: the thread is gone */
    }
    TMS_RT_DROP_STACK();
}

static void make_end_key(void)
{
    end_key_made = pthread_key_create(&end_key, at_end) == 0;
    if (!end_key_made) {
        tms_rt_warn("the program uses all keys of thread-specific data: the ends of threads are "
                    "not seen");
    }
}

static void watch_end(struct tms_rt_thread *thread)
{
    own = thread;
    pthread_once(&end_key_once, make_end_key);
    if (end_key_made && pthread_getspecific(end_key) == NULL) {
        pthread_setspecific(end_key, (void *)1);
    }
}

void tms_rt_exiting(void)
{
    TMS_RT_REPORT(watch_end(thread));
}

static void exit_again(void *result, int unused)
{
    (void)unused;
    pthread_exit(result);
}

TMS_RT_REAL(void, pthread_exit, (void *))
TMS_RT_INTERPOSE void pthread_exit(void *result)
{
    tms_rt_leave_later(UINTPTR_MAX, exit_again, result, 0);
    tms_rt_exiting();
    real_pthread_exit()(result);
    __builtin_unreachable();
}

/* ---- creation --------------------------------------------------------------------------- */

/* The caller stays inside the runtime until _end_creation, so that allocations are not watched. */
bool tms_rt_begin_creation(struct tms_rt_thread_creation *creation, uintptr_t pc)
{
    tms_rt_start();
    tms_rt_before(TMS_RT_AT_OTHER, NULL, pc);
    creation->parent = tms_rt_enter();
    if (creation->parent == NULL) {
        return false;
    }
    if (own == NULL) {
        own = creation->parent;
    }
    TMS_RT_SYNC_STACK(creation->parent);
    tms_rt_function_starts_thread(creation->routine);
    creation->child = tms_rt_fork_thread(creation->parent, pc);
    if (creation->child == NULL) {
        tms_rt_leave(creation->parent);
    }
    return creation->child != NULL;
}

struct own_stack {
    uintptr_t low, high;
};

/* Querying a thread's own stack allocates, so this runs before the thread is watched. */
static void find_stack(void *argument)
{
    struct own_stack *own_stack = argument;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return;
    }
    void *start;
    size_t size;
    if (pthread_attr_getstack(&attributes, &start, &size) == 0) {
        own_stack->low = (uintptr_t)start;
        own_stack->high = own_stack->low + size;
    }
    pthread_attr_destroy(&attributes);
}

void tms_rt_child_runs(struct tms_rt_thread_creation *creation)
{
    struct own_stack own_stack = {0};
    tms_rt_call_deep(find_stack, &own_stack);
    uintptr_t routine = creation->routine;
    watch_end(creation->child);
    tms_rt_thread_start(creation->child, routine, own_stack.low, own_stack.high);
    atomic_store(&creation->begun, 1);
    tms_rt_raw(SYS_futex, (long)&creation->begun, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    tms_rt_before(TMS_RT_AT_START, NULL, routine);
}

void tms_rt_end_creation(struct tms_rt_thread_creation *creation, bool created, bool detached)
{
    int saved_errno = errno;
    if (!created) {
        tms_rt_fork_failed(creation->child);
    }
    while (created && atomic_load(&creation->begun) == 0) {
        tms_rt_raw(SYS_futex, (long)&creation->begun, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    }
    if (created && detached) {
        tms_rt_detach_thread(creation->child);
    }
    errno = saved_errno;
    tms_rt_leave(creation->parent);
    tms_rt_before(TMS_RT_AT_OTHER, NULL, creation->routine);
}

typedef void *start_routine(void *);

static void *start(void *argument)
{
    struct tms_rt_thread_creation *creation = argument;
    start_routine *routine = (start_routine *)creation->routine;
    argument = creation->argument;
    tms_rt_child_runs(creation);
    return routine(argument);
}

static bool asks_for_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    return attributes != NULL && pthread_attr_getdetachstate(attributes, &state) == 0 &&
           state == PTHREAD_CREATE_DETACHED;
}

TMS_RT_REAL(int, pthread_create, (pthread_t *, const pthread_attr_t *, start_routine *, void *))
TMS_RT_INTERPOSE int pthread_create(pthread_t *id, const pthread_attr_t *attributes,
                                    start_routine *routine, void *argument)
{
    struct tms_rt_thread_creation creation = {.routine = (uintptr_t)routine, .argument = argument};
    if (!tms_rt_begin_creation(&creation, TMS_RT_PC())) {
        return real_pthread_create()(id, attributes, routine, argument);
    }
    int result = real_pthread_create()(id, attributes, start, &creation);
    tms_rt_end_creation(&creation, result == 0, asks_for_detached(attributes));
    return result;
}

/* ---- join, detach, names ---------------------------------------------------------------- */

TMS_RT_JOINS(pthread_join, (pthread_t id, void **result), (id, result), true)
TMS_RT_JOINS(pthread_tryjoin_np, (pthread_t id, void **result), (id, result), false)
TMS_RT_JOINS(pthread_timedjoin_np, (pthread_t id, void **result, const struct timespec *until),
             (id, result, until), false)
TMS_RT_JOINS(pthread_clockjoin_np,
             (pthread_t id, void **result, clockid_t clock, const struct timespec *until),
             (id, result, clock, until), false)
TMS_RT_DETACHES(pthread_detach)

TMS_RT_REAL(int, pthread_setname_np, (pthread_t, const char *))
TMS_RT_INTERPOSE int pthread_setname_np(pthread_t id, const char *name)
{
    int result = real_pthread_setname_np()(id, name);
    if (result != 0) {
        return result;
    }
    if (id == pthread_self()) {
        TMS_RT_REPORT(tms_rt_name_thread(thread, name));
    } else if (tms_rt_thread_of(id) != NULL) {
        TMS_RT_REPORT(tms_rt_name_thread(tms_rt_thread_of(id), name));
    }
    return result;
}

TMS_RT_REAL(int, prctl, (int, ...))
TMS_RT_INTERPOSE int prctl(int option, ...)
{
    unsigned long word[4];
    va_list list;
    va_start(list, option);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        word[i] = va_arg(list, unsigned long);
    }
    va_end(list);
    int result = real_prctl()(option, word[0], word[1], word[2], word[3]);
    if (result == 0 && option == PR_SET_NAME) {
        TMS_RT_REPORT(tms_rt_name_thread(thread, (const char *)word[0]));
    }
    if (result == 0 && option == PR_SET_SECCOMP) {
        tms_rt_stop_watching(TMS_SPOOL_LOST_SANDBOX);
    }
    return result;
}
