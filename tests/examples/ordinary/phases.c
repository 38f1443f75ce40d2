/* SPDX-License-Identifier: Apache-2.0 */
/* A heat equation on a rod, by threads that meet at a barrier after every step. */
#include <pthread.h>
#include <stdio.h>

#define WORKERS 3
#define CELLS   12
#define STEPS   3000

static double rod[2][CELLS + 2] = {{100.0}, {100.0}};
static pthread_barrier_t barrier;

static void step(const double *from, double *to, int first, int last)
{
    for (int i = first; i <= last; i++) {
        to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
    }
}

static void *work(void *number)
{
    int first = 1 + (int)(size_t)number * (CELLS / WORKERS);

    for (int i = 0; i < STEPS; i++) {
        step(rod[i % 2], rod[(i + 1) % 2], first, first + CELLS / WORKERS - 1);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];

    pthread_barrier_init(&barrier, NULL, WORKERS);
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%.3f\n", rod[0][CELLS / 2]);
    return 0;
}
