/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread loops over an array in one block after the other without interference, and once more in
 * the block "again", while another thread writes to one element. That cuts the block, wherever the
 * element is, although the accesses of the loop are repeated ones.
 *
 *     again WIDTH READERS ELEMENT     WIDTH 1 or 8 bytes; READERS 1 or 2; ELEMENT -1: none is
 * written
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "tmesis/annotate.h"

#define ELEMENTS 40
#define UNSEEN   __attribute__((no_sanitize("thread"), noinline))
#define SEEN     __attribute__((noinline)) static

static unsigned char bytes[ELEMENTS];
static uint64_t words[ELEMENTS];
static uint64_t flag;
static volatile int turn;
static int width, readers, element;

SEEN uint64_t read_all(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < ELEMENTS; i++) {
        sum += width == 1 ? bytes[i] : words[i];
    }
    return sum;
}

SEEN void write_one(int at)
{
    if (width == 1) {
        bytes[at] = 1;
    } else {
        words[at] = 1;
    }
}

SEEN void set_flag(void)
{
    flag = 1;
}

SEEN uint64_t get_flag(void)
{
    return flag;
}

UNSEEN static void wait_for(int wanted)
{
    while (turn != wanted) {
        sched_yield();
    }
    __sync_synchronize();
}

UNSEEN static void pass_on(void)
{
    __sync_synchronize();
    turn++;
}

UNSEEN static void *read_again(void *argument)
{
    uint64_t sum = 0;

    for (int i = 0; i < 2; i++) {
        wait_for(2 * i);
        tmesis_begin("before");
        sum += read_all();
        tmesis_end();
        pass_on();
    }
    tmesis_begin("again");
    sum += read_all();
    wait_for(3);
    pass_on();
    wait_for(5);
    sum += get_flag();
    tmesis_end();
    return sum == 0 ? argument : NULL;
}

UNSEEN static void *read_between(void *argument)
{
    wait_for(1);
    uint64_t sum = readers == 2 ? read_all() : 0;
    pass_on();
    return sum == 0 ? argument : NULL;
}

UNSEEN static void *write_between(void *argument)
{
    wait_for(4);
    if (element >= 0) {
        write_one(element);
    }
    set_flag();
    pass_on();
    return argument;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {read_again, read_between, write_between};
    pthread_t threads[3];

    if (argc != 4) {
        return 2;
    }
    width = atoi(argv[1]);
    readers = atoi(argv[2]);
    element = atoi(argv[3]);
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work[i], NULL);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
