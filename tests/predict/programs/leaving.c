/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are left other than by returning; stacks that are not the thread's own. */
#include <execinfo.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "unharmed.h"

/* ---- longjmp ---------------------------------------------------------------------------- */

static jmp_buf back;

__attribute__((noinline)) static int dive(int depth)
{
    touch();
    if (depth == 0) {
        longjmp(back, 1);
    }
    int result = dive(depth - 1) + 1;
    touch();
    return result;
}

__attribute__((noinline)) static int jump(int depth)
{
    volatile int state = depth;
    if (setjmp(back) == 0) {
        touch();
        state += dive(depth);
    }
    touch();
    return state;
}

/* ---- cancellation ------------------------------------------------------------------------ */

static int cleaned;

static void clean(void *argument)
{
    touch();
    cleaned += *(int *)argument;
}

__attribute__((noinline)) static int wait_deep(int depth)
{
    static int one = 1;
    int result = 0;

    touch();
    pthread_cleanup_push(clean, &one);
    if (depth == 0) {
        for (;;) {
            pause();
        }
    }
    result = wait_deep(depth - 1) + 1;
    pthread_cleanup_pop(0);
    return result;
}

static void *to_be_cancelled(void *unused)
{
    wait_deep(5);
    return unused;
}

__attribute__((noinline)) static int exit_deep(int depth)
{
    static int hundred = 100;
    int result = 0;

    touch();
    pthread_cleanup_push(clean, &hundred);
    if (depth == 0) {
        pthread_exit((void *)42);
    }
    result = exit_deep(depth - 1) + 1;
    pthread_cleanup_pop(0);
    return result;
}

static void *that_exits(void *unused)
{
    exit_deep(5);
    return unused;
}

static void end_threads(void)
{
    pthread_t thread;
    void *result;

    pthread_create(&thread, NULL, to_be_cancelled, NULL);
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    say("cancelled %d, cleaned %d", result == PTHREAD_CANCELED, cleaned);
    pthread_create(&thread, NULL, that_exits, NULL);
    pthread_join(thread, &result);
    say("exited with %ld, cleaned %d", (long)result, cleaned);
}

/* ---- signals ----------------------------------------------------------------------------- */

static sem_t handled;
static sigjmp_buf out;

static void post(int number)
{
    (void)number;
    sem_post(&handled);
}

static void jump_out(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

__attribute__((noinline)) static int interrupted(int n)
{
    touch();
    raise(SIGUSR1);
    sem_wait(&handled);
    touch();
    return n + 1;
}

__attribute__((noinline)) static int jumped_out(int n)
{
    if (sigsetjmp(out, 1) == 0) {
        touch();
        raise(SIGUSR2);
    }
    touch();
    return n + 2;
}

static void have_signals(void)
{
    static char elsewhere[1 << 16];
    stack_t stack = {.ss_sp = elsewhere, .ss_size = sizeof(elsewhere)};
    struct sigaction action = {.sa_handler = post, .sa_flags = SA_ONSTACK};
    int sum = 0;

    sem_init(&handled, 0, 0);
    signal(SIGUSR1, post);
    signal(SIGUSR2, jump_out);
    for (int i = 0; i < 50; i++) {
        sum += interrupted(i) + jumped_out(i);
    }
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 50; i++) {
        sum += interrupted(i);
    }
    say("signals %d", sum);
}

/* ---- other stacks ------------------------------------------------------------------------ */

static ucontext_t here, there;
static int steps;

static void coroutine(void)
{
    for (;;) {
        touch();
        steps++;
        swapcontext(&there, &here);
    }
}

__attribute__((noinline)) static int switch_deep(int depth)
{
    touch();
    swapcontext(&here, &there);
    int result = depth == 0 ? 0 : switch_deep(depth - 1) + 1;
    touch();
    return result;
}

static void switch_stacks(void)
{
    static char stack[1 << 16];

    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof(stack);
    there.uc_link = NULL;
    makecontext(&there, coroutine, 0);
    int depth = switch_deep(20);
    say("switched %d, steps %d", depth, steps);
}

/* ---- who looks, and who forks ------------------------------------------------------------ */

__attribute__((noinline)) static int look(int depth)
{
    void *addresses[64];

    touch();
    if (depth == 0) {
        int count = backtrace(addresses, 64);
        char **names = backtrace_symbols(addresses, count);
        int known = 0;
        for (int i = 0; i < count; i++) {
            known += names[i][0] == '/' || names[i][0] == '.';
        }
        free(names);
        return known == count;
    }
    int result = look(depth - 1);
    touch();
    return result + 1;
}

__attribute__((noinline)) static int in_child(int depth)
{
    touch();
    if (depth == 0) {
        return fork() == 0;
    }
    int result = in_child(depth - 1);
    touch();
    return result;
}

int main(void)
{
    int sum = 0;

    for (int i = 0; i < 100; i++) {
        sum += jump(i % 7);
    }
    say("jumps %d", sum);
    end_threads();
    have_signals();
    switch_stacks();
    say("looked %d", look(10));
    if (in_child(5)) {
        touch();
        exit(7);
    }
    int status;
    wait(&status);
    say("child %d", WEXITSTATUS(status));
    return 3;
}
