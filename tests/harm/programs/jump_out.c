/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timer's handler leaves by siglongjmp, a thousand times a second, whatever it has interrupted,
 * while other threads use the same memory and locks. "nested" handlers jump inside one another and
 * out of both; with "stack" they run on an alternate stack.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define JUMPS 300
#define CELLS 64

static sigjmp_buf out, back;
static volatile sig_atomic_t jumps;
static atomic_bool over;
static _Atomic long counters[CELLS];
static long cells[CELLS];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static long look(void)
{
    long sum = 0;
    for (int i = 0; i < CELLS; i++) {
        sum += cells[i] + atomic_fetch_add(&counters[i], 1);
    }
    return sum;
}

static void *reader(void *unused)
{
    while (!atomic_load(&over)) {
        pthread_rwlock_rdlock(&lock);
        look();
        pthread_rwlock_unlock(&lock);
    }
    return unused;
}

static void leave(int number)
{
    (void)number;
    jumps++;
    siglongjmp(out, 1);
}

static void leave_inner(int number)
{
    (void)number;
    siglongjmp(jumps % 2 == 0 ? back : out, 1);
}

static void leave_nested(int number)
{
    (void)number;
    jumps++;
    if (sigsetjmp(back, 1) == 0) {
        raise(SIGUSR1);
        abort();
    }
    siglongjmp(out, 1);
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;

    sigaction(number, &action, NULL);
    sigaction(number, NULL, &old);
    if (old.sa_handler != handler || (old.sa_flags & ~0x04000000) != flags) {
        abort(); /* the program does not read back what it has set */
    }
}

int main(int count, char **words)
{
    bool nested = count > 1 && strcmp(words[1], "nested") == 0;
    bool stack = count > 1 && strcmp(words[1], "stack") == 0;
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigset_t set;
    pthread_t threads[2];

    sigaltstack(&other, NULL);
    handle(SIGALRM, nested ? leave_nested : leave, stack ? SA_ONSTACK : 0);
    handle(SIGUSR1, leave_inner, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, reader, NULL);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    if (sigsetjmp(out, 1) == 0) {
        setitimer(ITIMER_REAL, &often, NULL);
    }
    while (jumps < JUMPS) {
        look();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    printf("%d %d\n", sigismember(&set, SIGALRM), sigismember(&set, SIGUSR1));
    return 0;
}
