/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lost update through locked getters and setters.
 *
 * Two cashiers pay into one account. Every read of the balance and every write of it holds the
 * lock: there is no data race, and race detectors report nothing. But a deposit is both, a read
 * and a write, and another deposit fits between the two. It is then overwritten, and its money
 * is gone.
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

static void set_balance(struct account *to, int balance)
{
    pthread_mutex_lock(&to->lock);
    to->balance = balance;
    pthread_mutex_unlock(&to->lock);
}

static void deposit(struct account *to, int amount)
{
    int balance = get_balance(to);

    set_balance(to, balance + amount);
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
