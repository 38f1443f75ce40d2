/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for tests of tmesis hunt. Its deposits are slow and usually cut each other, but not in
 * every run, and no test relies on it. The first argument says how it ends.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static int get(void)
{
    pthread_mutex_lock(&lock);
    int now = balance;
    pthread_mutex_unlock(&lock);
    return now;
}

static void set(int now)
{
    pthread_mutex_lock(&lock);
    balance = now;
    pthread_mutex_unlock(&lock);
}

static void deposit(void)
{
    int now = get();
    usleep(20000);
    set(now + 1);
}

static void *pay(void *unused)
{
    for (int i = 0; i < 5; i++) {
        deposit();
    }
    return unused;
}

static void work(void)
{
    pthread_t one, two;

    pthread_create(&one, NULL, pay, NULL);
    pthread_create(&two, NULL, pay, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

/* Fails in every second run: a file says whether it did the last time. */
static int alternate(void)
{
    if (unlink("failed") == 0) {
        return 0;
    }
    fclose(fopen("failed", "w"));
    return 1;
}

static void leave_daemon(void)
{
    int ends[2];
    char ready;

    if (pipe(ends) != 0) {
        exit(9);
    }
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            FILE *out = fopen("daemon", "w");
            fprintf(out, "%ld\n", (long)getpid());
            fclose(out);
            if (write(ends[1], "x", 1) == 1) {
                sleep(1000);
            }
        }
        _exit(0);
    }
    if (read(ends[0], &ready, 1) != 1) {
        exit(9);
    }
}

static int read_input(void)
{
    char line[64] = "";

    return fgets(line, sizeof(line), stdin) != NULL && strcmp(line, "hello\n") == 0 ? 0 : 1;
}

static void hang(void)
{
    for (;;) {
        pause();
    }
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "";

    if (strcmp(how, "calm") != 0) {
        work();
    } else {
        deposit();
    }
    if (strcmp(how, "assert") == 0) {
        assert(balance < 0);
    } else if (strcmp(how, "crash") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(how, "status") == 0) {
        return 7;
    } else if (strcmp(how, "alternate") == 0) {
        return alternate();
    } else if (strcmp(how, "deadlock") == 0) {
        pthread_mutex_lock(&lock);
        pthread_mutex_lock(&lock);
    } else if (strcmp(how, "server") == 0) {
        hang();
    } else if (strcmp(how, "stubborn") == 0) {
        signal(SIGTERM, SIG_IGN);
        hang();
    } else if (strcmp(how, "daemon") == 0) {
        leave_daemon();
    } else if (strcmp(how, "group") == 0) {
        kill(0, SIGKILL);
    } else if (strcmp(how, "read") == 0) {
        return read_input();
    }
    return 0;
}
