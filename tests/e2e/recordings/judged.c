/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that recordings have for `judge` only, one kind in each function. The first argument says
 * which function the second thread calls.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ready, data, ends[2];
static atomic_int word, futex, waiting, answered;

static void add(void)
{
    pthread_mutex_lock(&mutex);
    data++;
    pthread_mutex_unlock(&mutex);
}

static void await(void)
{
    pthread_mutex_lock(&mutex);
    waiting = 1;
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    add();
}

/* Returns with a lock that it was called without. */
static void take_lock(void)
{
    pthread_mutex_lock(&mutex);
}

static void wrap(void)
{
    for (int i = 0; i < 2; i++) {
        take_lock();
        data++;
        pthread_mutex_unlock(&mutex);
    }
}

static void take_semaphore(void)
{
    data++;
    sem_wait(&semaphore);
    data++;
}

static void time_out(void)
{
    struct timespec past = {0};
    sem_t none;
    sem_init(&none, 0, 0);
    data++;
    sem_timedwait(&none, &past);
    data++;
}

static void poll_pipe(void)
{
    struct pollfd file = {.fd = ends[0], .events = POLLIN};
    data++;
    poll(&file, 1, -1);
    data++;
}

static void select_pipe(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    data++;
    select(ends[0] + 1, &set, NULL, NULL, NULL);
    data++;
}

static void epoll_pipe(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int all = epoll_create1(0);
    epoll_ctl(all, EPOLL_CTL_ADD, ends[0], &event);
    data++;
    epoll_wait(all, &event, 1, -1);
    data++;
}

static void read_pipe(void)
{
    char byte;
    data++;
    if (read(ends[0], &byte, 1) == 1)
        data++;
}

static void read_eventfd(void)
{
    uint64_t value;
    int file = eventfd(1, 0);
    data++;
    if (read(file, &value, sizeof(value)) == sizeof(value))
        data++;
}

static void read_file(void)
{
    char byte;
    FILE *file = tmpfile();
    fputs("text", file);
    fflush(file);
    lseek(fileno(file), 0, SEEK_SET);
    data++;
    if (read(fileno(file), &byte, 1) == 1)
        data++;
}

/* Sleeping, and looking without finding anything. */
static void sleep_only(void)
{
    struct pollfd file = {.fd = ends[0], .events = POLLIN};
    struct timespec time = {.tv_nsec = 1000};
    data++;
    nanosleep(&time, NULL);
    poll(NULL, 0, 1);
    poll(&file, 1, 0);
    waitpid(-1, NULL, WNOHANG);
    data++;
}

static void wait_child(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    data++;
    waitpid(child, NULL, 0);
    data++;
}

static void wait_futex(void)
{
    data++;
    syscall(SYS_futex, &futex, FUTEX_WAIT, 1, NULL, NULL, 0);
    data++;
}

static void swap(void)
{
    int expected = 5;
    atomic_compare_exchange_strong(&word, &expected, 6);
    atomic_compare_exchange_strong(&word, &expected, 7);
}

/* Half of an update, and the other half after another thread's. */
static void cut(void)
{
    pthread_mutex_lock(&mutex);
    int before = data;
    pthread_mutex_unlock(&mutex);
    waiting = 1;
    while (!answered)
        usleep(1000);
    pthread_mutex_lock(&mutex);
    data = before + 1;
    pthread_mutex_unlock(&mutex);
}

static const struct {
    const char *name;
    void (*function)(void);
} ways[] = {
    {"add", add},
    {"await", await},
    {"wrap", wrap},
    {"take_semaphore", take_semaphore},
    {"time_out", time_out},
    {"poll_pipe", poll_pipe},
    {"select_pipe", select_pipe},
    {"epoll_pipe", epoll_pipe},
    {"read_pipe", read_pipe},
    {"read_eventfd", read_eventfd},
    {"read_file", read_file},
    {"sleep_only", sleep_only},
    {"wait_child", wait_child},
    {"wait_futex", wait_futex},
    {"swap", swap},
    {"cut", cut},
};

static void *work(void *name)
{
    data = 1;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(ways[i].name, name) == 0)
            ways[i].function();
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    const char *way = count > 1 ? arguments[1] : "add";

    sem_init(&semaphore, 0, 0);
    if (pipe(ends) != 0 || pthread_create(&thread, NULL, work, (void *)way) != 0)
        return 1;
    while (!waiting && (strcmp(way, "await") == 0 || strcmp(way, "cut") == 0))
        usleep(1000);
    pthread_mutex_lock(&mutex);
    ready = 1;
    data++;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    answered = 1;
    if (strcmp(way, "sleep_only") != 0 && write(ends[1], "x", 1) != 1)
        return 1;
    sem_post(&semaphore);
    pthread_join(thread, NULL);
    return data > 0 ? 0 : 1;
}
