/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that tidies up descriptors as daemons do, and then has a file of its own where the
 * runtime's was: `closefrom` closes everything from 3 on and opens "data"; `dup2` puts "data" over
 * every descriptor up to 1023; `closed` is started with some of 0, 1, 2 closed. The file must keep
 * its contents whatever the threads do meanwhile.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TURNS 20000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;

void add(void)
{
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *argument)
{
    for (int i = 0; i < TURNS; i++) {
        add();
    }
    return argument;
}

static void take_descriptors(const char *how)
{
    int file;

    if (strcmp(how, "closefrom") == 0) {
        for (int fd = 3; fd < 1024 * 1024; fd++) {
            close(fd);
        }
        for (int i = 0; i < 16; i++) {
            file = open("data", O_RDWR);
        }
    } else if (strcmp(how, "dup2") == 0) {
        file = open("data", O_RDWR);
        for (int fd = 3; fd < 1024; fd++) {
            dup2(file, fd);
        }
    } else {
        file = open("data", O_RDWR);
        printf("data is descriptor %d\n", file);
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    take_descriptors(argc > 1 ? argv[1] : "closefrom");
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%ld\n", counter);
    return 0;
}
