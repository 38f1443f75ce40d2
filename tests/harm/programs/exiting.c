/* SPDX-License-Identifier: Apache-2.0 */
/* main returns while other threads are in the middle of their work. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define ACCOUNTS 8
#define THREADS  32

static pthread_mutex_t locks[ACCOUNTS];
static long balances[ACCOUNTS];

static long get(int i)
{
    pthread_mutex_lock(&locks[i]);
    long balance = balances[i];
    pthread_mutex_unlock(&locks[i]);
    return balance;
}

static void set(int i, long balance)
{
    pthread_mutex_lock(&locks[i]);
    balances[i] = balance;
    pthread_mutex_unlock(&locks[i]);
}

static void pay_in(int i, int depth)
{
    set(i, get(i) + 1);
    if (depth > 0) {
        pay_in((i + 3) % ACCOUNTS, depth - 1);
    }
}

static void *work(void *unused)
{
    for (int i = 0;; i = (i + 1) % 1000) {
        pay_in(i % ACCOUNTS, i % 5);
    }
    return unused;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&locks[i], NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
    }
    usleep(argc > 1 ? (useconds_t)atoi(argv[1]) : 1000);
    return 7;
}
