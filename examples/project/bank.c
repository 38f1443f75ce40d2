/* SPDX-License-Identifier: Apache-2.0 */
/* Two cashiers pay into one account. */
#include <pthread.h>
#include <stdio.h>

#include "account.h"

#define DEPOSITS 10000

static void *cashier(void *unused)
{
    for (int i = 0; i < DEPOSITS; i++) {
        account_deposit(1);
    }
    return unused;
}

int main(void)
{
    pthread_t other;

    pthread_create(&other, NULL, cashier, NULL);
    cashier(NULL);
    pthread_join(other, NULL);
    printf("paid in %d, the balance is %d\n", 2 * DEPOSITS, account_get());
    return 0;
}
