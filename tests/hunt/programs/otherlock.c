/* SPDX-License-Identifier: Apache-2.0 */
/* The same data under two locks: each side believes that its own lock protects the stock. */
/* expected: block sell, about stock */
#include <pthread.h>
#include <stdio.h>

#define TIMES 30

static pthread_mutex_t sales = PTHREAD_MUTEX_INITIALIZER, deliveries = PTHREAD_MUTEX_INITIALIZER;
static int stock = TIMES;

static void sell(void)
{
    pthread_mutex_lock(&sales);
    int left = stock;
    if (left > 0) {
        stock = left - 1;
    }
    pthread_mutex_unlock(&sales);
}

static void deliver(void)
{
    pthread_mutex_lock(&deliveries);
    int left = stock;
    stock = left + 1;
    pthread_mutex_unlock(&deliveries);
}

static void *seller(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        sell();
    }
    return unused;
}

static void *driver(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        deliver();
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, seller, NULL);
    pthread_create(&threads[1], NULL, driver, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%d in stock\n", stock);
    return 0;
}
