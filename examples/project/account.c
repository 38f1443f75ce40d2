/* SPDX-License-Identifier: Apache-2.0 */
/* The bug of examples/bank, in a shared library: a deposit is two critical sections. */
#include "account.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;

int account_get(void)
{
    pthread_mutex_lock(&lock);
    int now = balance;
    pthread_mutex_unlock(&lock);
    return now;
}

void account_set(int to)
{
    pthread_mutex_lock(&lock);
    balance = to;
    pthread_mutex_unlock(&lock);
}

void account_deposit(int amount)
{
    account_set(account_get() + amount);
}
