/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant violations: deposit() reads the balance in one critical section and adds to it in
 * another, and both threads do nothing else, on few accounts. Every update is made under the lock,
 * so no money is lost and the sum is always the same; but between the two sections the other thread
 * gets in as often as possible.
 */
#include <sched.h>
#include <stdbool.h>

#include "kernel.h"

#define ACCOUNTS 2u
#define YIELDS   8u /* one in so many deposits yields the CPU in the middle */

static struct {
    pthread_mutex_t lock;
    uint64_t balance, largest;
} accounts[ACCOUNTS];

static void deposit(size_t account, uint64_t amount, bool yield)
{
    pthread_mutex_lock(&accounts[account].lock);
    uint64_t before = accounts[account].balance;
    pthread_mutex_unlock(&accounts[account].lock);
    if (yield) {
        sched_yield();
    }
    pthread_mutex_lock(&accounts[account].lock);
    accounts[account].balance += amount;
    if (before > accounts[account].largest) {
        accounts[account].largest = before;
    }
    pthread_mutex_unlock(&accounts[account].lock);
}

static void *use(void *argument)
{
    const struct part *part = argument;

    for (size_t i = 0; i < part->size; i++) {
        deposit(i % ACCOUNTS, i % 7, i % YIELDS == 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
    }
    run_parts(use, size_argument(argc, argv, 500000));
    for (size_t i = 0; i < ACCOUNTS; i++) {
        sum = mix(sum + accounts[i].balance);
    }
    return print_sum(sum);
}
