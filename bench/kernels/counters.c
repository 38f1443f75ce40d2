/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts, each with a lock: both threads move amounts from one to another, with both locks held.
 * Almost all work is locking.
 */
#include "kernel.h"

#define ACCOUNTS 1000u

static struct {
    pthread_mutex_t lock;
    uint64_t balance, moves;
} accounts[ACCOUNTS];

static void move(size_t from, size_t to, uint64_t amount)
{
    size_t first = from < to ? from : to, second = from < to ? to : from;

    pthread_mutex_lock(&accounts[first].lock);
    pthread_mutex_lock(&accounts[second].lock);
    accounts[from].balance -= amount;
    accounts[to].balance += amount;
    accounts[from].moves++;
    pthread_mutex_unlock(&accounts[second].lock);
    pthread_mutex_unlock(&accounts[first].lock);
}

static void *use(void *argument)
{
    const struct part *part = argument;
    uint64_t state = part->index + 1;

    for (size_t i = 0; i < part->size; i++) {
        uint64_t number = next_random(&state);
        size_t from = number % ACCOUNTS;
        size_t to = (from + 1 + (number >> 20) % (ACCOUNTS - 1)) % ACCOUNTS;
        move(from, to, number >> 60);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].balance = 1000000;
    }
    run_parts(use, size_argument(argc, argv, 1000000));
    for (size_t i = 0; i < ACCOUNTS; i++) {
        sum = mix(sum + accounts[i].balance + 5 * accounts[i].moves);
    }
    return print_sum(sum);
}
