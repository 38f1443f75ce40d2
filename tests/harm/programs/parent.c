/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a short-lived child and outlives it; both have blocks. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

__attribute__((noinline)) void work(void)
{
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pid_t child = fork();

    work();
    if (child == 0) {
        return 0;
    }
    waitpid(child, NULL, 0);
    usleep(700000);
    return 0;
}
