/* SPDX-License-Identifier: Apache-2.0 */
/* Two plain variables that belong together, set and read without a lock. */
/* expected: block read_point, about point */
#include <pthread.h>
#include <stdio.h>

#define TIMES 20

static struct {
    long x, y;
} point;
static long apart;

static void set_point(long value)
{
    point.x = value;
    point.y = value;
}

static long read_point(void)
{
    long x = point.x;
    return x - point.y;
}

static void *mover(void *unused)
{
    for (long i = 1; i <= TIMES; i++) {
        set_point(i);
    }
    return unused;
}

static void *looker(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        apart += read_point() != 0;
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, mover, NULL);
    pthread_create(&threads[1], NULL, looker, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("apart %ld times\n", apart);
    return 0;
}
