/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects with a lock in them are allocated by one thread, handed to another through the kernel (by
 * "pipe", "socket", "eventfd", "epoll", "signal" or "shared" memory between two mappings), used
 * there, handed back and freed. Nothing that can be watched orders the two threads. Which of them
 * is busier changes from round to round, and so does whether the mutex is initialised and destroyed
 * by calls or comes and goes with its memory.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 200
#define BUSY   20

struct job {
    long n;
    pthread_mutex_t lock;
    pthread_rwlock_t door;
};

static pthread_mutex_t guard[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long busy[2];

static void touch(int who)
{
    pthread_mutex_lock(&guard[who]);
    busy[who]++;
    pthread_mutex_unlock(&guard[who]);
}

static void work(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    job->n++;
    pthread_mutex_unlock(&job->lock);
    pthread_rwlock_wrlock(&job->door);
    job->n++;
    pthread_rwlock_unlock(&job->door);
}

/* ---- ways through the kernel: 0 is to the worker, 1 is back ------------------------------ */

static int in[2], out[2], poller[2];
static volatile uintptr_t *near[2], *far[2]; /* the same pages, mapped twice */
static pthread_t threads[2];

static void put_bytes(int way, struct job *job)
{
    if (write(out[way], &job, sizeof job) != sizeof job)
        abort();
}

static struct job *get_bytes(int way)
{
    struct job *job;
    if (read(in[way], &job, sizeof job) != sizeof job)
        abort();
    return job;
}

static struct job *get_polled(int way)
{
    struct epoll_event event;
    while (epoll_wait(poller[way], &event, 1, -1) != 1)
        continue;
    return get_bytes(way);
}

/* A counter, which can't hold 0. */
static void put_number(int way, struct job *job)
{
    uint64_t number = (uintptr_t)job + 1;
    if (write(out[way], &number, sizeof number) != sizeof number)
        abort();
}

static struct job *get_number(int way)
{
    uint64_t number;
    if (read(in[way], &number, sizeof number) != sizeof number)
        abort();
    return (struct job *)(uintptr_t)(number - 1);
}

static void put_signal(int way, struct job *job)
{
    pthread_sigqueue(threads[1 - way], SIGRTMIN, (union sigval){.sival_ptr = job});
}

static struct job *get_signal(int way)
{
    siginfo_t info;
    sigset_t set;
    (void)way;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    while (sigwaitinfo(&set, &info) != SIGRTMIN)
        continue;
    return info.si_value.sival_ptr;
}

/* Another address for each side. */
static void put_shared(int way, struct job *job)
{
    while (__atomic_load_n(near[way], __ATOMIC_ACQUIRE) != 0)
        usleep(1);
    __atomic_store_n(near[way], (uintptr_t)job + 1, __ATOMIC_RELEASE);
}

static struct job *get_shared(int way)
{
    uintptr_t found;
    while ((found = __atomic_load_n(far[way], __ATOMIC_ACQUIRE)) == 0)
        usleep(1);
    __atomic_store_n(far[way], 0, __ATOMIC_RELEASE);
    return (struct job *)(found - 1);
}

static void make_pipe(int way)
{
    int ends[2];
    if (pipe(ends) != 0)
        abort();
    in[way] = ends[0];
    out[way] = ends[1];
}

static void make_socket(int way)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        abort();
    in[way] = ends[0];
    out[way] = ends[1];
}

static void make_counter(int way)
{
    in[way] = out[way] = eventfd(0, 0);
}

static void make_epoll(int way)
{
    struct epoll_event event = {.events = EPOLLIN};
    make_pipe(way);
    poller[way] = epoll_create1(0);
    epoll_ctl(poller[way], EPOLL_CTL_ADD, in[way], &event);
}

static void block_signal(int way)
{
    sigset_t set;
    (void)way;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void map_twice(int way)
{
    int file = memfd_create("handover", 0);
    if (ftruncate(file, 4096) != 0)
        abort();
    near[way] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    far[way] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static const struct way {
    const char *name;
    void (*make)(int way);
    void (*put)(int way, struct job *job);
    struct job *(*get)(int way);
} ways[] = {
    {"pipe", make_pipe, put_bytes, get_bytes},
    {"socket", make_socket, put_bytes, get_bytes},
    {"eventfd", make_counter, put_number, get_number},
    {"epoll", make_epoll, put_bytes, get_polled},
    {"signal", block_signal, put_signal, get_signal},
    {"shared", map_twice, put_shared, get_shared},
};
static const struct way *way = ways;

/* ---- both sides -------------------------------------------------------------------------- */

static void be_busy(int who, int round)
{
    for (int i = 0; i < BUSY && (round / 3) % 2 == who; i++)
        touch(who);
}

static void *worker(void *unused)
{
    struct job *job;
    for (int round = 0; (job = way->get(0)) != NULL; round++) {
        be_busy(1, round);
        work(job);
        way->put(1, job);
    }
    return unused;
}

static struct job *new_job(int round)
{
    static const struct job plain = {0, PTHREAD_MUTEX_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
    struct job *job = calloc(1, sizeof *job);
    if (round % 2 == 0) {
        memcpy(job, &plain, sizeof plain);
    } else {
        pthread_mutex_init(&job->lock, NULL);
        pthread_rwlock_init(&job->door, NULL);
    }
    return job;
}

static void end_job(struct job *job, int round)
{
    if (round % 2 != 0) {
        pthread_mutex_destroy(&job->lock);
        pthread_rwlock_destroy(&job->door);
    }
    free(job);
}

int main(int count, char **words)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (count > 1 && strcmp(words[1], ways[i].name) == 0)
            way = &ways[i];
    }
    way->make(0);
    way->make(1);
    threads[0] = pthread_self();
    pthread_create(&threads[1], NULL, worker, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        be_busy(0, round);
        way->put(0, new_job(round));
        struct job *done = way->get(1);
        if (round % 4 < 2)
            work(done);
        end_job(done, round);
    }
    way->put(0, NULL);
    pthread_join(threads[1], NULL);
    return printf("%ld %ld\n", busy[0], busy[1]) < 0;
}
