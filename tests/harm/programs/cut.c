/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block that is cut apart in every run: one deposit reads the balance, and before it writes,
 * another one is made from begin to end. Ends with 7 if the system gives it no thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static volatile int turn; /* 1: the other deposit; 2: it was made */

static int get_balance(void)
{
    pthread_mutex_lock(&lock);
    int now = balance;
    pthread_mutex_unlock(&lock);
    return now;
}

static void set_balance(int to)
{
    pthread_mutex_lock(&lock);
    balance = to;
    pthread_mutex_unlock(&lock);
}

static void deposit(int amount, int wait)
{
    int before = get_balance();

    if (wait) {
        for (turn = 1; turn != 2;) {
            usleep(100);
        }
    }
    set_balance(before + amount);
}

static void *cashier(void *unused)
{
    while (turn != 1) {
        usleep(100);
    }
    deposit(1, 0);
    turn = 2;
    return unused;
}

int main(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, cashier, NULL) != 0) {
        return 7;
    }
    deposit(1, 1);
    pthread_join(thread, NULL);
    printf("the balance is %d\n", balance);
    return 0;
}
