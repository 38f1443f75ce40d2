/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks what a program can observe of itself while reports about it are requested: signal
 * dispositions, blocked signals, the number of threads and descriptors, and that no wait is
 * interrupted. It prints these before and after; in between it creates the file "ready" and waits
 * for the file "done".
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static sem_t never;
static volatile sig_atomic_t handled[NSIG];
static int pipe_ends[2];
static int interrupted[4];

static void handle(int number)
{
    handled[number]++;
}

static int count_entries(const char *directory)
{
    char command[128];
    int count = -1;

    snprintf(command, sizeof(command), "/proc/%d/%s", (int)getpid(), directory);
    struct stat status;
    if (stat(command, &status) == 0)
        count = (int)status.st_nlink;
    return count;
}

/* The lowest free descriptor is unchanged, and none above it is open. */
static int count_descriptors(void)
{
    int count = 0;

    for (int i = 0; i < 1024; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void tell(const char *when)
{
    sigset_t blocked, pending;

    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigpending(&pending);
    for (int i = 1; i < 32; i++) {
        struct sigaction action;
        sigaction(i, NULL, &action);
        printf("%s %d: %s%s%s flags %x handled %d\n", when, i,
               action.sa_handler == SIG_DFL   ? "default"
               : action.sa_handler == SIG_IGN ? "ignored"
               : action.sa_handler == handle  ? "own"
                                              : "foreign",
               sigismember(&blocked, i) ? " blocked" : "",
               sigismember(&pending, i) ? " pending" : "", (unsigned)action.sa_flags & ~0x04000000u,
               (int)handled[i]);
    }
    printf("%s: %d descriptors, %d threads\n", when, count_descriptors(),
           count_entries("task") - 2);
}

static void *poller(void *unused)
{
    struct pollfd wait = {.fd = pipe_ends[0], .events = POLLIN};

    while (poll(&wait, 1, 10000) < 0 && errno == EINTR)
        interrupted[0]++;
    return unused;
}

static void *reader(void *unused)
{
    char byte;

    while (read(pipe_ends[0], &byte, 1) < 0 && errno == EINTR)
        interrupted[1]++;
    return unused;
}

static void *waiter(void *unused)
{
    while (sem_wait(&never) < 0 && errno == EINTR)
        interrupted[2]++;
    return unused;
}

static void own_handlers(int own)
{
    struct sigaction action = {.sa_handler = handle};

    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGHUP);
    sigaction(SIGUSR2, &action, NULL);
    signal(SIGALRM, SIG_IGN);
    if (own)
        sigaction(own, &action, NULL);
}

int main(int count, char **words)
{
    void *(*const starts[])(void *) = {poller, reader, waiter};
    pthread_t threads[3];

    own_handlers(count > 1 ? atoi(words[1]) : 0);
    if (pipe(pipe_ends) != 0)
        return 1;
    sem_init(&never, 0, 0);
    tell("before");
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, starts[i], NULL);
    close(open("ready", O_CREAT | O_WRONLY, 0600));
    for (int i = 0; i < 1000 && access("done", F_OK) != 0; i++) {
        const struct timespec moment = {.tv_nsec = 10000000};
        if (nanosleep(&moment, NULL) != 0)
            interrupted[3]++;
    }
    tell("after");
    if (write(pipe_ends[1], "xx", 2) != 2)
        return 1;
    sem_post(&never);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        printf("interrupted %d\n", interrupted[i]);
    return 0;
}
