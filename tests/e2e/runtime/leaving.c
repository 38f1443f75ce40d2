/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to leave a block other than its end. The function cut() is the block. It reads a variable
 * and is left; then another thread writes the variable, and the first writes it too. That would be
 * a violation if the first thread were taken to be still in its block.
 *
 * "stay" does the same without leaving, to show that it can be one, "open" ends the thread after
 * it, in the middle of its blocks.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "weave/turn.h"

static int x;
static volatile int seen;
static jmp_buf jump_out;
static sigjmp_buf signal_jump_out;

static bool is(const char *way, const char *name)
{
    return strcmp(way, name) == 0;
}

__attribute__((noinline)) static void deeper(const char *way)
{
    if (is(way, "jump")) {
        longjmp(jump_out, 1);
    } else if (is(way, "signal-jump")) {
        siglongjmp(signal_jump_out, 1);
    } else if (is(way, "exit")) {
        pthread_exit(NULL);
    } else if (is(way, "cancel")) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
}

/* Once: in the block, or outside it if it has been left. */
static void write_again(void *unused)
{
    static bool written;

    (void)unused;
    if (!written) {
        written = true;
        in_turn (3) {
            x = 2;
        }
    }
}

__attribute__((noinline)) static void cut(const char *way)
{
    in_turn (1) {
        seen = x;
    }
    deeper(way);
    if (is(way, "open") || is(way, "stay")) {
        write_again(NULL);
    }
    if (is(way, "open")) {
        pthread_exit(NULL);
    }
    seen++;
}

static void *leaver(void *way)
{
    pthread_cleanup_push(write_again, NULL);
    if (is(way, "jump")) {
        if (setjmp(jump_out) == 0) {
            cut(way);
        }
    } else if (is(way, "signal-jump")) {
        if (sigsetjmp(signal_jump_out, 0) == 0) {
            cut(way);
        }
    } else {
        cut(way);
    }
    pthread_cleanup_pop(1);
    return NULL;
}

static void *writer(void *unused)
{
    in_turn (2) {
        x = 1;
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    if (argc != 2) {
        fprintf(stderr, "usage: leaving return|jump|signal-jump|exit|cancel|open|stay\n");
        return 2;
    }
    pthread_create(&threads[0], NULL, leaver, argv[1]);
    pthread_create(&threads[1], NULL, writer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
