/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that forks again and again while other threads begin and end: at some forks they are
 * inside the runtime and hold its locks, which the child must find free.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define FORKS   300

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int over;
static long value;

static void step(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    value++;
    pthread_mutex_unlock(mutex);
}

static void *begin_and_end(void *unused)
{
    step(&lock);
    return unused;
}

static void *churn(void *unused)
{
    while (!over) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, begin_and_end, NULL) == 0) {
            pthread_join(thread, NULL);
        }
    }
    return unused;
}

static void live_as_child(void)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

    step(&own);
    _exit(0);
}

int main(void)
{
    pthread_t threads[THREADS];
    int good = 0;

    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, churn, NULL);
    }
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        int status = -1;
        if (child == 0) {
            live_as_child();
        }
        waitpid(child, &status, 0);
        good += status == 0;
    }
    over = 1;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%d of %d children ended well\n", good, FORKS);
    return 0;
}
