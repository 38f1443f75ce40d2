/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The box office of buggy.c, fixed: each customer draws the next number, in one atomic operation,
 * and has a seat if there is one with that number.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#define CLERKS 2
#define SEATS  5000

static atomic_int next_seat;

static bool sell_ticket(void)
{
    return atomic_fetch_add(&next_seat, 1) < SEATS;
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
