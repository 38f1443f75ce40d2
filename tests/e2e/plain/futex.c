/* SPDX-License-Identifier: Apache-2.0 */
/* A futex by raw system call, and a switch of stacks, as in libraries of locks and of fibers. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static int word;
static ucontext_t first, second;

static void *wake(void *unused)
{
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}

static void swap(void)
{
    printf("on another stack\n");
    swapcontext(&second, &first);
}

int main(int words, char **how)
{
    pthread_t thread;

    if (words > 1 && strcmp(how[1], "fibre") == 0) {
        getcontext(&second);
        second.uc_stack.ss_sp = malloc(65536);
        second.uc_stack.ss_size = 65536;
        makecontext(&second, swap, 0);
        swapcontext(&first, &second);
    } else {
        pthread_create(&thread, NULL, wake, NULL);
        pthread_join(thread, NULL);
    }
    printf("done\n");
    return 0;
}
