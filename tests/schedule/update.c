/* SPDX-License-Identifier: Apache-2.0 */
/* A bug of depth 2: one of two updates is lost if the other one comes in between. */
#include <pthread.h>
#include <stdio.h>

static int x;

static void add(void)
{
    int value = x;
    x = value + 1;
}

static void *work(void *unused)
{
    add();
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, 0, work, 0);
    add();
    pthread_join(thread, 0);
    puts(x == 2 ? "fine" : "bug");
    return 0;
}
