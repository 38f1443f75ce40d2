/* SPDX-License-Identifier: Apache-2.0 */
/* A lost update that happens in every run: the other thread writes between read and write. */
#include <pthread.h>
#include <semaphore.h>

static sem_t read_done, write_done;
static long balance;

static void *disturb(void *unused)
{
    sem_wait(&read_done);
    balance += 10;
    sem_post(&write_done);
    return unused;
}

__attribute__((noinline)) void deposit(void)
{
    long seen = balance;
    sem_post(&read_done);
    sem_wait(&write_done);
    balance = seen + 1;
}

int main(void)
{
    pthread_t thread;

    sem_init(&read_done, 0, 0);
    sem_init(&write_done, 0, 0);
    pthread_create(&thread, NULL, disturb, NULL);
    deposit();
    pthread_join(thread, NULL);
    return 0;
}
