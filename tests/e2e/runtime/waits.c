/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of wait inside a block. Another thread does its part meanwhile: this is not a
 * violation only because a wait splits the block in two, so `--split=none` must report one.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "tmesis/annotate.h"
#include "weave/turn.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static bool ready;

/* A moment from now, after which a wait is tried again. */
static struct timespec soon(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

static void wait(void)
{
    pthread_cond_wait(&condition, &mutex);
}

static void timed_wait(void)
{
    struct timespec until = soon(CLOCK_REALTIME);

    pthread_cond_timedwait(&condition, &mutex, &until);
}

static void clock_wait(void)
{
    struct timespec until = soon(CLOCK_MONOTONIC);

    pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
}

static void c11_wait(void)
{
    cnd_wait(&c11_condition, &c11_mutex);
}

static void c11_timed_wait(void)
{
    struct timespec until = soon(CLOCK_REALTIME);

    cnd_timedwait(&c11_condition, &c11_mutex, &until);
}

struct way {
    const char *name;
    void (*wait)(void);
    bool c11;
};

/* The turn is passed with the lock held: the other thread gets it only when this one waits. */
static void *waiter(void *argument)
{
    const struct way *way = argument;

    turn_take(1);
    tmesis_begin("cut");
    way->c11 ? (void)mtx_lock(&c11_mutex) : (void)pthread_mutex_lock(&mutex);
    turn_pass(2);
    while (!ready) {
        way->wait();
    }
    way->c11 ? (void)mtx_unlock(&c11_mutex) : (void)pthread_mutex_unlock(&mutex);
    tmesis_end();
    return NULL;
}

static void *waker(void *argument)
{
    const struct way *way = argument;

    turn_take(2);
    way->c11 ? (void)mtx_lock(&c11_mutex) : (void)pthread_mutex_lock(&mutex);
    ready = true;
    way->c11 ? (void)cnd_signal(&c11_condition) : (void)pthread_cond_signal(&condition);
    way->c11 ? (void)mtx_unlock(&c11_mutex) : (void)pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *crosser(void *unused)
{
    tmesis_begin("crossing");
    pthread_barrier_wait(&barrier);
    tmesis_end();
    return unused;
}

static void run_two(void *(*one)(void *), void *(*other)(void *), void *argument)
{
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, one, argument);
    pthread_create(&threads[1], NULL, other, argument);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
    static struct way ways[] = {
        {"condition", wait, false},
        {"condition-timed", timed_wait, false},
        {"condition-clock", clock_wait, false},
        {"c11-condition", c11_wait, true},
        {"c11-condition-timed", c11_timed_wait, true},
    };

    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_condition);
    pthread_barrier_init(&barrier, NULL, 2);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && argc == 2; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            run_two(waiter, waker, &ways[i]);
            return 0;
        }
    }
    run_two(crosser, crosser, NULL);
    return 0;
}
