/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of buggy.c, fixed: pthread_once lets the first thread make it, and the others wait
 * until it is complete.
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
static pthread_once_t primes_made = PTHREAD_ONCE_INIT;

static void make_primes(void)
{
    struct primes *made = calloc(1, sizeof(*made));

    for (size_t i = 2; made != NULL && i < NUMBERS; i++) {
        for (size_t multiple = 2 * i; multiple < NUMBERS; multiple += i) {
            made->composite[multiple] = 1;
        }
    }
    primes = made;
}

static struct primes *get_primes(void)
{
    pthread_once(&primes_made, make_primes);
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
