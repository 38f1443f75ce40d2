/* SPDX-License-Identifier: Apache-2.0 */
/* Two locks taken one after the other: money is in neither account for a moment. */
/* expected: block total, about checking */
#include <pthread.h>
#include <stdio.h>

#define TIMES 20

static struct account {
    pthread_mutex_t lock;
    long balance;
} checking = {PTHREAD_MUTEX_INITIALIZER, 1000}, savings = {PTHREAD_MUTEX_INITIALIZER, 1000};
static int wrong;

static void add(struct account *to, long amount)
{
    pthread_mutex_lock(&to->lock);
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
}

static long look(struct account *at)
{
    pthread_mutex_lock(&at->lock);
    long balance = at->balance;
    pthread_mutex_unlock(&at->lock);
    return balance;
}

static void transfer(long amount)
{
    add(&checking, -amount);
    add(&savings, amount);
}

static long total(void)
{
    long sum = look(&checking);
    return sum + look(&savings);
}

static void *customer(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        transfer(10);
    }
    return unused;
}

static void *auditor(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        wrong += total() != 2000;
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, customer, NULL);
    pthread_create(&threads[1], NULL, auditor, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("wrong %d times\n", wrong);
    return 0;
}
