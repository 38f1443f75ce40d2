/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for tests of tmesis confirm and replay: two unordered deposits that are 30 ms apart, so
 * that they overlap only if a thread is held. Built with -DFIXED, the deposit keeps its lock.
 */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;

#ifdef FIXED
static void deposit(void)
{
    pthread_mutex_lock(&lock);
    balance++;
    pthread_mutex_unlock(&lock);
}
#else
static int get(void)
{
    pthread_mutex_lock(&lock);
    int now = balance;
    pthread_mutex_unlock(&lock);
    return now;
}

static void set(int now)
{
    pthread_mutex_lock(&lock);
    balance = now;
    pthread_mutex_unlock(&lock);
}

static void deposit(void)
{
    int now = get();
    set(now + 1);
}
#endif

static void *pay(void *late)
{
    if (late != NULL) {
        usleep(30000);
    }
    deposit();
    return NULL;
}

int main(void)
{
    pthread_t one, two;

    pthread_create(&one, NULL, pay, NULL);
    pthread_create(&two, NULL, pay, &one);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
