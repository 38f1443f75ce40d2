/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of an operation as one quantity grows: scaling WHAT SIZE [OPERATIONS] prints the CPU
 * time of an operation in nanoseconds, over all threads and without the start and the end of the
 * program.
 *
 *   locks    so many locks, each taken as often as the others
 *   blocks   so many functions called inside each other, and a lock taken in the innermost
 *   length   so many locks taken, one after another, in one call of a function
 *   memory   so many words of a thread's own, written one after another
 *   threads  so many threads, with a lock for each two of them
 *
 * An operation is a lock, an addition and an unlock; of memory, one addition.
 */
#include <string.h>
#include <time.h>

#include "kernel.h"

#define LOCKS_MOST   100000u
#define THREADS_MOST 256u
#define FEW          64u  /* locks, unless their number is what grows */
#define SHORT        100u /* operations of a call, where its length is not */

static struct {
    pthread_mutex_t lock;
    uint64_t count;
} cells[LOCKS_MOST];

struct task {
    void (*work)(const struct task *task);
    size_t size, operations; /* of this thread */
    unsigned index;
};

static void add(size_t cell)
{
    pthread_mutex_lock(&cells[cell].lock);
    cells[cell].count++;
    pthread_mutex_unlock(&cells[cell].lock);
}

static __attribute__((noinline)) void add_some(size_t first, size_t count, size_t of)
{
    for (size_t i = 0; i < count; i++) {
        add((first + i) % of);
    }
}

static void use_locks(const struct task *task)
{
    for (size_t i = 0; i < task->operations; i += SHORT) {
        add_some(i + task->index * task->size / 2, SHORT, task->size);
    }
}

static __attribute__((noinline)) size_t use_inside(size_t depth, const struct task *task)
{
    if (depth > 0) {
        return use_inside(depth - 1, task) + 1; /* no jump */
    }
    add_some(task->index * FEW / 2, SHORT, FEW);
    return 0;
}

/* The calls themselves are few compared with the work in the innermost one. */
static void use_blocks(const struct task *task)
{
    for (size_t i = 0; i < task->operations; i += SHORT) {
        use_inside(task->size, task);
    }
}

static void use_length(const struct task *task)
{
    for (size_t i = 0; i < task->operations; i += task->size) {
        add_some(task->index * FEW / 2, task->size, FEW);
    }
}

static __attribute__((noinline)) void write_all(uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        words[i]++;
    }
}

static void use_memory(const struct task *task)
{
    uint64_t *words = need(task->size, sizeof(*words));

    for (size_t i = 0; i < task->operations; i += task->size) {
        write_all(words, task->size);
    }
    free(words);
}

static void use_threads(const struct task *task)
{
    for (size_t i = 0; i < task->operations; i += SHORT) {
        for (size_t j = 0; j < SHORT; j++) {
            add(task->index / 2);
        }
    }
}

static const struct {
    const char *name;
    void (*work)(const struct task *task);
    size_t operations; /* of all threads */
} kinds[] = {
    {"locks", use_locks, 1000000},    {"blocks", use_blocks, 1000000},
    {"length", use_length, 1000000},  {"memory", use_memory, 40000000},
    {"threads", use_threads, 512000},
};

static pthread_barrier_t ready;

static void *start(void *argument)
{
    const struct task *task = argument;

    pthread_barrier_wait(&ready);
    task->work(task);
    return NULL;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double run_tasks(struct task *tasks, unsigned count)
{
    static pthread_t threads[THREADS_MOST];

    pthread_barrier_init(&ready, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, start, &tasks[i]) != 0) {
            exit(1);
        }
    }
    double begun = seconds();
    pthread_barrier_wait(&ready);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    return seconds() - begun;
}

int main(int argc, char **argv)
{
    static struct task tasks[THREADS_MOST];
    size_t size = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

    for (size_t kind = 0; size > 0 && kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        if (strcmp(kinds[kind].name, argv[1]) != 0) {
            continue;
        }
        size_t all = argc > 3 ? strtoull(argv[3], NULL, 10) : kinds[kind].operations;
        unsigned count = kinds[kind].work == use_threads ? (unsigned)size : THREADS;
        for (size_t i = 0; i < LOCKS_MOST; i++) {
            pthread_mutex_init(&cells[i].lock, NULL);
        }
        for (unsigned i = 0; i < count && count <= THREADS_MOST; i++) {
            tasks[i] = (struct task){kinds[kind].work, size, all / count, i};
        }
        return printf("%.2f\n", run_tasks(tasks, count) * 1e9 / (double)all) < 0;
    }
    fputs("usage: scaling locks|blocks|length|memory|threads SIZE [OPERATIONS]\n", stderr);
    return 2;
}
