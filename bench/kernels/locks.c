/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An uncontended lock: one thread, after another has ended, acquires and releases one mutex in a
 * loop. With --time it prints the nanoseconds per pair instead of a sum, without the start and the
 * end of the program.
 */
#include <string.h>
#include <time.h>

#include "kernel.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t count;

static void *nothing(void *argument)
{
    return argument;
}

static void add(void)
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
}

static void add_all(size_t size)
{
    for (size_t i = 0; i < size; i++) {
        add();
    }
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    size_t size = size_argument(argc, argv, 5000000);
    pthread_t thread;

    if (pthread_create(&thread, NULL, nothing, NULL) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    add_all(size / 100);
    double start = seconds();
    add_all(size);
    double taken = seconds() - start;
    if (argc > 2 && strcmp(argv[2], "--time") == 0) {
        return printf("%.2f\n", taken * 1e9 / (double)size) < 0;
    }
    return print_sum(count);
}
