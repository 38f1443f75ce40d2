/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rare bug: two threads make 10,000 harmless critical sections each, and once, at different
 * times, add to a total in two steps with a window of a few instructions between them.
 */
#include <pthread.h>
#include <stdio.h>

#define TURNS 10000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long served[2], total;

static void serve(int who)
{
    pthread_mutex_lock(&lock);
    served[who]++;
    pthread_mutex_unlock(&lock);
}

static long get_total(void)
{
    pthread_mutex_lock(&lock);
    long now = total;
    pthread_mutex_unlock(&lock);
    return now;
}

static void set_total(long value)
{
    pthread_mutex_lock(&lock);
    total = value;
    pthread_mutex_unlock(&lock);
}

static void settle(int who)
{
    set_total(get_total() + served[who]);
}

static void *work(void *argument)
{
    int who = *(int *)argument;
    int when = who == 0 ? TURNS / 4 : TURNS * 3 / 4;

    for (int i = 0; i < TURNS; i++) {
        serve(who);
        if (i == when) {
            settle(who);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};

    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld\n", total);
    return 0;
}
