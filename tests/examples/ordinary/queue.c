/* SPDX-License-Identifier: Apache-2.0 */
/* Producers and consumers around a bounded queue with two condition variables. */
#include <pthread.h>
#include <stdio.h>

#define ROOM  3
#define PAIRS 3000 /* that each consumer takes */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    int items[ROOM];
    unsigned first, count;
} queue = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};

static void put(int item)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.count == ROOM) {
        pthread_cond_wait(&queue.not_full, &queue.lock);
    }
    queue.items[(queue.first + queue.count++) % ROOM] = item;
    pthread_cond_signal(&queue.not_empty);
    pthread_mutex_unlock(&queue.lock);
}

static int take(void)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.count == 0) {
        pthread_cond_wait(&queue.not_empty, &queue.lock);
    }
    int item = queue.items[queue.first++ % ROOM];
    queue.count--;
    pthread_cond_signal(&queue.not_full);
    pthread_mutex_unlock(&queue.lock);
    return item;
}

/* Not atomic, and not meant to be: but tmesis does not know. */
static int take_two(void)
{
    int one = take();

    return one + take();
}

static void *produce(void *unused)
{
    for (int i = 0; i < 2 * PAIRS; i++) {
        put(i % 7);
    }
    return unused;
}

static void *consume(void *sum)
{
    for (int i = 0; i < PAIRS; i++) {
        *(long *)sum += take_two();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    long sums[2] = {0};

    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, produce, NULL);
        pthread_create(&threads[2 + i], NULL, consume, &sums[i]);
    }
    for (int i = 2; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld\n", sums[0] + sums[1]);
    return 0;
}
