/* SPDX-License-Identifier: Apache-2.0 */
/* A compare-and-swap loop with a gap: the value that was decided on is not the one swapped. */
/* expected: block raise_maximum, about maximum */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define TIMES 30

static atomic_long maximum;

static void raise_maximum(long value)
{
    if (atomic_load(&maximum) >= value) {
        return;
    }
    long now = atomic_load(&maximum); /* may have grown past the value by now */
    while (!atomic_compare_exchange_weak(&maximum, &now, value)) {
    }
}

static void *measure(void *argument)
{
    for (long i = 0; i < TIMES; i++) {
        raise_maximum(2 * i + (argument != NULL));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    long odd = 1;

    pthread_create(&threads[0], NULL, measure, NULL);
    pthread_create(&threads[1], NULL, measure, &odd);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("maximum %ld\n", atomic_load(&maximum));
    return 0;
}
