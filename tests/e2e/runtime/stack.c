/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of a thread that has ended is new memory for the thread that gets it next.
 *
 * The block "cut" writes y, which the first child reads; the second child writes z, which the
 * block reads. If the children were connected as well, the block would have been cut apart; and
 * what they have in common is an array on their stacks, at the same address. No thread joins the
 * first child before the second is created, as that would connect them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "tmesis/annotate.h"
#include "weave/turn.h"

static int y, z;
static __thread volatile int seen;

/* No events: they would order the threads. */
__attribute__((no_sanitize("thread"))) static void use(volatile char *array)
{
    static uintptr_t place;

    if (place != 0 && place != (uintptr_t)array) {
        puts("not the same address");
    }
    place = (uintptr_t)array;
}

static int first_child;

__attribute__((no_sanitize("thread"))) static void note_thread(void)
{
    first_child = gettid();
}

__attribute__((no_sanitize("thread"))) static void wait_for_its_end(void)
{
    turn_after_thread(first_child);
}

static void fill(volatile char *array)
{
    use(array);
    for (int i = 0; i < 64; i++) {
        array[i] = 1;
    }
}

/* The same way through the code for both, so that the array has its place in the same frame. */
struct role {
    unsigned turn;
    int *read, *write;
};

static void *child(void *argument)
{
    const struct role *role = argument;
    volatile char array[64];

    note_thread();
    in_turn (role->turn) {
        seen = *role->read;
        fill(array);
        *role->write = 1;
    }
    return NULL;
}

static void *block(void *unused)
{
    in_turn (1) {
        tmesis_begin("cut");
        y = 1;
    }
    in_turn (4) {
        seen = z;
        tmesis_end();
    }
    return unused;
}

int main(void)
{
    static int nowhere[2];
    static struct role roles[] = {{2, &y, &nowhere[0]}, {3, &nowhere[1], &z}};
    pthread_t cutter, children[2];

    pthread_create(&cutter, NULL, block, NULL);
    pthread_create(&children[0], NULL, child, &roles[0]);
    pthread_detach(children[0]);
    turn_take(3);
    wait_for_its_end();
    pthread_create(&children[1], NULL, child, &roles[1]);
    pthread_join(children[1], NULL);
    pthread_join(cutter, NULL);
    return 0;
}
