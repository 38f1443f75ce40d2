/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer() takes the same lock twice, and the other thread takes it in between in every run,
 * because two semaphores force it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t account = PTHREAD_MUTEX_INITIALIZER;
static sem_t there, back;
static int balance;

static __attribute__((noinline)) void transfer(int amount)
{
    pthread_mutex_lock(&account);
    int old = balance;
    pthread_mutex_unlock(&account);
    sem_post(&there);
    sem_wait(&back);
    pthread_mutex_lock(&account);
    balance = old + amount;
    pthread_mutex_unlock(&account);
}

static void *intrude(void *unused)
{
    sem_wait(&there);
    pthread_mutex_lock(&account);
    balance++;
    pthread_mutex_unlock(&account);
    sem_post(&back);
    return unused;
}

int main(void)
{
    pthread_t thread;

    sem_init(&there, 0, 0);
    sem_init(&back, 0, 0);
    pthread_create(&thread, NULL, intrude, NULL);
    transfer(5);
    pthread_join(thread, NULL);
    printf("the balance is %d\n", balance);
    return 0;
}
