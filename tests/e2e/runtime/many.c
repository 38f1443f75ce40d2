/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 300 threads over time, 64 of them alive at a time: each counts under the lock, in a block of its
 * own, which is fine. The last two do so alternately, inside each other's blocks, which is not.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tmesis/annotate.h"
#include "weave/turn.h"

#define THREADS 300
#define ALIVE   64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void count(void)
{
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
}

/* Lives until its turn comes. */
static void *counting(void *turn)
{
    tmesis_begin("counting");
    count();
    tmesis_end();
    turn_take((unsigned)(size_t)turn);
    return NULL;
}

static void *cut(void *turn)
{
    unsigned first = (unsigned)(size_t)turn;

    tmesis_begin("cut");
    in_turn (first) {
        count();
    }
    in_turn (first + 2) {
        count();
    }
    tmesis_end();
    return NULL;
}

static void end_thread(const pthread_t *threads, size_t index)
{
    turn_pass((unsigned)index);
    pthread_join(threads[index], NULL);
}

int main(void)
{
    pthread_t threads[THREADS];
    size_t others = THREADS - 2;

    turn_pass(THREADS);
    for (size_t i = 0; i < others; i++) {
        if (i >= ALIVE) {
            end_thread(threads, i - ALIVE);
        }
        pthread_create(&threads[i], NULL, counting, (void *)i);
    }
    for (size_t i = others - ALIVE; i < others; i++) {
        end_thread(threads, i);
    }
    turn_pass(THREADS);
    for (size_t i = others; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, cut, (void *)(THREADS + i - others));
    }
    for (size_t i = others; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%d\n", counter);
    return 0;
}
