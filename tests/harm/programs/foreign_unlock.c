/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutexes that one thread acquires and another releases: in "turns" two threads alternate by them,
 * in "cut" an atomic block hands over in its middle, "reader" is the same with read-write locks.
 * "refused": mutexes that only their owner can release; "atfork": a child releases what the parent
 * acquired.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 50

static pthread_mutex_t ping = PTHREAD_MUTEX_INITIALIZER, pong = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER, end = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t door = PTHREAD_RWLOCK_INITIALIZER;
static long turns;

static void count(void)
{
    pthread_mutex_lock(&guard);
    turns++;
    pthread_mutex_unlock(&guard);
}

static void *answer(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&ping);
        count();
        pthread_mutex_unlock(&pong);
    }
    pthread_mutex_lock(&end);
    pthread_mutex_unlock(&end);
    return unused;
}

static void *ask(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        count();
        pthread_mutex_unlock(&ping);
        pthread_mutex_lock(&pong);
    }
    pthread_mutex_unlock(&ping); /* which the other thread took, and it still runs */
    pthread_mutex_lock(&ping);
    pthread_mutex_unlock(&end);
    return unused;
}

static void *intrude(void *unused)
{
    pthread_mutex_lock(&ping);
    pthread_mutex_unlock(&pong);
    return unused;
}

__attribute__((noinline)) static void deposit(void)
{
    pthread_mutex_unlock(&ping);
    pthread_mutex_lock(&pong);
}

static void *open_door(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_unlock(&door);
    }
    return unused;
}

static void *release_strange(void *mutex)
{
    return (void *)(long)pthread_mutex_unlock(mutex);
}

static void run(void *(*one)(void *), void *(*other)(void *), void *argument, void **result)
{
    pthread_t thread;

    pthread_create(&thread, NULL, one, argument);
    if (other != NULL) {
        other(NULL);
    }
    pthread_join(thread, result);
}

static void *deposit_once(void *unused)
{
    deposit();
    return unused;
}

static int refused(int type)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    void *result;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutex_lock(&mutex);
    run(release_strange, NULL, &mutex, &result);
    count();
    return (long)result == EPERM && pthread_mutex_unlock(&mutex) == 0;
}

static void lock_guard(void)
{
    pthread_mutex_lock(&guard);
}

static void unlock_guard(void)
{
    pthread_mutex_unlock(&guard);
}

static int atfork(void)
{
    int status;

    pthread_atfork(lock_guard, unlock_guard, unlock_guard);
    pid_t child = fork();
    if (child == 0) {
        count();
        _exit((int)turns);
    }
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 1;
}

int main(int words, char **word)
{
    const char *how = words > 1 ? word[1] : "turns";

    if (strcmp(how, "atfork") != 0) {
        pthread_mutex_lock(&ping);
        pthread_mutex_lock(&pong);
    }
    if (strcmp(how, "turns") == 0) {
        pthread_mutex_lock(&end);
        run(answer, ask, NULL, NULL);
        return printf("%ld\n", turns) < 0;
    }
    if (strcmp(how, "cut") == 0) {
        run(intrude, deposit_once, NULL, NULL);
        return 0;
    }
    if (strcmp(how, "reader") == 0) {
        pthread_rwlock_rdlock(&door);
        pthread_rwlock_rdlock(&door);
        run(open_door, NULL, NULL, NULL);
        pthread_rwlock_wrlock(&door);
        count();
        return pthread_rwlock_unlock(&door);
    }
    if (strcmp(how, "refused") == 0) {
        return !(refused(PTHREAD_MUTEX_ERRORCHECK) && refused(PTHREAD_MUTEX_RECURSIVE));
    }
    return !atfork();
}
