/* SPDX-License-Identifier: Apache-2.0 */
/* A bug of depth 1: the thread must not run before its creator has continued. */
#include <pthread.h>
#include <stdio.h>

static int ready, early;

static void *work(void *unused)
{
    early = !ready;
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, 0, work, 0);
    ready = 1;
    pthread_join(thread, 0);
    puts(early ? "bug" : "fine");
    return 0;
}
