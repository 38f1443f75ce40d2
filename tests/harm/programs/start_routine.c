/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start routine of a thread, called directly as well: "after" while the thread starts, "before"
 * it exists, and by "c11" threads. Two critical sections make it a block that can be cut in two,
 * if it is one.
 */
#include <pthread.h>
#include <string.h>
#include <threads.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance;

static void *twice(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        balance++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static int twice_c11(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        balance++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(int count, char **words)
{
    pthread_t thread;
    thrd_t other;

    if (count > 1 && strcmp(words[1], "c11") == 0) {
        thrd_create(&other, twice_c11, NULL);
        twice_c11(NULL);
        return thrd_join(other, NULL) != thrd_success;
    }
    if (count > 1 && strcmp(words[1], "before") == 0) {
        twice(NULL);
    }
    pthread_create(&thread, NULL, twice, NULL);
    twice(NULL);
    return pthread_join(thread, NULL) != 0;
}
