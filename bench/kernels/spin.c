/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server with I/O threads, like redis: the main thread hands out requests in rounds, and all
 * threads wait for each other by spinning on atomic counters. The event loop is one function that
 * runs as long as the program does, so it is one transaction that reads atomics over and over, and
 * the threads only spin between rounds. The number of rounds is fixed.
 */
#include <sched.h>
#include <stdatomic.h>

#include "kernel.h"

#define HELD     2u  /* threads besides the main one */
#define REQUESTS 32u /* of a thread and round */
#define BYTES    64u
#define SPINS    2000u /* before the processor is given to another thread */

struct request {
    unsigned char bytes[BYTES];
    uint64_t answer;
};

static struct {
    _Atomic unsigned long pending; /* requests that wait for the thread */
    struct request requests[REQUESTS];
} lists[HELD + 1];
static _Atomic int stop;
static uint64_t keys[1024];

static void parse(struct request *request)
{
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < BYTES; i++) {
        hash = (hash ^ request->bytes[i]) * 1099511628211u;
    }
    request->answer = hash;
}

static void parse_list(size_t list)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        parse(&lists[list].requests[i]);
    }
}

/* As long as both threads have a processor nothing is gained by giving it up. */
static void pause_after(unsigned *spins)
{
    if (++*spins % SPINS == 0) {
        sched_yield();
    }
}

static void *serve_list(void *argument)
{
    size_t list = *(const size_t *)argument;

    while (atomic_load(&stop) == 0) {
        for (unsigned spins = 0; spins < SPINS; spins++) {
            if (atomic_load(&lists[list].pending) != 0) {
                break;
            }
        }
        if (atomic_load(&lists[list].pending) == 0) {
            sched_yield();
            continue;
        }
        parse_list(list);
        atomic_store(&lists[list].pending, 0);
    }
    return NULL;
}

static void receive(uint64_t *state)
{
    for (size_t list = 0; list <= HELD; list++) {
        for (size_t i = 0; i < REQUESTS; i++) {
            uint64_t number = next_random(state);
            for (size_t at = 0; at < BYTES; at++) {
                lists[list].requests[i].bytes[at] = (unsigned char)(number >> at % 57);
            }
        }
    }
}

static void wait_for_lists(void)
{
    for (unsigned spins = 0;; pause_after(&spins)) {
        unsigned long pending = 0;
        for (size_t list = 1; list <= HELD; list++) {
            pending += atomic_load(&lists[list].pending);
        }
        if (pending == 0) {
            return;
        }
    }
}

static void execute(void)
{
    for (size_t list = 0; list <= HELD; list++) {
        for (size_t i = 0; i < REQUESTS; i++) {
            uint64_t answer = lists[list].requests[i].answer;
            keys[answer % 1024] = mix(keys[answer % 1024] + answer);
        }
    }
}

static void event_loop(size_t rounds)
{
    uint64_t state = 1;

    for (size_t round = 0; round < rounds; round++) {
        receive(&state);
        for (size_t list = 1; list <= HELD; list++) {
            atomic_store(&lists[list].pending, REQUESTS);
        }
        parse_list(0);
        wait_for_lists();
        execute();
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[HELD];
    size_t numbers[HELD];
    uint64_t sum = 0;

    for (size_t i = 0; i < HELD; i++) {
        numbers[i] = i + 1;
        if (pthread_create(&threads[i], NULL, serve_list, &numbers[i]) != 0) {
            return 1;
        }
    }
    event_loop(size_argument(argc, argv, 3000));
    atomic_store(&stop, 1);
    for (size_t i = 0; i < HELD; i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < 1024; i++) {
        sum = mix(sum + keys[i]);
    }
    return print_sum(sum);
}
