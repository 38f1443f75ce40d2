/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lazy initialisation without a lock.
 *
 * The table of primes is made on first use. A thread that finds no table makes one: two threads
 * that start at the same time both find none, both make one, and the later one replaces the
 * table that the earlier thread already uses. Here this costs time and memory; if the table were
 * modified later, one of the two threads would modify a table that no other thread sees. This is
 * a data race as well, but making the pointer atomic would silence the race detector and fix
 * nothing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define READERS 4
#define NUMBERS 100000

struct primes {
    unsigned char composite[NUMBERS];
};

static struct primes *primes;

static struct primes *make_primes(void)
{
    struct primes *made = calloc(1, sizeof(*made));

    for (size_t i = 2; made != NULL && i < NUMBERS; i++) {
        for (size_t multiple = 2 * i; multiple < NUMBERS; multiple += i) {
            made->composite[multiple] = 1;
        }
    }
    return made;
}

static struct primes *get_primes(void)
{
    if (primes == NULL) {
        primes = make_primes();
    }
    return primes;
}

static void *reader(void *unused)
{
    (void)unused;
    return get_primes();
}

int main(void)
{
    pthread_t threads[READERS];
    void *tables[READERS];
    int strangers = 0;

    for (int i = 0; i < READERS; i++) {
        pthread_create(&threads[i], NULL, reader, NULL);
    }
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], &tables[i]);
    }
    for (int i = 0; i < READERS; i++) {
        strangers += tables[i] != primes;
    }
    printf("%d of %d threads use a table that no other thread will find\n", strangers, READERS);
    return 0;
}
