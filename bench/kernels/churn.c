/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load of a server: threads that come and go, memory that is allocated and freed, locks, and
 * now and then a child process. Runs for the number of seconds in its argument, and prints its
 * counts of threads, allocations and processes every second. For bench/soak.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE         4
#define ROUNDS          20 /* of a thread */
#define ENTRIES         256
#define SECONDS_TO_FORK 5

struct entry {
    struct entry *next;
    size_t size;
    unsigned char bytes[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t sizes = PTHREAD_RWLOCK_INITIALIZER;
static struct entry *entries; /* under lock */
static unsigned long entry_count, allocations;
static size_t largest = 1024; /* under sizes */

static struct entry *make_entry(unsigned seed)
{
    pthread_rwlock_rdlock(&sizes);
    size_t size = 1 + seed % largest;
    pthread_rwlock_unlock(&sizes);
    struct entry *entry = malloc(sizeof(*entry) + size);
    if (entry == NULL) {
        abort();
    }
    entry->size = size;
    memset(entry->bytes, (int)seed, size);
    return entry;
}

static void put_entry(struct entry *entry)
{
    pthread_mutex_lock(&lock);
    entry->next = entries;
    entries = entry;
    entry_count++;
    allocations++;
    pthread_mutex_unlock(&lock);
}

/* One that is there, if there are more than enough. */
static struct entry *take_entry(void)
{
    struct entry *entry = NULL;

    pthread_mutex_lock(&lock);
    if (entry_count > ENTRIES) {
        entry = entries;
        entries = entry->next;
        entry_count--;
    }
    pthread_mutex_unlock(&lock);
    return entry;
}

static void resize(unsigned seed)
{
    pthread_rwlock_wrlock(&sizes);
    largest = 512 + seed % 1024;
    pthread_rwlock_unlock(&sizes);
}

static void *work(void *seed)
{
    unsigned state = (unsigned)(size_t)seed;

    for (int i = 0; i < ROUNDS; i++) {
        state = state * 1103515245 + 12345;
        put_entry(make_entry(state >> 8));
        free(take_entry());
    }
    resize(state >> 8);
    return NULL;
}

static void run_threads(unsigned long seed)
{
    pthread_t threads[AT_ONCE];

    for (size_t i = 0; i < AT_ONCE; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)(seed + i)) != 0) {
            abort();
        }
    }
    for (int i = 0; i < AT_ONCE; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void run_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        run_threads(1);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child) {
        abort();
    }
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int count, char **words)
{
    double length = count > 1 ? atof(words[1]) : 1, start = now(), last = 0;
    unsigned long threads = 0, processes = 0;

    for (double at = 0; at < length; at = now() - start) {
        run_threads(threads);
        threads += AT_ONCE;
        if (at >= last + 1) {
            last = at;
            printf("%lu %lu %lu\n", threads, allocations, processes);
            fflush(stdout);
        }
        if (at >= (double)(processes + 1) * SECONDS_TO_FORK) {
            run_child();
            processes++;
        }
    }
    return 0;
}
