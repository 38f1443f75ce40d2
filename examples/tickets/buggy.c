/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check, then act, on a C11 atomic.
 *
 * The number of free seats is atomic, so decrementing it can't lose an update, and race detectors
 * report nothing. But one operation tests whether there is a free seat, and another one takes the
 * seat. Two clerks who both see the last seat both sell it. Most runs sell just as many tickets as
 * there are seats, although they have the same bug.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#define CLERKS 2
#define SEATS  5000

static atomic_int free_seats = SEATS;

static bool sell_ticket(void)
{
    if (atomic_load(&free_seats) == 0) {
        return false;
    }
    atomic_fetch_sub(&free_seats, 1);
    return true;
}

/* As many people come to each clerk as there are seats. */
static void *clerk(void *sold)
{
    for (int person = 0; person < SEATS; person++) {
        *(int *)sold += sell_ticket();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[CLERKS];
    int sold[CLERKS] = {0};

    for (int i = 0; i < CLERKS; i++) {
        pthread_create(&threads[i], NULL, clerk, &sold[i]);
    }
    for (int i = 0; i < CLERKS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("sold %d tickets for %d seats\n", sold[0] + sold[1], SEATS);
    return 0;
}
