/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of buggy.c, fixed: a deposit holds the lock from the read of the balance to the
 * write of it. Getter and setter remain for callers that need only one of the two.
 */
#include <pthread.h>
#include <stdio.h>

#define CASHIERS 2
#define DEPOSITS 2000

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int get_balance(struct account *from)
{
    pthread_mutex_lock(&from->lock);
    int balance = from->balance;
    pthread_mutex_unlock(&from->lock);
    return balance;
}

static void deposit(struct account *to, int amount)
{
    pthread_mutex_lock(&to->lock);
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
}

static void *cashier(void *unused)
{
    for (int i = 0; i < DEPOSITS; i++) {
        deposit(&account, 1);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[CASHIERS];

    for (int i = 0; i < CASHIERS; i++) {
        pthread_create(&threads[i], NULL, cashier, NULL);
    }
    for (int i = 0; i < CASHIERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("paid in %d, the balance is %d\n", CASHIERS * DEPOSITS, get_balance(&account));
    return 0;
}
