/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the file "ready", works in blocks, and with a number N creates "ended" after N blocks. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

__attribute__((noinline)) void work(void)
{
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    long left = argc > 1 ? atol(argv[1]) : -1;

    close(open("ready", O_WRONLY | O_CREAT, 0666));
    for (; left != 0; left -= left > 0) {
        work();
        usleep(1000);
    }
    close(open("ended", O_WRONLY | O_CREAT, 0666));
    return 0;
}
