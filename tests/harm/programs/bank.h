/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common work of most programs here: two threads pay into an account, and some of their blocks
 * are atomic, so that there is a verdict. `bank_work` may be called repeatedly.
 */
#ifndef TMS_HARM_BANK_H
#define TMS_HARM_BANK_H

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t bank_lock = PTHREAD_MUTEX_INITIALIZER;
static long bank_balance;

static __attribute__((noinline)) void bank_deposit(void)
{
    pthread_mutex_lock(&bank_lock);
    bank_balance++;
    pthread_mutex_unlock(&bank_lock);
}

static void *bank_teller(void *turns)
{
    for (long i = 0; i < (long)turns; i++) {
        bank_deposit();
    }
    return NULL;
}

static inline void bank_work(long turns)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, bank_teller, (void *)turns);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
}

#endif
