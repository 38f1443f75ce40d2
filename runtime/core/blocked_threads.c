/* SPDX-License-Identifier: Apache-2.0 */
/* Blocked threads; see blocked_threads.h. */
#include "runtime/core/blocked_threads.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/core/raw_system_call.h"
#include "runtime/core/runtime_mutex.h"
#include "runtime/core/thread_registry.h"

#define GONE (-2)

/* The system call that a thread is in. */
struct system_call {
    long number;          /* -1: none, or unknown; GONE: the thread has ended */
    uint64_t argument[4]; /* the first arguments */
};

static struct system_call read_system_call(int64_t tid)
{
    struct system_call call = {.number = -1};
    char text[256], *at = text;

    snprintf(text, sizeof(text), "/proc/self/task/%lld/syscall", (long long)tid);
    long file = tms_rt_raw(SYS_open, (long)text, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    if (file < 0) {
        call.number = file == -ENOENT ? GONE : -1;
        return call;
    }
    long length = tms_rt_raw(SYS_read, file, (long)text, sizeof(text) - 1, 0, 0, 0);
    tms_rt_raw(SYS_close, file, 0, 0, 0, 0, 0);
    text[length > 0 ? length : 0] = '\0';
    if (*at < '0' || *at > '9') {
        return call; /* "running" */
    }
    call.number = strtol(at, &at, 10);
    for (int i = 0; i < 4; i++) {
        call.argument[i] = strtoull(at, &at, 16);
    }
    return call;
}

/* It waits in a futex without a time-out, or has ended. */
static bool is_stuck(const struct system_call *call)
{
    uint64_t operation = call->argument[1] & FUTEX_CMD_MASK;

    assert(call->number >= GONE);
    return call->number == GONE || (call->number == SYS_futex && call->argument[3] == 0 &&
                                    (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
                                     operation == FUTEX_LOCK_PI));
}

/* Does the directed strategy hold it, for something that has not happened yet? */
static bool is_held(const struct tms_rt_thread *t)
{
    const _Atomic uint32_t *flag = atomic_load(&t->held_until);

    return flag != NULL && atomic_load(flag) == 0;
}

/* What the caller asks. The functions that answer run on a stack of the runtime. */
struct query {
    const struct tms_rt_thread *thread;
    bool blocked; /* the answer */
};

static struct tms_rt_mutex query_lock;
static struct query *others_query; /* in progress: are all threads but this one stuck? */

void tms_rt_blocked_threads_restart(void)
{
    tms_rt_mutex_restart(&query_lock);
}

static void check_other(struct tms_rt_thread *t)
{
    struct query *query = others_query;

    assert(query->thread != NULL);
    if (!query->blocked || t == query->thread || atomic_load(&t->uses) == 0 || is_held(t)) {
        return;
    }
    struct system_call call = {.number = -1}; /* a thread that has not started yet can run */
    if (t->tid != 0) {
        call = read_system_call(t->tid);
    }
    query->blocked = is_stuck(&call);
}

static void check_others(void *argument)
{
    tms_rt_mutex_lock(&query_lock);
    others_query = argument;
    others_query->blocked = true;
    tms_rt_registry_each(check_other);
    tms_rt_mutex_unlock(&query_lock);
}

bool tms_rt_others_are_stuck(const struct tms_rt_thread *t)
{
    struct query query = {.thread = t};

    tms_rt_call_deep(check_others, &query);
    return query.blocked;
}

static void check_thread(void *argument)
{
    struct query *query = argument;
    struct system_call call = read_system_call(query->thread->tid);

    query->blocked = call.number != -1;
}

bool tms_rt_is_waiting(const struct tms_rt_thread *t)
{
    struct query query = {.thread = t};

    tms_rt_call_deep(check_thread, &query);
    return query.blocked;
}
