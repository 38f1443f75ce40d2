/* SPDX-License-Identifier: Apache-2.0 */
/* Blocked threads; see blocked_threads.h. */
#include "runtime/core/blocked_threads.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/core/runtime_memory.h"
#include "runtime/core/thread_registry.h"

#define GONE (-2)

/* The system call that a thread is in. */
struct doing {
    long call;            /* its number; -1: none, or unknown; GONE: the thread has ended */
    uint64_t argument[4]; /* the first arguments */
};

static struct doing look_at(int64_t tid)
{
    struct doing doing = {.call = -1};
    char text[256], *at = text;

    snprintf(text, sizeof(text), "/proc/self/task/%lld/syscall", (long long)tid);
    long file = tms_rt_raw(SYS_open, (long)text, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    if (file < 0) {
        doing.call = file == -2 /* ENOENT */ ? GONE : -1;
        return doing;
    }
    long length = tms_rt_raw(SYS_read, file, (long)text, sizeof(text) - 1, 0, 0, 0);
    tms_rt_raw(SYS_close, file, 0, 0, 0, 0, 0);
    text[length > 0 ? length : 0] = '\0';
    if (*at < '0' || *at > '9') {
        return doing; /* "running" */
    }
    doing.call = strtol(at, &at, 10);
    for (int i = 0; i < 4; i++) {
        doing.argument[i] = strtoull(at, &at, 16);
    }
    return doing;
}

/* It waits in a futex without a time-out, or has ended. */
static bool is_stuck(const struct doing *doing)
{
    uint64_t operation = doing->argument[1] & FUTEX_CMD_MASK;

    assert(doing->call >= GONE);
    return doing->call == GONE || (doing->call == SYS_futex && doing->argument[3] == 0 &&
                                   (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
                                    operation == FUTEX_LOCK_PI));
}

/* Does the directed strategy hold it, for something that has not happened yet? */
static bool is_held(const struct tms_rt_thread *t)
{
    const _Atomic uint32_t *flag = atomic_load(&t->held_until);

    return flag != NULL && atomic_load(flag) == 0;
}

struct question {
    const struct tms_rt_thread *thread;
    bool stuck;
};
static struct question question; /* under `asking` */

static void ask(struct tms_rt_thread *t)
{
    assert(question.thread != NULL);
    if (!question.stuck || t == question.thread || atomic_load(&t->uses) == 0 || is_held(t)) {
        return;
    }
    struct doing doing = {.call = -1}; /* -1: a thread that has not started yet can run */
    if (t->tid != 0) {
        doing = look_at(t->tid);
    }
    question.stuck = is_stuck(&doing);
}

struct answer {
    const struct tms_rt_thread *thread;
    bool yes;
};

static struct tms_rt_mutex asking;

void tms_rt_blocked_threads_restart(void)
{
    tms_rt_mutex_restart(&asking);
}

static void ask_all(void *argument)
{
    struct answer *answer = argument;

    tms_rt_mutex_lock(&asking);
    question = (struct question){answer->thread, true};
    tms_rt_registry_each(ask);
    answer->yes = question.stuck;
    tms_rt_mutex_unlock(&asking);
}

bool tms_rt_others_are_stuck(const struct tms_rt_thread *t)
{
    struct answer answer = {.thread = t};

    tms_rt_call_deep(ask_all, &answer);
    return answer.yes;
}

static void ask_one(void *argument)
{
    struct answer *answer = argument;
    struct doing doing = look_at(answer->thread->tid);

    answer->yes = doing.call != -1;
}

bool tms_rt_is_waiting(const struct tms_rt_thread *t)
{
    struct answer answer = {.thread = t};

    tms_rt_call_deep(ask_one, &answer);
    return answer.yes;
}
